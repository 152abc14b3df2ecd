// Watch: policies side by side from the same start; take one over, and let it learn from that.

import { Controls } from "./controls.js";
import { button, el, fill, number, select, unlisted } from "./dom.js";
import { drawScene } from "./scenes.js";

const TAKE = "Take a policy over at any moment: what you do is recorded.";
const STEER = "Steer with arrows or WASD, the pointer on the picture, or a gamepad; the policy acts until you do. Space or Esc gives it back.";
const NOBODY = "corrector"; // the operator of corrections if none is named
const FIRST = 1; // the panel of the first policy in frames
const MOST = 4; // policies side by side

export class Watch {
  constructor(root, link) {
    Object.assign(this, { root, link, panels: [], status: null, controls: null, early: new Map() });
    this.runs = el("fieldset", { class: "ticks" });
    this.datasets = el("fieldset", { class: "ticks" });
    this.stage = el("div", {});
    this.training = el("div", { class: "panel", hidden: true });
    fill(root, el("div", { class: "panel" }, el("h2", {}, "Watch policies"), this.runs,
      el("div", { class: "row" }, button("Watch", () => this.open(), { class: "main" }),
        button("List again", () => this.list()))), this.stage, this.training);
    link.on("watch.status", (status) => this.report(status));
    link.on("watch.training", (news) => {
      this.showNews(news);
      if (news.state !== "progress") this.list();
    });
    link.on("frame", (frame) => this.receive(frame));
    link.on("saved", () => { if (!this.root.hidden) this.list(); }); // a correction is a new dataset
    document.addEventListener("visibilitychange", () => {
      if (document.hidden && this.isDriven) this.hide();
    });
  }

  // Ask for what happened meanwhile: the server paused the worlds, and a training may be complete.
  async connected() {
    const state = await this.link.request("watch.state");
    if (state?.open && !this.panels.length) this.build(this.status.panels, state.world); // loaded again
    if (state && !state.open && this.panels.length) this.clear(); // the server was started again
    if (!this.root.hidden) this.list();
  }

  get isDriven() {
    return (this.status?.driven ?? null) !== null;
  }

  show() {
    this.list();
    if (!this.isDrawing) this.draw();
  }

  hide() {
    if (this.isDriven) this.do("release");
    if (this.status?.running) this.do("pause");
  }

  do(action) {
    return this.link.attempt("watch.do", { do: action });
  }

  async list() {
    const reply = await this.link.request("watch.list");
    if (!reply) return;
    const old = new Set(this.chosen(this.runs));
    const none = "This study has no runs yet. Train one below, or with counterbc train --out study/runs/NAME.";
    fill(this.runs, el("legend", {}, "Runs, up to four"),
      reply.runs.length ? reply.runs.map((name) => tick("run", name, old.has(name))) : el("p", { class: "hint" }, none),
      unlisted(reply.runs_unlisted, "run", "--run-folder FOLDER"));
    this.showTraining(reply);
    if (reply.training) this.showNews(reply.training);
  }

  chosen(set) {
    return [...set.querySelectorAll("input:checked")].map((input) => input.value);
  }

  async open() {
    const reply = await this.link.attempt("watch.open", { runs: this.chosen(this.runs) });
    if (!reply) return;
    this.build(this.status.panels, reply.world);
    if (!matchMedia("(prefers-reduced-motion: reduce)").matches) await this.do("start");
  }

  clear() {
    this.controls?.close();
    Object.assign(this, { panels: [], status: null, controls: null });
    fill(this.stage);
  }

  build(panels, world) {
    this.controls?.close();
    Object.assign(this, { world, controls: null });
    this.operator = el("input", { type: "text", id: "corrector", value: this.operator?.value ?? "", placeholder: NOBODY, maxlength: "80", autocomplete: "off" });
    this.panels = panels.map((panel, i) => {
      const canvas = el("canvas", { class: "scene", tabindex: "0", role: "img", "aria-label": `${panel.name} acting` });
      const facts = el("p", { class: "hint" });
      const take = button("Take over", () => this.take(i));
      return { ...panel, canvas, facts, take, newest: this.early.get(i) ?? null, trail: [], totals: [],
        element: el("div", { class: "panel" }, el("h3", {}, panel.name), el("p", { class: "hint" }, panel.label.replace("radius ", "Δ ")), canvas, facts, take) };
    });
    this.early.clear();
    this.pauseButton = button("Pause", () => this.do("pause"));
    fill(this.stage,
      el("div", { class: "row" }, button("New start", () => this.do("start"), { class: "main" }),
        button("Same start again", () => this.do("same")), this.pauseButton),
      el("div", { class: "panels" }, this.panels.map((panel) => panel.element)),
      el("div", { class: "panel" }, el("h3", {}, "Corrections"),
        el("label", { for: "corrector" }, "Operator of corrections"), this.operator,
        this.corrections = el("p", { class: "hint", role: "status" }, TAKE)));
  }

