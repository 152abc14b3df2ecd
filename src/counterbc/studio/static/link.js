// The websocket: requests with replies, messages, and a new connection when one is lost.

import { notice } from "./dom.js";

export class Link extends EventTarget {
  constructor() {
    super();
    this.waiting = new Map();
    this.count = 0;
    this.offset = null; // of the server's clock, in milliseconds
    this.best = Infinity; // shortest round trip so far
    this.isReplaced = false;
    this.delay = 250;
  }

  async login() {
    const token = new URLSearchParams(location.hash.slice(1)).get("token");
    if (!token) return;
    history.replaceState(null, "", location.pathname); // the token does not stay in the address
    const answer = await fetch("/login", { method: "POST", body: JSON.stringify({ token }) });
    if (!answer.ok) notice(await answer.text());
  }

  open() {
    this.socket = new WebSocket(`ws://${location.host}/socket`);
    this.socket.binaryType = "arraybuffer";
    this.socket.onopen = () => this.post({ type: "hello", person: sessionStorage.person ?? "" });
    this.socket.onmessage = (event) => this.receive(event.data);
    this.socket.onclose = (event) => this.closed(event);
  }

  get isOpen() {
    return this.socket?.readyState === WebSocket.OPEN;
  }

  closed(event) {
    clearInterval(this.timer);
    for (const { reject } of this.waiting.values()) reject(new Error("the connection was lost"));
    this.waiting.clear();
    this.tell("lost", { text: event.reason, refused: event.code === 1013 });
    if (this.isReplaced) return;
    setTimeout(() => this.open(), this.delay);
    this.delay = Math.min(2 * this.delay, 4000);
  }

  post(message) {
    if (this.isOpen) this.socket.send(JSON.stringify(message));
  }

  ask(type, fields = {}) {
    const id = ++this.count;
    return new Promise((resolve, reject) => {
      if (!this.isOpen) return reject(new Error("there is no connection to the studio"));
      this.waiting.set(id, { resolve, reject });
      this.post({ type, id, ...fields });
    });
  }

  receive(data) {
    const message = typeof data === "string" ? JSON.parse(data) : unpack(data);
    if (message.type === "reply" || message.type === "refused") {
      const call = this.waiting.get(message.id);
      this.waiting.delete(message.id);
      if (message.type === "reply") call?.resolve(message);
      else call?.reject(new Error(message.text));
      return;
    }
    if (message.type === "pong") return this.measure(message);
    if (message.type === "welcome") this.welcome(message);
    if (message.type === "replaced") this.isReplaced = true;
    this.tell(message.type, message);
  }

  welcome(message) {
    sessionStorage.person = message.person;
    this.delay = 250;
    this.best = Infinity;
    for (let i = 0; i < 10; i++) setTimeout(() => this.ping(), 60 * i);
    clearInterval(this.timer);
    this.timer = setInterval(() => this.ping(), 2000);
  }

  ping() {
    this.post({ type: "ping", sent: performance.now() });
  }

  // The shortest round trip tells the server's clock best.
  measure({ sent, now }) {
    const here = performance.now();
    if (here - sent <= this.best) {
      this.best = here - sent;
      this.offset = now - (sent + here) / 2;
    }
  }

  serverTime(here) {
    return this.offset === null ? null : Math.max(0, here + this.offset);
  }

  tell(type, detail) {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }

  on(type, listener) {
    this.addEventListener(type, (event) => listener(event.detail));
  }
}

function unpack(buffer) {
  const size = new DataView(buffer).getUint32(0, true);
  const message = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, size)));
  message.pixels = new Uint8Array(buffer, 4 + size);
  return message;
}
