// Collect: choose a world, practise, then record.

import { Controls } from "./controls.js";
import { button, clock, el, facts, fill, notice, number, select } from "./dom.js";
import { drawScene } from "./scenes.js";
import { setup } from "./setup.js";

const HELP = {
  intersection: "Drive the orange car to the orange ring, and let the blue car pass.",
  cartpole: "Push the cart left or right so that the pole stays up.",
  "air-hockey": "Strike the red puck over the centre line with the blue paddle.",
  "car-racing": "Steer with left and right; up is gas, down is the brake.",
  "push-t": "Push the grey T onto its green outline.",
};

export class Collect {
  constructor(root, link, facts) {
    Object.assign(this, { root, link, facts });
    this.status = null;
    this.newest = null;
    this.trail = [];
    this.saved = null;
    link.on("status", (status) => this.report(status));
    link.on("frame", (frame) => this.receive(frame));
    link.on("saved", (message) => {
      this.saved = message.dataset;
      this.showStatus();
    });
    document.addEventListener("visibilitychange", () => {
      if (document.hidden && this.status?.phase === "running") this.do("pause");
    });
    this.showSetup();
  }

  async connected() {
    const state = await this.link.ask("collect.state");
    if (state.running && !this.controls) this.open(state);
    else if (!state.running && this.controls) {
      this.showSetup(); // the server was started again; what was recorded is in its journal
      notice("The studio was started again. What you recorded before is kept; begin a new session.");
    }
  }

  hide() {
    if (this.status?.phase === "running") this.do("pause");
  }

  lost() {
    this.hint("The connection is lost. The world is paused, and what you recorded is kept.");
  }

  showSetup(operator = "") {
    this.controls?.close();
    this.controls = null;
    this.status = null;
    fill(this.root, setup(this.facts, operator, async (choice) => {
      notice(null);
      try {
        const limits = await this.link.ask("collect.begin", choice);
        this.saved = null;
        this.open({ ...limits, world: choice.world, operator: choice.operator });
      } catch (error) {
        notice(error.message);
      }
    }));
  }

  open({ world, operator }) {
    this.world = world;
    this.operator = operator;
    this.newest = null;
    const label = this.facts.worlds.find((item) => item.name === world).label;
    this.canvas = el("canvas", { class: "scene", tabindex: "0", role: "img", "aria-label": `${label}. ${HELP[world]}` });
    this.overlay = el("p", { "aria-live": "polite" });
    this.summary = el("div", {});
    this.buttons = el("div", { class: "row" });
    this.live = el("dl", { class: "facts" });
    fill(this.root, el("div", { class: "two" },
      el("div", { class: "over" }, this.canvas, this.overlay),
      el("div", { class: "side" },
        el("div", { class: "panel" }, el("h2", {}, label), this.summary, this.live, this.buttons),
        el("div", { class: "panel" }, el("p", { class: "hint" }, HELP[world]), keyHelp()))));
    this.controls?.close();
    this.controls = new Controls(this.canvas, world,
      (action, device, time) => this.link.post({
        type: "collect.input", action, device, at: this.link.serverTime(time),
      }),
      (code) => this.command(code));
    this.canvas.focus({ preventScroll: true });
    this.trail = [];
    this.showStatus();
    if (!this.isDrawing) this.draw();
  }

  command(code) {
    const phase = this.status?.phase;
    if (code === "Space" || code === "Enter") {
      if (phase === "running") { if (code === "Space") this.do("pause"); } else this.do("start");
    } else if (code === "Escape") this.do("pause");
    else if (code === "KeyY") this.do("success");
    else if (code === "KeyN") this.do("failure");
    else if (code === "Delete" || code === "Backspace") this.do("discard");
    else return false;
    return true;
  }

  async do(action) {
    try {
      await this.link.ask("collect.do", { do: action });
    } catch (error) {
      notice(error.message);
    }
  }

  report(status) {
    const before = this.status?.phase;
    this.status = status;
    if (status.phase === "running" && before !== "paused") this.trail = [];
    this.showStatus();
  }

