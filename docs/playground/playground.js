// The page: BC beside Counter-BC from the same start, with a slider for Δ.

import { button, el, fill, notice, number, select } from "./dom.js";
import { Policy, unpack } from "./policy.js";
import { drawScene } from "./scenes.js";
import { describe, LENGTHS, returnsTable } from "./words.js";
import { Episode } from "./worlds.js";

const SPEEDS = [["0.25", "¼"], ["0.5", "½"], ["1", "1"], ["2", "2"], ["4", "4"]];
const MOST_STEPS = 12; // in one frame; a page that was hidden does not catch up
const PAUSE_EVERY = 10; // steps of all starts, after which the page may draw

class Playground {
  constructor(root, data) {
    Object.assign(this, { root, data, policies: new Map(), sides: [], due: 0, last: null, start: 0 });
    this.steps = Promise.resolve();
    this.isRunning = !matchMedia("(prefers-reduced-motion: reduce)").matches;
    this.build();
    addEventListener("hashchange", () => this.open());
    this.open();
    requestAnimationFrame((now) => this.frame(now));
  }

  build() {
    this.radiusText = el("output", { for: "radius", "aria-live": "off" });
    this.radius = el("input", { type: "range", id: "radius", min: "0", step: "1", oninput: () => this.restart() });
    this.pauseButton = button("Pause", () => { this.isRunning = !this.isRunning; });
    this.speed = select("speed", SPEEDS.map(([value, text]) => [value, `${text} ×`]), "1", () => null);
    this.status = el("p", { class: "hint", role: "status" });
    this.sides = ["BC", "Counter-BC"].map((name) => {
      const canvas = el("canvas", { class: "scene", role: "img", "aria-label": `${name} acting` });
      const [title, returns, means] = [el("h3", {}, name), el("p", { class: "hint returns" }), el("p", { class: "hint means" })];
      return { name, title, canvas, returns, means, element: el("div", { class: "panel" }, title, canvas, returns, means) };
    });
    this.table = el("div", {});
    this.check = el("p", { class: "hint", role: "status" });
    this.checkButton = button("Run all test starts here", () => this.attempt(() => this.runAll()));
    this.about = el("div", { class: "panel" });
    this.length = el("span", {});
    fill(this.root,
      el("div", { class: "panel" }, el("h2", {}, "BC beside Counter-BC"),
        el("p", {}, "Two policies learned from the same imperfect demonstrations act from the same start. BC imitates what " +
          "was shown; Counter-BC assumes that another action, at most Δ away, may have been meant. Both " +
          "trained for the paper's 10,000 steps", this.length),
        el("label", { for: "radius" }, "Δ (largest distance of a meant action): ", this.radiusText), this.radius,
        el("div", { class: "steer" }, button("New start", () => this.restart(this.start + 1), { class: "main" }),
          button("Same start again", () => this.restart()), this.pauseButton, button("One step", () => this.attempt(() => this.once())),
          el("label", { for: "speed" }, "Speed"), this.speed), this.status),
      el("div", { class: "panels" }, this.sides.map((side) => side.element)),
      el("div", { class: "panel" }, el("h2", {}, "Mean returns"), el("div", { class: "scroll" }, this.table),
        el("div", { class: "steer" }, this.checkButton), this.check),
      this.about, this.licences());
  }

  licences() {
    const text = el("div", { class: "consent", tabindex: "0", role: "region", "aria-label": "Licence texts" });
    const { name, licence } = this.data.runtime;
    return el("div", { class: "panel" }, el("h2", {}, "Licences"),
      el("p", {}, `counterbc is under the MIT licence. Policies run in ${name}, © Microsoft Corporation, under the MIT licence:`),
      el("pre", { class: "consent", tabindex: "0" }, licence),
      el("details", { ontoggle: async () => {
        if (!text.textContent) text.textContent = new TextDecoder().decode(await unpack("notices"));
      } }, el("summary", {}, `Third-party notices of ${name}`), text));
  }

  get facts() { return this.data.worlds[this.world]; }
  get chosen() { return this.facts.policies[Number(this.radius.value)]; }

  open() {
    const name = location.hash.slice(1);
    this.world = name in this.data.worlds ? name : Object.keys(this.data.worlds)[0];
    for (const anchor of document.querySelectorAll("nav a")) {
      if (anchor.hash === `#${this.world}`) anchor.setAttribute("aria-current", "page");
      else anchor.removeAttribute("aria-current");
    }
    this.radius.max = String(this.facts.policies.length - 1);
    this.radius.value = String(this.facts.opening);
    this.length.textContent = LENGTHS[this.world];
    fill(this.about, describe(this.world, this.facts, this.facts.keys.length));
    this.restart(0);
  }

