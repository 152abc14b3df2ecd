// The player of one episode: the picture with arrows, the plots, and a slider for the time.

import { button, colour, el, number, select } from "./dom.js";
import { arrow, drawSeries, planeView } from "./plots.js";
import { SCENES, drawScene } from "./scenes.js";

// Where an action points in the picture: a direction, a velocity, or a target.
const POINTS = {
  intersection: (obs, action) => [obs[0] + 2.5 * action[0], obs[1] + 2.5 * action[1]],
  "air-hockey": (obs, action) => [obs[0] + 0.1 * action[0], obs[1] + 0.1 * action[1]],
  "push-t": (obs, action) => [action[0], 512 - action[1]],
};
const MOST_ACTIONS = 6; // that are drawn below each other
const MOST_PLOTS = 8; // observations
const MOST_CAMERAS = 4;

// The names that are plotted, and a list to choose from where they do not all fit.
class Group {
  constructor(names, most, label, changed) {
    Object.assign(this, { all: names, most });
    const starts = Array.from({ length: Math.ceil(names.length / most) }, (_, i) => i * most);
    const last = (i) => Math.min(i + most, names.length) - 1;
    const text = (i) => (i === last(i) ? names[i] : `${names[i]} to ${names[last(i)]}`);
    this.list = starts.length < 2 ? null
      : select(label.toLowerCase(), starts.map((i) => [String(i), text(i)]), "0", changed, `${label} that are plotted`);
  }

  get first() {
    return Number(this.list?.value ?? 0);
  }

  get names() {
    return this.all.slice(this.first, this.first + this.most);
  }
}

export class Player {
  constructor(data, link, changed, picked) {
    Object.assign(this, { data, link, changed, picked, step: 0, meant: null, timer: null });
    this.scene = el("canvas", { class: "scene", role: "img", "aria-label": "The episode" });
    this.actions = el("canvas", { class: "plot", role: "img", "aria-label": "Actions over time, shown and meant", onclick: (event) => this.click(event) });
    this.states = el("canvas", { class: "plot", role: "img", "aria-label": "Observations over time", onclick: (event) => this.click(event) });
    this.time = el("input", { type: "range", id: "time", min: "0", value: "0", "aria-label": "Step", oninput: () => this.go(Number(this.time.value), true) });
    this.play = button("Play", () => this.toggle());
    this.caption = el("p", { class: "hint" });
    this.axes = this.chooseAxes();
    this.shownActions = new Group(data.action_names, MOST_ACTIONS, "Actions", () => this.redraw());
    this.shownStates = new Group(data.obs_names, MOST_PLOTS, "Observations", () => this.redraw());
    const images = data.images ? null : [el("h3", {}, "Observations"), this.shownStates.list, this.states];
    this.cameras = data.cameras.slice(0, MOST_CAMERAS).map((name) =>
      el("canvas", { class: "scene", role: "img", "aria-label": `Camera ${name}` }));
    this.element = el("div", {}, this.caption, this.hasScene() ? this.scene : null, this.axes, this.figures(),
      el("div", { class: "row" }, this.play), this.time, el("h3", {}, "Actions"), this.shownActions.list, this.actions, images);
    this.actions.style.height = `${this.shownActions.names.length * 110 + 10}px`;
    this.states.style.height = `${this.shownStates.names.length * 64 + 20}px`;
    new ResizeObserver(() => this.redraw()).observe(this.actions);
  }

  // Data without a picture but with two-dimensional actions are drawn in a plane of two observations.
  get isPlane() {
    return !(this.data.world in SCENES) && !this.data.images && this.data.action_names.length === 2 && this.data.obs_names.length > 1;
  }

  hasScene() {
    return !this.data.images && (this.data.world in SCENES || this.isPlane);
  }

  // The step of the episode that is shown; of long episodes only every n-th step is here.
  get moment() {
    return this.step * this.episode.every;
  }

  figures() {
    const { cameras } = this.data;
    const more = cameras.length - this.cameras.length;
    return [this.cameras.length ? el("div", { class: "cameras" }, this.cameras.map((canvas, i) =>
      el("figure", {}, canvas, el("figcaption", { class: "hint" }, cameras[i])))) : null,
    more ? el("p", { class: "hint" }, `${more} more cameras are not shown.`) : null];
  }

