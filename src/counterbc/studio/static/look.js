// Look: what was shown against what was meant.

import { button, el, fill, number, select, unlisted } from "./dom.js";
import { Player } from "./player.js";
import { drawLandscape } from "./plots.js";
import { Table, runLengths } from "./tables.js";

const FIRST_CAMERA = 100; // the panel of the first camera in frames

export class Look {
  constructor(root, link) {
    Object.assign(this, { root, link, data: null, episode: null, results: new Map(), distances: new Map(), awaited: null, nextStep: null });
    this.ticks = new Set();
    this.datasets = el("select", { id: "dataset" });
    this.unlisted = el("div", {});
    this.message = el("p", { class: "hint", role: "status" });
    this.content = el("div", {});
    fill(root, el("div", { class: "panel" },
      el("h2", {}, "Look at demonstrations"),
      el("label", { for: "dataset" }, "Dataset"), this.datasets, this.unlisted,
      el("div", { class: "row" }, button("Open", () => this.open(), { class: "main" }),
        button("List again", () => this.list())),
      this.message), this.content);
    link.on("look.ready", (result) => this.predicted(result));
    link.on("look.failed", ({ text }) => {
      this.awaited = null;
      this.say(`Meant actions could not be computed: ${text}.`);
    });
    link.on("look.reading", ({ episodes }) => this.say(`Reading… ${episodes} episodes so far`));
    link.on("frame", (frame) => { if (frame.slot >= FIRST_CAMERA) this.player?.showImage(frame.slot - FIRST_CAMERA, frame); });
  }

  show() {
    this.list();
    this.player?.redraw();
  }

  hide() {
    this.player?.pause();
  }

  // What was computed while there was no connection was said to nobody.
  connected() {
    if (this.awaited !== null) this.predict(this.awaited);
  }

  say(text) {
    this.message.textContent = text;
  }

  async list() {
    const reply = await this.link.request("look.list");
    if (!reply) return;
    const old = this.datasets.value;
    fill(this.datasets, reply.datasets.map((name) => el("option", { value: name, selected: name === old }, name)));
    fill(this.unlisted, unlisted(reply.datasets_unlisted, "dataset", "--data FILE"));
    if (!reply.datasets.length) {
      this.say("This study has no datasets yet. Record some, or start the studio with --data FILE.");
    }
  }

  async open() {
    if (!this.datasets.value) return;
    this.say("Reading…");
    const data = await this.link.attempt("look.open", { dataset: this.datasets.value });
    if (!data) return this.link.isOpen ? this.say("") : this.clear(); // refused: the one before is still open
    this.data = data;
    this.awaited = this.shownLag = null;
    this.results.clear(); // what held-out policies said, by lag
    this.ticks.clear();
    this.distances.clear();
    this.build();
    this.need(0);
    await this.choose(this.data.rows[0]);
  }

  // Show no dataset: nobody knows which one the server has opened.
  clear() {
    clearTimeout(this.timer);
    this.player?.pause();
    Object.assign(this, { data: null, episode: null, player: null, awaited: null });
    this.results.clear();
    fill(this.content);
    this.say("");
  }

  // Meant actions of large data are computed only when somebody asks for them.
  need(lag) {
    const { cost, waits, sampled, rows } = this.data;
    if (cost === null) {
      return this.say("Meant actions of images and of very long episodes take long: use counterbc score and clean.");
    }
    if (!waits) return this.predict(lag);
    const part = sampled < rows.length ? `for ${sampled} of ${rows.length} episodes, spread evenly` : `for all ${rows.length} episodes`;
    return this.propose(`Meant actions take ${cost} on an idle core, ${part}.`, "Compute meant actions", () => this.predict(lag));
  }

  propose(text, label, accept) {
    this.say("");
    fill(this.offer, el("p", { class: "hint" }, text), button(label, accept, { class: "main" }));
    this.offer.hidden = false;
  }