  // Begin the test start of this number, by default the same again, with the policies chosen now.
  restart(start = this.start) {
    const { keys } = this.facts;
    this.start = start % keys.length;
    this.due = 0;
    const text = String(this.chosen.radius);
    this.radiusText.textContent = text;
    this.radius.setAttribute("aria-valuetext", `Δ ${text}`);
    [this.facts.policies[0], this.chosen].forEach((policy, i) => {
      const side = this.sides[i];
      Object.assign(side, { policy, episode: new Episode(this.world, keys[this.start]) });
      side.means.textContent = `Mean return over ${keys.length} test starts: ${number(policy.mean)}. ` +
        `All ${this.facts.seeds.length} policies: ${number(policy.means)}.`;
    });
    this.sides[1].title.textContent = this.chosen.radius ? `Counter-BC, Δ ${text}` : "Counter-BC, Δ 0: the same as BC";
    this.status.textContent = `Test start ${this.start + 1} of ${keys.length}`;
    this.check.textContent = "";
    fill(this.table, returnsTable(this.facts.policies, keys.length, Number(this.radius.value)));
  }

  load(world, row) {
    const id = `${world} ${row.radius}`;
    if (!this.policies.has(id)) this.policies.set(id, Policy.load(row.onnx));
    return this.policies.get(id);
  }

  async once() {
    this.isRunning = false;
    await this.step();
  }

  // Say so if the browser cannot run the policies.
  async attempt(work) {
    try {
      await work();
    } catch (error) {
      this.isRunning = false;
      notice(`This browser cannot run the policies: ${error.message}. Use a current one.`);
    }
  }

  // Take one step after those under way: an action belongs to the observation that it was computed from.
  step() {
    const next = this.steps.then(() => this.advance());
    this.steps = next.catch(() => null);
    return next;
  }

  // One step of both episodes.
  async advance() {
    const [world, pairs] = [this.world, this.sides.map(({ policy, episode }) => [policy, episode])];
    for (const [row, episode] of pairs) {
      if (episode.over) continue;
      const policy = await this.load(world, row);
      const [action] = await policy.act([episode.obs]);
      episode.step(action);
    }
    const isCurrent = pairs.every(([, episode], i) => episode === this.sides[i].episode);
    if (isCurrent && pairs.every(([, episode]) => episode.over)) {
      const [bc, counterBC] = pairs.map(([, episode]) => number(episode.total));
      this.status.textContent = `Test start ${this.start + 1} of ${this.facts.keys.length} is over: ` +
        `BC returned ${bc}, Counter-BC ${counterBC}`;
    }
  }

  get isOver() { return this.sides.every(({ episode }) => episode.over); }

  async frame(now) {
    if (this.isRunning && !this.isOver && this.last !== null) {
      this.due += ((now - this.last) / 1000) * this.facts.rate * Number(this.speed.value);
      this.due = Math.min(this.due, MOST_STEPS);
      await this.attempt(async () => {
        for (; this.due >= 1 && this.isRunning && !this.isOver; this.due--) await this.step();
      });
    }
    this.last = now;
    this.draw();
    requestAnimationFrame((next) => this.frame(next));
  }

  draw() {
    const text = this.isRunning ? "Pause" : "Continue";
    if (this.pauseButton.textContent !== text) this.pauseButton.textContent = text;
    for (const { canvas, episode, returns } of this.sides) {
      drawScene(canvas, this.world, { obs: episode.obs }, episode.trail.slice(-60));
      const words = `return ${number(episode.total)} after ${episode.t} steps${episode.over ? ", over" : ""}`;
      if (returns.textContent !== words) returns.textContent = words;
    }
  }

  // The mean return of a policy over all test starts, computed in this browser.
  async meanReturn(world, row) {
    const episodes = this.data.worlds[world].keys.map((key) => new Episode(world, key));
    const policy = await this.load(world, row);
    for (let t = 1, active = episodes; active.length; active = active.filter((e) => !e.over), t++) {
      const actions = await policy.act(active.map((episode) => episode.obs));
      active.forEach((episode, i) => episode.step(actions[i]));
      if (t % PAUSE_EVERY === 0) await new Promise((resolve) => setTimeout(resolve));
    }
    return episodes.reduce((sum, episode) => sum + episode.total, 0) / episodes.length;
  }

  async runAll() {
    const [world, rows] = [this.world, this.sides.map((side) => side.policy)];
    this.check.textContent = "Running…";
    const means = [];
    for (const row of rows) means.push(number(await this.meanReturn(world, row)));
    const isCurrent = rows.every((row, i) => row === this.sides[i].policy);
    if (isCurrent) this.check.textContent = `In this browser, just now: BC ${means[0]}, Counter-BC with Δ ${rows[1].radius} ${means[1]}`;
  }
}

globalThis.playground = new Playground(document.querySelector("main"), JSON.parse(document.getElementById("data").textContent));
