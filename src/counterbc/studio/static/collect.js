// Collect: choose a world, practise, then record.

import { Controls } from "./controls.js";
import { button, clock, el, facts, fill, notice, number, sentence } from "./dom.js";
import { drawScene } from "./scenes.js";
import { FIRST_CHOICE, setup, showConsent } from "./setup.js";

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
    this.newest = this.early = null;
    this.isNext = false; // whether the form is for the next operator, after a session that is over
    this.trail = [];
    this.saved = null;
    link.on("status", (status) => this.report(status));
    link.on("frame", (frame) => this.receive(frame));
    link.on("saved", ({ session, dataset }) => { // that of an earlier operator or of a correction may come too
      if (session !== this.status?.session) return;
      this.saved = dataset;
      this.showStatus();
    });
    document.addEventListener("visibilitychange", () => {
      if (document.hidden && this.status?.phase === "running") this.do("pause");
    });
    this.showSetup();
  }

  async connected(facts) {
    this.facts = facts;
    if (!this.controls && showConsent(this.root, facts)) notice("The consent text was changed; read it again.");
    const state = await this.link.request("collect.state");
    if (!state) return; // the connection was lost again
    this.controls?.resend(true);
    if (state.running && !this.controls && !this.isNext) this.open(state);
    else if (!state.running && this.controls) {
      this.showSetup(this.choice); // the server was started again; what was recorded is in its journal
      notice("The studio was started again. What you recorded before is kept; begin a new session.");
    }
  }

  hide() {
    if (this.status?.phase === "running") this.do("pause");
  }

  lost() {
    const isOpen = this.status?.phase === "running" || this.status?.phase === "paused";
    if (isOpen) { // the server pauses a world whose page is gone
      this.status = { ...this.status, phase: "paused" };
      this.showStatus();
    }
    this.hint(`The connection is lost. ${isOpen ? "The world is paused, and what" : "What"} you recorded is kept.`);
  }

  replaced(text) {
    this.hint(text);
  }

  showSetup(start = FIRST_CHOICE) {
    this.controls?.close();
    this.controls = null;
    this.status = null;
    fill(this.root, setup(this.facts, start, async (choice) => {
      if (!(await this.link.attempt("collect.begin", choice))) return;
      this.saved = this.early = null;
      this.open(choice);
    }));
  }

  open({ world, operator, protocol, format, speed }) {
    this.choice = { world, operator, protocol, format, speed };
    this.world = world;
    this.newest = this.early;
    this.early = null;
    this.isNext = false;
    this.step = this.told = this.newest?.step ?? 0;
    const { label, steps } = this.facts.worlds.find((item) => item.name === world);
    this.longest = steps;
    this.canvas = el("canvas", { class: "scene", tabindex: "0", role: "img", "aria-label": `${label}. ${HELP[world]}` });
    this.overlay = el("p", { "aria-live": "polite" });
    this.summary = el("div", {});
    this.buttons = el("div", { class: "row" });
    this.live = el("dl", { class: "facts live" });
    fill(this.root, el("div", { class: "two" },
      el("div", { class: "over" }, this.canvas, this.overlay),
      el("div", { class: "side" },
        el("div", { class: "panel session" }, el("h2", {}, label), this.summary, this.live, this.buttons),
        el("div", { class: "panel" }, el("p", { class: "hint" }, HELP[world]), keyHelp()))));
    this.controls?.close();
    this.controls = new Controls(this.canvas, world,
      (action, device, time) => this.link.post({
        type: "collect.input", action, device, at: this.link.serverTime(time),
      }),
      (code) => this.command(code));
    this.focus();
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

  do(action) {
    return this.link.attempt("collect.do", { do: action });
  }

  report(status) {
    const before = this.status?.phase;
    this.status = status;
    if (status.phase === "running" && before !== "running" && before !== "paused") {
      this.trail = [];
      this.step = 0;
    }
    this.told = this.step;
    if (status.phase === "running" && before !== "running") {
      this.controls?.resend();
      this.canvas?.scrollIntoView({ block: "nearest" }); // a phone may show the buttons alone
    }
    this.showStatus();
  }

  receive(frame) {
    if (frame.slot !== 0) return;
    if (!this.controls) {
      this.early = frame; // of a page that was loaded again
      return;
    }
    this.step = frame.step;
    if (this.step < this.told) this.told = 0; // a new episode
    if (frame.step === 0) this.trail = [];
    else if (this.newest?.obs) this.trail.push(this.newest.obs);
    this.trail = this.trail.slice(-60);
    this.newest = frame;
    this.controls.observe(frame.obs ?? null);
  }

  draw() {
    this.isDrawing = Boolean(this.controls);
    if (!this.isDrawing) return;
    if (!this.root.hidden && this.newest && this.status) {
      drawScene(this.canvas, this.world, this.newest, this.trail);
      this.showLive();
    }
    requestAnimationFrame(() => this.draw());
  }

  showLive() {
    const { total, seconds, action } = this.newest;
    const [leftName, left] = this.timeLeft();
    const rows = facts([
      ["time", `${number(seconds, 1)} s`], ["return", number(total)],
      ["action", action ? action.map((a) => number(a)).join("  ") : "–"],
      [leftName, clock(left)],
    ]);
    this.live.replaceChildren(...rows.children);
    const practice = this.summary.querySelector(".practice-left");
    if (practice) practice.textContent = clock(this.practiceLeft());
    const pairs = this.summary.querySelector(".pairs");
    if (pairs) pairs.textContent = this.pairsSoFar();
  }

  // Steps of the episode that runs; 0 where none does.
  stepsRunning() {
    const { phase } = this.status;
    return phase === "running" || phase === "paused" ? this.step : 0;
  }

  // Recorded pairs, those of the running episode included.
  pairsSoFar() {
    const { pairs, protocol } = this.status;
    return `${pairs + this.stepsRunning()}${protocol.pairs ? ` of ${protocol.pairs}` : ""}`;
  }

  // Seconds of practice left: what the server told last, less the steps since then.
  practiceLeft() {
    const { practice_left: left, rate } = this.status;
    return left - (this.step - this.told) / rate;
  }

  // Seconds left: of the recording where steps are counted (`pairs` are those of episodes that are
  // over), else of the episode.
  timeLeft() {
    const { protocol, mode, pairs, rate } = this.status;
    const running = this.stepsRunning();
    if (mode === "record" && protocol.pairs) return ["time left", (protocol.pairs - pairs - running) / rate];
    return ["episode left", ((protocol.episode_steps ?? this.longest) - running) / rate];
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
    const mode = s.phase === "finished" ? "finished" : !isRecording ? "practice, not recorded" : s.phase === "running" ? "● recording"
      : s.phase === "paused" ? "recording, paused" : "recording";
    const limit = s.protocol.episodes ? ` of ${s.protocol.episodes}` : "";
    const mark = s.success === null ? "not marked" : s.success ? "success" : "failure";
    fill(this.summary, facts([
      ["operator", s.operator], ["mode", mode],
      isRecording ? ["episodes", `${s.episodes}${limit}`] : null,
      isRecording ? ["pairs", this.pairsSoFar()] : null,
      !isRecording && s.practice_left !== null ? ["practice left", clock(this.practiceLeft())] : null,
      isRecording ? ["last episode", s.last === null ? "–" : mark] : null,
      isRecording ? ["saved in", this.saved ?? "–"] : null,
    ]));
    this.summary.classList.toggle("busy", s.phase === "running");
    const hadFocus = this.buttons.contains(document.activeElement);
    fill(this.buttons, this.choices(s));
    if (hadFocus && !this.buttons.contains(document.activeElement)) this.focus();
    this.hint(this.sentence(s));
  }

  // Keys steer and start from the picture; a button that is gone leaves them to no other button.
  focus() {
    this.canvas.focus({ preventScroll: true });
  }

  // Buttons keep their places: an episode, and with it the session, may end by itself just before a
  // click. Those that leave the page come after all others, where nothing else was before.
  choices(s) {
    const act = (text, action, attributes) => button(text, () => {
      action();
      this.focus();
    }, attributes);
    const isOpen = s.phase === "running" || s.phase === "paused";
    const done = s.phase === "finished";
    const start = { running: "Pause", paused: "Continue" }[s.phase] ?? "Start";
    const canMark = isOpen || s.last !== null;
    const mark = (text, action) => s.mode === "record" && act(text, () => this.do(action), { disabled: !canMark });
    return [
      act(start, () => this.command("Space"), { class: "main", disabled: done }),
      s.mode === "practice" && act("Record now", () => this.do("record"), { disabled: done }),
      mark("Success", "success"), mark("Failure", "failure"),
      mark(isOpen ? "Discard this episode" : "Discard last episode", "discard"),
      act("End episode", () => this.do("end"), { disabled: !isOpen }),
      act("Finish session", () => this.do("finish"), { disabled: done }),
      done && button("Next operator", () => this.next(""), { class: "main" }),
      done && button("Same operator again", () => this.next(s.operator)),
    ].filter(Boolean);
  }

  // The form for the next operator, who does the same.
  next(operator) {
    this.isNext = true;
    this.showSetup({ ...this.choice, operator });
    this.root.querySelector("#operator").focus();
  }

  sentence(s) {
    if (s.phase === "finished") return sentence(s.reason) || "Finished. Thank you! Everything is saved.";
    if (s.phase === "paused") return `Paused${s.reason ? `: ${s.reason}` : ""}. Press Space or Continue.`;
    if (s.phase === "running") return "";
    if (s.mode === "practice") return "Practice: press Space or Start; nothing is recorded.";
    return `Press Space or Start to record episode ${s.episodes + 1}.`;
  }
}

function keyHelp() {
  const rows = [
    ["arrows, WASD", "steer"], ["pointer", "hold to steer there"],
    ["gamepad", "stick and triggers; A starts, Start also pauses"], ["Space", "start, pause"],
    ["Enter / Esc", "start / pause"], ["Y / N", "success / failure"], ["Delete, Backspace", "discard"],
  ];
  return el("dl", { class: "facts" }, rows.flatMap(([key, text]) => [
    el("dt", {}, el("kbd", {}, key)), el("dd", {}, text),
  ]));
}