  build() {
    const { data } = this;
    const columns = [
      { key: "name", title: "episode", text: true }, { key: "operator", title: "operator", text: true },
      { key: "distance", title: "distance", digits: 3 }, { key: "length", title: "steps" },
      { key: "total", title: "return", digits: 2 }, { key: "success", title: "success", text: true },
    ];
    this.episodes = new Table("Episodes", columns, (row) => this.choose(row), this.ticks);
    this.operators = new Table("Operators", [
      { key: "name", title: "operator", text: true }, { key: "episodes", title: "episodes" },
      { key: "pairs", title: "pairs" }, { key: "distance", title: "distance", digits: 3 },
      { key: "noise", title: "new each step", digits: 3 }, { key: "persistent", title: "persistent", digits: 3 },
    ], null);
    this.player = new Player(data, this.link, () => this.refresh(), (step) => this.moment(step));
    fill(this.content,
      el("div", { class: "two look" }, this.knobs(), // which on a phone stay beside the picture
        el("div", { class: "panel" }, this.player.element), this.landscapePanel()),
      el("div", { class: "panel" }, el("h2", {}, "Episodes"),
        el("p", { class: "hint" }, "The distance is how far demonstrated actions are from what policies predict that did not see the episode, where each action dimension spans [−1, 1]."),
        this.episodes.element, this.exports()),
      this.operatorPanel = el("div", { class: "panel", hidden: true }, el("h2", {}, "Operators"), this.operators.element));
    this.episodes.show(data.rows);
  }

  knobs() {
    this.radius = el("input", { type: "range", id: "radius", min: "0", max: "1", step: "0.01", value: "0.2", oninput: () => this.turned() });
    this.lag = el("input", { type: "range", id: "lag", min: "0", max: String(this.data.longest_lag), step: "1", value: "0", oninput: () => this.turned() });
    this.radiusText = el("output", { for: "radius" });
    this.lagText = el("output", { for: "lag" });
    this.verdict = el("p", { class: "hint" });
    this.moved = el("p", { class: "hint", role: "status" });
    this.offer = el("div", { hidden: true });
    return el("div", { class: "panel" }, el("h2", {}, "Shown and meant"),
      el("p", {}, el("span", { class: "key shown" }, "shown"), el("span", { class: "key meant" }, "meant")),
      el("label", { for: "radius" }, "Δ (largest distance of a meant action): ", this.radiusText), this.radius,
      el("label", { for: "lag" }, "Lag (steps between a state and its action): ", this.lagText), this.lag,
      this.offer, this.moved, this.verdict);
  }

  landscapePanel() {
    const names = this.data.action_names;
    this.landscape = el("canvas", { class: "scene plot", role: "img", "aria-label": "Loss landscape of the chosen moment" });
    this.landscapeText = el("p", { class: "hint" }, "Click a moment of the plots to see the loss of that state.");
    const options = names.map((name, i) => [String(i), name]);
    this.dims = names.slice(0, 2).map((_, i) =>
      select(`dim${i}`, options, String(i), () => this.moment(), `Action dimension ${i + 1} of the landscape`));
    return el("div", { class: "panel" }, el("h2", {}, "Loss landscape"),
      names.length > 2 ? el("div", { class: "row" }, this.dims) : null,
      this.landscape, this.landscapeText);
  }

  exports() {
    const line = el("pre", { class: "line", hidden: true, tabindex: "0" });
    const name = el("input", { type: "text", id: "mask", value: "good" });
    const run = async (type, fields) => {
      const reply = await this.link.attempt(type, fields);
      if (reply) Object.assign(line, { hidden: false, textContent: reply.text });
    };
    const selection = () => ({ selection: runLengths(this.data.rows, this.ticks) });
    const count = el("input", { type: "text", inputmode: "numeric", id: "first", value: "10" });
    return el("div", {}, el("label", { for: "first" }, "Tick the first episodes of this order"),
      el("div", { class: "row" }, count, button("Tick them", () => this.episodes.tickFirst(Math.max(0, Math.floor(Number(count.value)) || 0)))),
      el("h3", {}, "Export the ticked episodes"),
      el("div", { class: "row" },
        button("Exclude them: show the command", () => run("look.exclude", selection())),
        button("Save a copy with them as a mask", () => run("look.mask", { ...selection(), mask: name.value })),
        el("label", { class: "beside", for: "mask" }, "named", name)),
      el("h3", {}, "Export the meant actions"),
      el("div", { class: "row" }, button("Save a cleaned copy", () => run("look.clean", this.settings()))), line);
  }

  settings() {
    return { radius: Number(this.radius.value), lag: Number(this.lag.value) };
  }

  // An episode outside the sample is added to it, which makes what was computed before stale.
  async predict(lag, episode = null) {
    this.offer.hidden = true;
    if (episode) {
      this.results.clear();
      this.shownLag = null;
    }
    this.awaited = lag;
    this.say(`Training held-out policies for a lag of ${lag}; episodes can be played meanwhile…`);
    if (await this.link.attempt("look.predict", { lag, episode })) return;
    if (this.link.isOpen) this.awaited = null; // refused, not lost
    this.say("");
  }