  receive(frame) {
    if (!this.controls || frame.slot !== 0) return;
    if (frame.step === 0) this.trail = [];
    else if (this.newest?.obs) this.trail.push(this.newest.obs);
    this.trail = this.trail.slice(-60);
    this.newest = frame;
    this.controls.observe(frame.obs ?? null);
  }

  draw() {
    this.isDrawing = Boolean(this.controls);
    if (!this.isDrawing) return;
    if (!this.root.hidden && this.newest) {
      drawScene(this.canvas, this.world, this.newest, this.trail);
      this.showLive();
    }
    requestAnimationFrame(() => this.draw());
  }

  showLive() {
    const { step, total, seconds, action } = this.newest;
    const { protocol, mode, pairs, rate } = this.status ?? {};
    const left = mode === "record" && protocol?.pairs ? (protocol.pairs - pairs - step) / rate : null;
    const rows = facts([
      ["time", `${number(seconds, 1)} s`], ["return", number(total)],
      ["action", action ? action.map((a) => number(a)).join("  ") : "–"],
      left === null ? null : ["time left", clock(left)],
    ]);
    this.live.replaceChildren(...rows.children);
  }

  hint(text) {
    if (!this.overlay) return;
    this.overlay.textContent = text;
    this.overlay.hidden = !text;
  }

  showStatus() {
    const s = this.status;
    if (!s || !this.controls) return;
    const isRecording = s.mode === "record";
    const limit = s.protocol.episodes ? ` of ${s.protocol.episodes}` : "";
    const pairs = s.protocol.pairs ? ` of ${s.protocol.pairs}` : "";
    const mark = s.success === null ? "not marked" : s.success ? "success" : "failure";
    fill(this.summary, facts([
      ["operator", s.operator], ["mode", isRecording ? (s.phase === "running" ? "● recording" : "recording") : "practice, not recorded"],
      isRecording ? ["episodes", `${s.episodes}${limit}`] : null,
      isRecording ? ["pairs", `${s.pairs}${pairs}`] : null,
      !isRecording && s.practice_left !== null ? ["practice left", clock(s.practice_left)] : null,
      isRecording && s.last !== null ? ["last episode", mark] : null,
      this.saved ? ["saved in", this.saved] : null,
    ]));
    this.summary.classList.toggle("busy", s.phase === "running");
    fill(this.buttons, this.choices(s));
    this.hint(this.sentence(s));
  }

  choices(s) {
    const isOpen = s.phase === "running" || s.phase === "paused";
    const done = s.phase === "finished";
    const start = { running: "Pause", paused: "Continue", ready: "Start" }[s.phase];
    const canMark = s.mode === "record" && (isOpen || s.last !== null);
    return [
      start && button(start, () => this.command("Space"), { class: "main" }),
      s.mode === "practice" && button("Record now", () => this.do("record")),
      canMark && button("Success", () => this.do("success")),
      canMark && button("Failure", () => this.do("failure")),
      canMark && button(isOpen ? "Discard this episode" : "Discard last episode", () => this.do("discard")),
      isOpen && button("End episode", () => this.do("end")),
      !done && button("Finish session", () => this.do("finish")),
      done && button("Next operator", () => this.showSetup(), { class: "main" }),
      done && button("Same operator again", () => this.showSetup(s.operator)),
    ].filter(Boolean);
  }

  sentence(s) {
    if (s.phase === "finished") return s.reason || "Finished. Thank you! Everything is saved.";
    if (s.phase === "paused") return `Paused${s.reason ? `: ${s.reason}` : ""}. Press Space to continue.`;
    if (s.phase === "running") return "";
    if (s.mode === "practice") return "Practice: press Space or Start; nothing is recorded.";
    return `Press Space or Start to record episode ${s.episodes + 1}.`;
  }
}

function keyHelp() {
  const rows = [
    ["arrows, WASD", "steer"], ["pointer", "hold to steer there"],
    ["gamepad", "stick and triggers"], ["Space", "start, pause"], ["Y / N", "success / failure"],
    ["Delete", "discard"],
  ];
  return el("dl", { class: "facts keys" }, rows.flatMap(([key, text]) => [
    el("dt", {}, el("kbd", {}, key)), el("dd", {}, text),
  ]));
}
