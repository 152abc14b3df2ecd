// Watch: policies side by side from the same start; take one over, and let it learn from that.

import { Controls } from "./controls.js";
import { button, el, fill, notice, number, select } from "./dom.js";
import { drawScene } from "./scenes.js";

const FIRST = 1; // the panel of the first policy in frames

export class Watch {
  constructor(root, link) {
    Object.assign(this, { root, link, panels: [], status: null, controls: null });
    this.runs = el("fieldset", { class: "ticks" });
    this.datasets = el("fieldset", { class: "ticks" });
    this.stage = el("div", {});
    this.training = el("div", { class: "panel", hidden: true });
    fill(root, el("div", { class: "panel" }, el("h2", {}, "Watch policies"), this.runs,
      el("div", { class: "row" }, button("Watch", () => this.open(), { class: "main" }),
        button("List again", () => this.list()))), this.stage, this.training);
    link.on("watch.status", (status) => this.report(status));
    link.on("watch.training", (news) => this.trained(news));
    link.on("frame", (frame) => this.receive(frame));
  }

  show() {
    this.list();
    if (!this.isDrawing) this.draw();
  }

  hide() {
    if (this.status?.driven !== null && this.status) this.do("release");
    if (this.status?.running) this.do("pause");
  }

  async ask(type, fields) {
    try {
      notice(null);
      return await this.link.ask(type, fields);
    } catch (error) {
      notice(error.message);
      return null;
    }
  }

  do(action) {
    return this.ask("watch.do", { do: action });
  }

  async list() {
    const reply = await this.ask("watch.list");
    if (!reply) return;
    const old = new Set(this.chosen(this.runs));
    const none = "This study has no runs yet. Train one below, or with counterbc train --out study/runs/NAME.";
    fill(this.runs, el("legend", {}, "Runs, up to four"),
      reply.runs.length ? reply.runs.map((name) => tick("run", name, old.has(name))) : el("p", { class: "hint" }, none));
    this.showTraining(reply);
  }

  chosen(set) {
    return [...set.querySelectorAll("input:checked")].map((input) => input.value);
  }

  async open() {
    const reply = await this.ask("watch.open", { runs: this.chosen(this.runs) });
    if (!reply) return;
    this.world = reply.world;
    this.build(this.status.panels);
    await this.do("start");
  }

  build(panels) {
    this.controls?.close();
    this.controls = null;
    this.operator = el("input", { type: "text", id: "corrector", value: this.operator?.value ?? "", maxlength: "80", autocomplete: "off" });
    this.panels = panels.map((panel, i) => {
      const canvas = el("canvas", { class: "scene", tabindex: "0", role: "img", "aria-label": `${panel.name} acting` });
      const facts = el("p", { class: "hint" });
      const take = button("Take over", () => this.take(i));
      return { ...panel, canvas, facts, take, newest: null, trail: [],
        element: el("div", { class: "panel" }, el("h3", {}, panel.name), el("p", { class: "hint" }, panel.label), canvas, facts, take) };
    });
    this.pauseButton = button("Pause", () => this.do("pause"));
    fill(this.stage,
      el("div", { class: "row" }, button("New start", () => this.do("start"), { class: "main" }),
        button("Same start again", () => this.do("same")), this.pauseButton),
      el("div", { class: "panels" }, this.panels.map((panel) => panel.element)),
      el("div", { class: "panel" }, el("h3", {}, "Corrections"),
        el("label", { for: "corrector" }, "Operator of corrections"), this.operator,
        this.corrections = el("p", { class: "hint", role: "status" }, "Take a policy over at any moment: what you do is recorded.")));
  }

  async take(index) {
    if (this.status.driven === index) return this.do("release");
    const reply = await this.ask("watch.take", { panel: index, operator: this.operator.value || "corrector" });
    if (!reply) return;
    this.controls?.close();
    const { canvas } = this.panels[index];
    canvas.focus({ preventScroll: true });
    this.controls = new Controls(canvas, this.world, (action, device, time) => this.link.post({
      type: "watch.input", action, device, at: this.link.serverTime(time),
    }), (code) => {
      if (code !== "Escape" && code !== "Space") return false;
      this.do("release");
      return true;
    });
    this.controls.observe(this.panels[index].newest?.obs ?? null);
  }

