// Look: what was shown against what was meant.

import { button, el, fill, notice, number, select } from "./dom.js";
import { Player } from "./player.js";
import { drawLandscape } from "./plots.js";
import { Table } from "./tables.js";

export class Look {
  constructor(root, link) {
    Object.assign(this, { root, link, data: null, episode: null, ready: new Set() });
    this.ticks = new Set();
    this.datasets = el("select", { id: "dataset" });
    this.message = el("p", { class: "hint", role: "status" });
    this.content = el("div", {});
    fill(root, el("div", { class: "panel" },
      el("h2", {}, "Look at demonstrations"),
      el("label", { for: "dataset" }, "Dataset"), this.datasets,
      el("div", { class: "row" }, button("Open", () => this.open(), { class: "main" }),
        button("List again", () => this.list())),
      this.message), this.content);
    link.on("look.ready", (result) => this.predicted(result));
    link.on("look.failed", ({ text }) => this.say(`Meant actions could not be computed: ${text}.`));
    link.on("frame", (frame) => { if (frame.slot === 100) this.player?.showImage(frame); });
  }

  show() {
    this.list();
    this.player?.redraw();
  }

  hide() {
    this.player?.pause();
  }

  say(text) {
    this.message.textContent = text;
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

  async list() {
    const reply = await this.ask("look.list");
    if (!reply) return;
    const old = this.datasets.value;
    fill(this.datasets, reply.datasets.map((name) => el("option", { value: name, selected: name === old }, name)));
    if (!reply.datasets.length) {
      this.say("This study has no datasets yet. Record some, or start the studio with --data FILE.");
    }
  }

  async open() {
    if (!this.datasets.value) return;
    this.say("Reading…");
    this.data = await this.ask("look.open", { dataset: this.datasets.value });
    if (!this.data) return this.say("");
    this.ready.clear();
    this.ticks.clear();
    this.build();
    this.say(this.data.images ? "Meant actions of image data: use counterbc score and clean."
      : "Training held-out policies on this machine; episodes can be played meanwhile…");
    if (!this.data.images) this.predict(0);
    await this.choose(this.data.rows[0]);
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
    const more = data.rows.length - data.shown;
    fill(this.content,
      el("div", { class: "two" },
        el("div", { class: "panel" }, this.player.element),
        el("div", { class: "side" }, this.knobs(), this.landscapePanel())),
      el("div", { class: "panel" }, el("h2", {}, "Episodes"),
        el("p", { class: "hint" }, "The distance is how far demonstrated actions are from what policies predict that did not see the episode, where each action dimension spans [−1, 1]."),
        more ? el("p", { class: "hint" }, `The last ${more} of ${data.rows.length} episodes are listed only: they do not fit in memory.`) : null,
        this.episodes.element, this.exports()),
      el("div", { class: "panel" }, el("h2", {}, "Operators"), this.operators.element));
    this.episodes.show(data.rows);
    this.operators.show([]);
  }

  knobs() {
    this.radius = el("input", { type: "range", id: "radius", min: "0", max: "1", step: "0.01", value: "0.2", oninput: () => this.turned() });
    this.lag = el("input", { type: "range", id: "lag", min: "0", max: "10", step: "1", value: "0", oninput: () => this.turned() });
    this.radiusText = el("output", { for: "radius" });
    this.lagText = el("output", { for: "lag" });
    this.verdict = el("p", { class: "hint" });
    this.moved = el("p", { class: "hint", role: "status" });
    return el("div", { class: "panel" }, el("h2", {}, "Shown and meant"),
      el("p", {}, el("span", { class: "key shown" }, "shown"), el("span", { class: "key meant" }, "meant")),
      el("label", { for: "radius" }, "Δ: a meant action is at most this far away ", this.radiusText), this.radius,
      el("label", { for: "lag" }, "Lag: the action answers the state of this many steps before ", this.lagText), this.lag,
      this.moved, this.verdict);
  }

  landscapePanel() {
    const names = this.data.action_names;
    this.landscape = el("canvas", { class: "scene plot", role: "img", "aria-label": "Loss landscape of the chosen moment" });
    this.landscapeText = el("p", { class: "hint" }, "Click a moment of the plots to see the loss of that state.");
    const options = names.map((name, i) => [String(i), name]);
    this.dims = [select("dim0", options, "0", () => this.moment()), names.length > 1 ? select("dim1", options, "1", () => this.moment()) : null];
    return el("div", { class: "panel" }, el("h2", {}, "Loss landscape"),
      names.length > 2 ? el("label", { for: "dim0" }, "Action dimensions") : null,
      names.length > 2 ? el("div", { class: "row" }, this.dims) : null,
      this.landscape, this.landscapeText);
  }

  exports() {
    const line = el("pre", { class: "line", hidden: true, tabindex: "0" });
    const name = el("input", { type: "text", id: "mask", value: "good", "aria-label": "Name of the mask" });
    const run = async (type, fields) => {
      const reply = await this.ask(type, fields);
      if (reply) Object.assign(line, { hidden: false, textContent: reply.text });
    };
    const episodes = () => ({ episodes: [...this.ticks] });
    return el("div", {}, el("h3", {}, "Export the ticked episodes"),
      el("div", { class: "row" },
        button("Exclude them: show the command", () => run("look.exclude", episodes())),
        button("Save a copy with them as a mask", () => run("look.mask", { ...episodes(), mask: name.value })), name),
      el("h3", {}, "Export the meant actions"),
      el("div", { class: "row" }, button("Save a cleaned copy", () => run("look.clean", this.settings()))), line);
  }

  settings() {
    return { radius: Number(this.radius.value), lag: Number(this.lag.value) };
  }

  async predict(lag) {
    await this.ask("look.predict", { lag });
  }

  predicted({ lag, scores, operators, verdict }) {
    this.ready.add(lag);
    if (lag !== this.settings().lag) return;
    const distances = new Map(scores.map((score) => [score.name, score.distance]));
    this.episodes.show(this.data.rows.map((row) => ({ ...row, distance: distances.get(row.name) ?? null })));
    this.operators.show(operators);
    this.verdict.textContent = verdict;
    this.say("");
    this.refresh();
  }

  turned() {
    const { radius, lag } = this.settings();
    this.radiusText.textContent = number(radius);
    const seconds = this.data.rate ? ` (${number(lag / this.data.rate, 2)} s)` : "";
    this.lagText.textContent = `${lag}${seconds}`;
    if (this.data.images) return;
    if (this.ready.has(lag)) this.refresh();
    else {
      this.say(`Training held-out policies for a lag of ${lag}…`);
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.predict(lag), 300);
    }
  }