  chooseAxes() {
    if (!this.isPlane) return null;
    const options = (arrow) => this.data.obs_names.map((name, i) => [String(i), `${arrow} ${name}`]);
    this.dims = ["0", "1"].map((value, i) => select(`axis${i}`, options("→↑"[i]), value, () => this.redraw(), ["Horizontal axis", "Vertical axis"][i]));
    return el("div", { class: "row", role: "group", "aria-label": "Axes" }, this.dims);
  }

  open(episode) {
    this.pause();
    Object.assign(this, { episode, meant: null });
    this.time.max = String(episode.action.length - 1);
    const thinned = episode.every > 1 ? `; one of ${episode.every} is shown` : "";
    this.caption.textContent = `${episode.name}${episode.operator ? `, by ${episode.operator}` : ""}, ${episode.length} steps${thinned}`;
    this.isBlind = false;
    this.go(0);
  }

  showMeant(reply) {
    this.meant = reply;
    this.redraw();
  }

  showImage(index, frame) {
    const canvas = this.cameras[index];
    if (!canvas) return;
    canvas.style.aspectRatio = `${frame.shape[1]} / ${frame.shape[0]}`;
    drawScene(canvas, null, frame);
  }

  // Only the newest step counts: films are read slower than a slider moves.
  async askImages() {
    if (!this.cameras.length || this.isBlind) return;
    if (this.isAsking) { this.isStale = true; return; }
    this.isAsking = true;
    this.isBlind = !(await this.link.request("look.image", { step: this.moment }));
    this.isAsking = false;
    if (this.isStale) { this.isStale = false; this.askImages(); }
  }

  toggle() {
    if (this.timer) return this.pause();
    if (this.step >= this.episode.action.length - 1) this.go(0);
    this.play.textContent = "Stop";
    const rate = Math.min(60, this.data.rate || 10);
    this.timer = setInterval(() => {
      if (this.step >= this.episode.action.length - 1) this.pause();
      else this.go(this.step + 1);
    }, 1000 / rate);
  }

  pause() {
    clearInterval(this.timer);
    this.timer = null;
    this.play.textContent = "Play";
  }

  go(step, isPicked = false) {
    this.step = step;
    this.time.value = String(step);
    this.time.setAttribute("aria-valuetext", `step ${this.moment}`);
    this.askImages();
    this.redraw();
    if (isPicked && !this.timer) this.picked(this.moment);
  }

  click(event) {
    if (this.at) this.go(this.at(event.offsetX), true);
  }

  redraw() {
    if (!this.episode || !this.actions.clientWidth) return;
    const shown = { values: this.episode.action, stroke: colour("shown"), width: 1.8 };
    const meant = this.meant && { values: this.meant.meant.map((row, t) => (this.meant.answered[t] ? row : row.map(() => NaN))), stroke: colour("meant"), width: 2.4, dash: [7, 4] };
    this.at = drawSeries(this.actions, this.shownActions, [shown, meant].filter(Boolean), this.step);
    if (this.episode.obs) {
      drawSeries(this.states, this.shownStates, [{ values: this.episode.obs, stroke: colour("soft") }], this.step);
      if (this.hasScene()) this.drawPicture();
    }
  }

  drawPicture() {
    const { obs, action } = this.episode;
    let [view, place, point] = [null, null, null];
    if (this.isPlane) {
      const [i, j] = this.dims.map((list) => Number(list.value));
      view = planeView(this.scene, obs.map((row) => row[i]), obs.map((row) => row[j]));
      place = (row) => [row[i], row[j]];
      const longest = Math.max(...action.map((a) => Math.hypot(...a)), 1e-9);
      const size = 0.08 * this.scene.width / view.scale / longest;
      point = (row, a) => [row[i] + size * a[0], row[j] + size * a[1]];
    } else {
      view = drawScene(this.scene, this.data.world, { obs: obs[this.step] }, obs.slice(0, this.step));
      place = SCENES[this.data.world]?.place;
      point = POINTS[this.data.world];
    }
    if (!view || !point) return;
    const [shown, meant] = [colour("shown"), colour("meant")];
    const every = Math.max(1, Math.floor(obs.length / 60));
    const ratio = window.devicePixelRatio || 1;
    const draw = (t, width, isLit) => {
      const from = view.at(...place(obs[t]));
      arrow(view.context, from, view.at(...point(obs[t], action[t])), shown, width * ratio, isLit);
      if (this.meant?.answered[t]) arrow(view.context, from, view.at(...point(obs[t], this.meant.meant[t])), meant, width * ratio, isLit);
    };
    for (let t = 0; t < obs.length; t += every) if (t !== this.step) draw(t, 1.6, false);
    draw(this.step, 3.5, true); // above the others
  }
}