  report(status) {
    this.status = status;
    if (status.driven === null) { this.controls?.close(); this.controls = null; }
    if (!this.panels.length) return;
    this.pauseButton.textContent = status.running ? "Pause" : "Continue";
    this.panels.forEach((panel, i) => {
      panel.take.textContent = status.driven === i ? "Give back" : "Take over";
      panel.take.disabled = status.panels[i]?.over ?? false;
    });
    if (status.pairs) {
      this.corrections.textContent = `${status.pairs} pairs of corrections are saved; tick their dataset below to learn from them.`;
      if (status.driven === null) this.list();
    }
  }

  receive(frame) {
    const panel = this.panels[frame.slot - FIRST];
    if (!panel || frame.slot < FIRST || frame.slot >= FIRST + this.panels.length) return;
    panel.trail = frame.step === 0 ? [] : [...panel.trail, panel.newest?.obs].filter(Boolean).slice(-60);
    panel.newest = frame;
    if (this.status?.driven === frame.slot - FIRST) this.controls?.observe(frame.obs ?? null);
  }

  draw() {
    this.isDrawing = !this.root.hidden;
    if (!this.isDrawing) return;
    for (const [i, panel] of this.panels.entries()) {
      if (!panel.newest) continue;
      const { step, total, over } = panel.newest;
      const driven = this.status?.driven === i;
      drawScene(panel.canvas, this.world, panel.newest, panel.trail);
      const text = `return ${number(total)} after ${step} steps${over ? ", over" : ""}${driven ? ", you steer" : ""}`;
      if (panel.facts.textContent !== text) panel.facts.textContent = text;
    }
    requestAnimationFrame(() => this.draw());
  }

  showTraining({ runs, datasets, methods }) {
    if (!datasets.length) return;
    const old = new Set(this.chosen(this.datasets));
    fill(this.datasets, el("legend", {}, "Learn from"), datasets.map((name) => tick("data", name, old.has(name))));
    if (!this.training.hidden) {
      const chosen = this.start.value;
      fill(this.start, options(runs));
      this.start.value = runs.includes(chosen) ? chosen : "";
      return;
    }
    this.training.hidden = false;
    this.start = el("select", { id: "start" }, options(runs));
    this.method = select("method", methods.map((name) => [name, name]), "counter-bc");
    this.steps = el("input", { type: "text", inputmode: "numeric", id: "steps", value: "2000" });
    this.bar = el("progress", { max: "1", value: "0", hidden: true, "aria-label": "Training" });
    this.news = el("p", { class: "hint", role: "status" });
    this.stopper = button("Stop", () => this.ask("watch.stop"), { hidden: true });
    fill(this.training, el("h2", {}, "Train"), this.datasets,
      el("label", { for: "start" }, "Start from"), this.start,
      el("label", { for: "method" }, "Method, for new policies"), this.method,
      el("label", { for: "steps" }, "Steps"), this.steps,
      el("div", { class: "row" }, button("Train", () => this.train(), { class: "main" }), this.stopper),
      this.bar, this.news);
  }

  async train() {
    const reply = await this.ask("watch.train", {
      datasets: this.chosen(this.datasets), run: this.start.value || null,
      method: this.method.value, steps: Number(this.steps.value),
    });
    if (!reply) return;
    this.news.textContent = `Training ${reply.name}…`;
    Object.assign(this.bar, { hidden: false, value: 0 });
    this.stopper.hidden = false;
  }

  trained({ state, share, name, text }) {
    if (state === "progress") {
      this.bar.value = share;
      return;
    }
    this.bar.hidden = this.stopper.hidden = true;
    this.news.textContent = state === "done" ? `${name} is ready: ${text}. Tick it above to watch it.` : `Training ended: ${text}.`;
    this.list();
  }
}

function tick(kind, name, checked) {
  return el("label", { class: "inline" }, el("input", { type: "checkbox", name: kind, value: name, checked }), name);
}

function options(runs) {
  return [el("option", { value: "" }, "a new policy"), ...runs.map((name) => el("option", { value: name }, name))];
}