  async choose(row) {
    if (!row.shown) return notice(`${row.name} is not in memory; only the first ${this.data.shown} episodes are.`);
    const episode = await this.ask("look.episode", { episode: row.name });
    if (!episode) return;
    this.episode = episode;
    this.episodes.choose(row.name);
    this.player.open(episode);
    this.turned();
    this.refresh();
  }

  // Only the newest question counts: sliders ask faster than a slow machine answers.
  async refresh() {
    if (!this.episode || !this.ready.has(this.settings().lag)) return;
    if (this.isAsking) { this.isStale = true; return; }
    this.isAsking = true;
    const reply = await this.ask("look.meant", { episode: this.episode.name, ...this.settings() });
    this.isAsking = false;
    if (reply) {
      this.player.showMeant(reply);
      this.moved.textContent = `Over all episodes, meant actions lie ${number(reply.moved, 3)} from demonstrated ones (RMS).`;
      this.moment();
    }
    if (this.isStale) { this.isStale = false; this.refresh(); }
  }

  async moment(step = this.player.step) {
    if (!this.ready.has(this.settings().lag) || this.data.images) return;
    const dims = this.dims.filter(Boolean).map((list) => Number(list.value));
    const reply = await this.ask("look.moment", { episode: this.episode.name, step, dims: [...new Set(dims)], ...this.settings() });
    if (!reply) return;
    drawLandscape(this.landscape, reply, this.data.action_names);
    this.landscapeText.textContent = `Step ${step}: the loss (eq. M4) is ${number(reply.here)} for the demonstrated action` +
      (reply.dims.length > 1 ? " (+). Dashed: C(s, a). Solid: the policy, 1 and 2 standard deviations." : " (orange). Band: C(s, a). Blue: the policy's mean.") +
      " Dark is small.".repeat(reply.dims.length - 1);
  }
}