  predicted(result) {
    if (!this.data) return;
    this.results.set(result.lag, result);
    if (result.lag === this.awaited) this.awaited = null;
    if (result.lag === this.settings().lag) this.showResult(result);
  }

  showResult({ lag, scores, operators, verdict }) {
    this.shownLag = lag;
    this.distances = new Map(scores.map((score) => [score.name, score.distance]));
    this.episodes.show(this.data.rows.map((row) => ({ ...row, distance: this.distances.get(row.name) ?? null })));
    this.operators.show(operators);
    this.operatorPanel.hidden = !operators.length;
    this.verdict.textContent = verdict;
    this.say("");
    this.refresh();
  }

  showSettings() {
    const { radius, lag } = this.settings();
    this.radiusText.textContent = number(radius);
    const seconds = this.data.rate ? ` (${number(lag / this.data.rate, 2)} s)` : "";
    this.lagText.textContent = `${lag}${seconds}`;
  }

  turned() {
    const { lag } = this.settings();
    this.showSettings();
    clearTimeout(this.timer);
    if (this.results.has(lag)) return lag === this.shownLag ? this.refresh() : this.showResult(this.results.get(lag));
    this.player.showMeant(null); // those of another lag
    this.moved.textContent = "";
    this.timer = setTimeout(() => this.need(lag), 300);
    return null;
  }

  async choose(row) {
    const episode = await this.link.attempt("look.episode", { episode: row.name });
    if (!episode) return;
    this.episode = episode;
    this.nextStep = null;
    this.episodes.choose(row.name);
    this.player.open(episode);
    this.showSettings();
    this.refresh();
  }

  // Only the newest question counts: sliders ask faster than a slow machine answers.
  async refresh() {
    const { lag } = this.settings();
    if (!this.episode || !this.results.has(lag)) return;
    const { name } = this.episode;
    this.offer.hidden = true;
    if (!this.distances.has(name)) {
      this.propose(`${name} is not among the ${this.distances.size} episodes that have meant actions.`, "Compute them with this one", () => this.predict(lag, name));
      return;
    }
    if (this.isAsking) { this.isStale = true; return; }
    this.isAsking = true;
    const reply = await this.link.attempt("look.meant", { episode: this.episode.name, ...this.settings() });
    this.isAsking = false;
    if (reply && lag === this.settings().lag) {
      this.player.showMeant(reply);
      this.moved.textContent = `Over all episodes, meant actions lie ${number(reply.moved, 3)} from demonstrated ones (RMS).`;
      this.moment();
    }
    if (this.isStale) { this.isStale = false; this.refresh(); }
  }

  // Only the newest step counts, as in `refresh`.
  async moment(step = this.player.moment) {
    if (!this.results.has(this.settings().lag) || !this.distances.has(this.episode.name)) return;
    if (this.isWeighing) { this.nextStep = step; return; }
    this.isWeighing = true;
    await this.weigh(step);
    this.isWeighing = false;
    if (this.nextStep === null) return;
    step = this.nextStep;
    this.nextStep = null;
    this.moment(step);
  }

  async weigh(step) {
    const dims = this.dims.map((list) => Number(list.value));
    const { lag } = this.settings();
    const fields = { episode: this.episode.name, step, dims: [...new Set(dims)], ...this.settings() };
    try {
      this.describe(step, lag, await this.link.ask("look.moment", fields));
    } catch (error) {
      this.landscape.hidden = true;
      this.landscapeText.textContent = `Step ${step}: ${error.message}`;
    }
  }

  describe(step, lag, reply) {
    this.landscape.hidden = false;
    drawLandscape(this.landscape, reply, this.data.action_names);
    const later = lag ? ` ${lag} ${lag === 1 ? "step" : "steps"} later` : "";
    this.landscapeText.textContent = `Step ${step}: the loss (eq. M4) is ${number(reply.here)} for the action demonstrated${later}` +
      (reply.dims.length > 1 ? " (+). Dashed: C(s, a). Solid: the policy, 1 and 2 standard deviations." : " (orange). Band: C(s, a). Blue: the policy's mean.") +
      " Dark is small.".repeat(reply.dims.length - 1) +
      ` The policy was trained with Δ ${reply.trained_radius} and this lag; the slider for Δ changes C(s, a) and the loss, not the policy.`;
  }
}
