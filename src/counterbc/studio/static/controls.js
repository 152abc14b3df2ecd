// Devices: keys, pointer and gamepad become the action that a world takes.

import { SCENES, pointed } from "./scenes.js";

const KEYS = {
  ArrowLeft: [-1, 0], KeyA: [-1, 0], ArrowRight: [1, 0], KeyD: [1, 0],
  ArrowUp: [0, 1], KeyW: [0, 1], ArrowDown: [0, -1], KeyS: [0, -1],
};
const DEAD = 0.08; // of a stick, around its middle
const REACH = { intersection: 3, cartpole: 1, "air-hockey": 0.05 }; // distance of full deflection
const STRIDE = 40; // pixels that a key draws Push-T's disc ahead

const clip = (x, low = -1, high = 1) => Math.min(high, Math.max(low, x));

function intoDisc([x, y]) {
  const length = Math.hypot(x, y);
  return length > 1 ? [x / length, y / length] : [x, y];
}

// The action of a direction; `obs` is the newest observation, `pedals` those of a gamepad.
export function steer(world, direction, obs, pedals = null) {
  const [x, y] = direction;
  if (world === "intersection") return intoDisc(direction);
  if (world === "cartpole") return [clip(x)];
  if (world === "air-hockey") return [clip(x), clip(y)];
  if (world === "car-racing") {
    return [clip(x), clip(pedals ? pedals[0] : y, 0), clip(pedals ? pedals[1] : -y, 0)];
  }
  const [u, v] = intoDisc(direction);
  return [clip(obs[0] + STRIDE * u, 0, 512), clip(obs[1] - STRIDE * v, 0, 512)];
}

// The code of the key that has this letter on it; keyboards differ in where Y is.
function meaning({ code, key }) {
  return /^[a-z]$/i.test(key) ? `Key${key.toUpperCase()}` : code;
}

export function pushedStick(x, y) {
  return Math.hypot(x, y) < DEAD ? [0, 0] : [x, -y];
}

export class Controls {
  // `send(action, device, time)` is called whenever a device says something new.
  constructor(canvas, world, send, commands) {
    Object.assign(this, { canvas, world, send, commands });
    this.pressed = new Set();
    this.pointer = null;
    this.obs = null;
    this.device = null;
    this.pads = {};
    this.listeners = [() => canvas.classList.remove("steered")];
    canvas.classList.add("steered"); // a finger steers here, and scrolls elsewhere
    this.listen(window, "keydown", (event) => this.key(event, true));
    this.listen(window, "keyup", (event) => this.key(event, false));
    this.listen(window, "blur", () => this.release());
    for (const type of ["pointerdown", "pointermove", "pointerup", "pointercancel"]) {
      this.listen(canvas, type, (event) => this.point(event));
    }
    this.poll = this.poll.bind(this);
    this.frame = requestAnimationFrame(this.poll);
  }

  listen(target, type, listener) {
    target.addEventListener(type, listener);
    this.listeners.push(() => target.removeEventListener(type, listener));
  }

  close() {
    this.listeners.forEach((remove) => remove());
    cancelAnimationFrame(this.frame);
  }

  emit(action, device, time) {
    this.device = device;
    this.send(action, device, time);
  }

  key(event, isDown) {
    if (!isDown) return this.lift(event);
    if (event.target.closest?.("input, select, textarea") || !this.canvas.clientWidth) return;
    if (event.ctrlKey || event.metaKey || event.altKey) return; // a shortcut of the browser
    if (event.code in KEYS) {
      event.preventDefault();
      if (event.repeat) return;
      this.pressed.add(event.code);
      this.emit(this.fromKeys(), "keyboard", event.timeStamp);
    } else if (!event.repeat) {
      const isPress = event.code === "Space" || event.code === "Enter"; // which a button takes itself
      if (isPress && event.target.closest?.("button, a, summary")) return;
      if (this.commands(meaning(event))) event.preventDefault();
    }
  }

  // A pressed key is let go wherever the focus is by then. macOS does not say which keys were let
  // go while Cmd was held, so all of them are when Cmd is.
  lift(event) {
    if (event.key === "Meta") this.release();
    if (!this.pressed.delete(event.code)) return;
    event.preventDefault();
    this.emit(this.fromKeys(), "keyboard", event.timeStamp);
  }

