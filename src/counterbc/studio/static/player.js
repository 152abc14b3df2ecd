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
const MOST_PLOTS = 8; // observations that are drawn below each other

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
    const images = data.images ? null : [el("h3", {}, "Observations"), this.states];
    this.element = el("div", {}, this.caption, this.hasScene() ? this.scene : null, this.axes,
      el("div", { class: "row" }, this.play), this.time, el("h3", {}, "Actions"), this.actions, images);
    this.actions.style.height = `${Math.min(6, data.action_names.length) * 110 + 10}px`;
    this.states.style.height = `${Math.min(MOST_PLOTS, data.obs_names.length) * 60 + 20}px`;
    new ResizeObserver(() => this.redraw()).observe(this.actions);
  }

  // Unknown data with two-dimensional actions are drawn in a plane of two observations.
  get isPlane() {
    return !this.data.world && !this.data.images && this.data.action_names.length === 2 && this.data.obs_names.length > 1;
  }

  hasScene() {
    return this.data.images || this.data.world in SCENES || this.isPlane;
  }

  chooseAxes() {
    if (!this.isPlane) return null;
    const options = this.data.obs_names.map((name, i) => [String(i), name]);
    this.dims = ["0", "1"].map((value, i) => select(`axis${i}`, options, value, () => this.redraw()));
    return el("div", { class: "row" }, el("label", { for: "axis0" }, "Axes"), this.dims);
  }

  open(episode) {
    this.pause();
    Object.assign(this, { episode, meant: null });
    this.time.max = String(episode.action.length - 1);
    this.caption.textContent = `${episode.name}${episode.operator ? `, by ${episode.operator}` : ""}, ${episode.action.length} steps`;
    this.go(0);
  }

  showMeant(reply) {
    this.meant = reply;
    this.redraw();
  }

  showImage(frame) {
    drawScene(this.scene, null, frame);
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
    this.time.setAttribute("aria-valuetext", `step ${step}`);
    if (this.data.images) this.link.ask("look.image", { episode: this.episode.name, step });
    this.redraw();
    if (isPicked && !this.timer) this.picked(step);
  }

  click(event) {
    if (this.at) this.go(this.at(event.offsetX), true);
  }

  redraw() {
    if (!this.episode || !this.actions.clientWidth) return;
    const shown = { values: this.episode.action, stroke: colour("shown"), width: 1.8 };
    const meant = this.meant && { values: this.meant.meant.map((row, t) => (this.meant.answered[t] ? row : row.map(() => NaN))), stroke: colour("meant"), width: 2.2 };
    this.at = drawSeries(this.actions, this.data.action_names.slice(0, 6), [shown, meant].filter(Boolean), { step: this.step });
    if (this.episode.obs) {
      const names = this.data.obs_names.slice(0, MOST_PLOTS);
      drawSeries(this.states, names, [{ values: this.episode.obs, stroke: colour("soft") }], { step: this.step });
      this.drawPicture();
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
    // Pictures of worlds are light in both themes.
    const [shown, meant] = this.isPlane ? [colour("shown"), colour("meant")] : ["#c2570c", "#285ab4"];
    const every = Math.max(1, Math.floor(obs.length / 60));
    const ratio = window.devicePixelRatio || 1;
    obs.forEach((row, t) => {
      if (t % every && t !== this.step) return;
      const from = view.at(...place(row));
      const width = (t === this.step ? 3.5 : 1.8) * ratio;
      arrow(view.context, from, view.at(...point(row, action[t])), shown, width);
      if (this.meant?.answered[t]) arrow(view.context, from, view.at(...point(row, this.meant.meant[t])), meant, width);
    });
  }
}