  async take(index) {
    if (this.status.driven === index) return this.do("release");
    const reply = await this.link.attempt("watch.take", { panel: index, operator: this.operator.value || NOBODY });
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
    const wasRunning = this.status?.running;
    this.status = status;
    if (status.running && !wasRunning) this.controls?.resend(); // a pause forgets what is held
    if (status.driven === null) { this.controls?.close(); this.controls = null; }
    if (!this.panels.length) return;
    this.pauseButton.textContent = status.running ? "Pause" : "Continue";
    this.pauseButton.disabled = status.panels.every((panel) => panel.over);
    this.panels.forEach((panel, i) => {
      panel.take.textContent = status.driven === i ? "Give back" : "Take over";
      panel.take.disabled = status.panels[i]?.over ?? false;
    });
    const saved = `${status.pairs} pairs of corrections are saved in ${status.session}; tick that dataset below to learn from them.`;
    this.corrections.textContent = status.driven === null ? (status.pairs ? saved : TAKE) : `You steer ${status.panels[status.driven].name}. ${STEER}`;
  }

  receive(frame) {
    const index = frame.slot - FIRST;
    const panel = this.panels[index];
    if (index < 0 || index >= MOST) return;
    if (!panel) {
      this.early.set(index, frame); // of a page that was loaded again
      return;
    }
    panel.trail = frame.step === 0 ? [] : [...panel.trail, panel.newest?.obs].filter(Boolean).slice(-60);
    if (frame.step === 0) panel.isCorrected = false;
    if (this.status?.driven === index) panel.isCorrected = true;
    if (frame.over && !panel.newest?.over && !panel.isCorrected) panel.totals.push(frame.total);
    panel.newest = frame;
    if (this.status?.driven === index) this.controls?.observe(frame.obs ?? null);
  }

  draw() {
    this.isDrawing = !this.root.hidden;
    if (!this.isDrawing) return;
    for (const [i, panel] of this.panels.entries()) {
      if (!panel.newest) continue;
      const { step, total, over } = panel.newest;
      const driven = this.status?.driven === i;
      drawScene(panel.canvas, this.world, panel.newest, panel.trail);
      const text = `return ${number(total)} after ${step} steps${over ? ", over" : ""}${driven ? ", you steer" : ""}${mean(panel.totals)}`;
      if (panel.facts.textContent !== text) panel.facts.textContent = text;
    }
    requestAnimationFrame(() => this.draw());
  }

  showTraining({ runs, datasets, datasets_unlisted: missing, methods }) {
    if (!datasets.length) return;
    const old = new Set(this.chosen(this.datasets));
    fill(this.datasets, el("legend", {}, "Learn from"), datasets.map((name) => tick("data", name, old.has(name))),
      unlisted(missing, "dataset", "--data FILE"));
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
    this.stopper = button("Stop", () => this.link.attempt("watch.stop"), { hidden: true });
    fill(this.training, el("h2", {}, "Train"), this.datasets,
      el("label", { for: "start" }, "Start from"), this.start,
      el("label", { for: "method" }, "Method, for new policies"), this.method,
      el("label", { for: "steps" }, "Steps"), this.steps,
      el("div", { class: "row" }, button("Train", () => this.train(), { class: "main" }), this.stopper),
      this.bar, this.news);
  }

  async train() {
    await this.link.attempt("watch.train", {
      datasets: this.chosen(this.datasets), run: this.start.value || null,
      method: this.method.value, steps: Number(this.steps.value),
    });
  }

  showNews({ state, share, name, text, work, note }) {
    if (!this.bar) return; // the list that follows brings it again
    const isRunning = state === "progress";
    this.bar.hidden = this.stopper.hidden = !isRunning;
    if (isRunning) this.bar.value = share;
    const news = {
      progress: `${work} ${name}… ${note}`.trim(), failed: `Training ended: ${text}.`,
      done: `${name} is ready: ${text}. Tick it above to watch it.`,
    }[state];
    if (this.news.textContent !== news) this.news.textContent = news;
  }
}

// One start says little about a policy: the mean over the starts that nobody corrected says more.
function mean(totals) {
  if (totals.length < 2) return "";
  return `; mean of ${totals.length} starts: ${number(totals.reduce((sum, x) => sum + x, 0) / totals.length)}`;
}

function tick(kind, name, checked) {
  return el("label", { class: "inline" }, el("input", { type: "checkbox", name: kind, value: name, checked }), name);
}

function options(runs) {
  return [el("option", { value: "" }, "a new policy"), ...runs.map((name) => el("option", { value: name }, name))];
}