  // Keys that are held when the window loses the focus are never released there.
  release() {
    if (!this.pressed.size) return;
    this.pressed.clear();
    this.emit(this.fromKeys(), "keyboard", performance.now());
  }

  // Say again what is held: the server forgets it between episodes and with a connection. Where
  // nothing is held, `isAll` says that too.
  resend(isAll = false) {
    const now = performance.now();
    const hasPad = Object.values(this.pads).some(({ isHeld }) => isHeld);
    if (this.pointer) this.emit(this.fromPointer(this.pointer), "pointer", now);
    else if (this.pressed.size || (isAll && !hasPad && this.device)) this.emit(this.fromKeys(), "keyboard", now);
    else for (const pad of Object.values(this.pads)) if (pad.isHeld) pad.text = "again";
  }

  fromKeys() {
    let [x, y] = [0, 0];
    for (const code of this.pressed) [x, y] = [x + KEYS[code][0], y + KEYS[code][1]];
    return steer(this.world, [Math.sign(x), Math.sign(y)], this.obs ?? [256, 256]);
  }

  point(event) {
    if (event.type === "pointerdown") {
      this.canvas.setPointerCapture(event.pointerId);
      this.canvas.focus();
      this.pointer = event;
    } else if (!this.pointer) return;
    else this.pointer = event.type === "pointermove" ? event : null;
    if (!this.pointer && this.world === "push-t") return; // the target stays where it was
    this.emit(this.fromPointer(this.pointer), "pointer", event.timeStamp);
  }

  fromPointer(event) {
    if (!event) return steer(this.world, [0, 0], this.obs ?? [256, 256]);
    if (!SCENES[this.world]) {
      const box = this.canvas.getBoundingClientRect();
      const x = (4 * (event.clientX - box.left)) / box.width - 2;
      return steer(this.world, [x, 2 - (4 * (event.clientY - box.top)) / box.height], null);
    }
    const [x, y] = pointed(this.canvas, this.world, event);
    if (this.world === "push-t") return [clip(x, 0, 512), clip(512 - y, 0, 512)];
    const [u, v] = this.obs ? SCENES[this.world].place(this.obs) : [0, 0];
    return steer(this.world, [(x - u) / REACH[this.world], (y - v) / REACH[this.world]], this.obs);
  }

  // A new state changes what a device asks for where the action depends on the state.
  observe(obs) {
    this.obs = obs;
    const now = performance.now();
    if (this.pointer && this.world in REACH) this.emit(this.fromPointer(this.pointer), "pointer", now);
    else if (this.pressed.size && this.world === "push-t") this.emit(this.fromKeys(), "keyboard", now);
  }

  poll() {
    if (this.canvas.clientWidth) {
      const pads = Array.from(navigator.getGamepads?.() ?? []).filter(Boolean);
      for (const pad of pads) this.readPad(pad);
      this.dropPads(pads.map((pad) => String(pad.index)));
    }
    this.frame = requestAnimationFrame(this.poll);
  }

  // A gamepad that was unplugged asks for rest; nobody could release its stick otherwise.
  dropPads(present) {
    for (const index of Object.keys(this.pads).filter((key) => !present.includes(key))) {
      const { isHeld } = this.pads[index];
      delete this.pads[index];
      if (isHeld) this.emit(steer(this.world, [0, 0], this.obs ?? [256, 256], [0, 0]), "gamepad", performance.now());
    }
  }

  readPad(pad) {
    const old = this.pads[pad.index] ?? { text: "", buttons: [] };
    const buttons = pad.buttons.map((button) => button.pressed);
    if (buttons[9] && !old.buttons[9]) this.commands("Space");
    if (buttons[0] && !old.buttons[0]) this.commands("Enter");
    const stick = pushedStick(pad.axes[0] ?? 0, pad.axes[1] ?? 0);
    const pedals = [pad.buttons[7]?.value ?? 0, pad.buttons[6]?.value ?? 0];
    const action = steer(this.world, stick, this.obs ?? [256, 256], pedals);
    const text = JSON.stringify([stick, pedals]);
    const isMoving = this.world === "push-t" && (stick[0] || stick[1]);
    if ((old.text && text !== old.text) || isMoving) this.emit(action, "gamepad", performance.now());
    const isHeld = [...stick, ...pedals].some((value) => value !== 0);
    this.pads[pad.index] = { text, buttons, isHeld };
  }
}
