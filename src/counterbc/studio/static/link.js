// The websocket: requests with replies, messages, and a new connection when one is lost.

import { notice, sentence } from "./dom.js";

const POLICY = 1008; // code of a connection that the server closed because of what the page sent
const AGEING = 1.05; // of the shortest round trip, with each answer to a ping

export class Link extends EventTarget {
  constructor() {
    super();
    this.waiting = new Map();
    this.count = 0;
    this.offset = null; // of the server's clock, in milliseconds
    this.best = Infinity; // shortest round trip so far, and longer with each one since then
    this.largest = Infinity; // bytes of a message
    this.isReplaced = false;
    this.delay = 250;
    this.attempts = 0; // since the last connection
  }

  // Exchange the token of the address for a cookie; returns whether there was one.
  async login() {
    const token = new URLSearchParams(location.hash.slice(1)).get("token");
    if (!token) return false;
    history.replaceState(null, "", location.pathname); // the token does not stay in the address
    const answer = await fetch("/login", { method: "POST", body: JSON.stringify({ token }) });
    if (!answer.ok) notice(sentence(await answer.text()));
    return true;
  }

  // Connect now rather than after the next pause.
  retry() {
    clearTimeout(this.pause);
    if (this.isOpen) return;
    this.socket.onclose = null; // it may be about to fail
    this.socket.close();
    this.open();
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
    const reason = sentence(event.reason) || (this.isReplaced ? this.replacement : "The connection was lost.");
    for (const { reject } of this.waiting.values()) reject(new Error(reason));
    this.waiting.clear();
    if (this.isReplaced) return; // which was said already
    this.attempts += 1;
    this.isAtFault = event.code === POLICY;
    this.tell("lost", { text: sentence(event.reason), attempts: this.attempts });
    this.pause = setTimeout(() => this.open(), this.delay);
    this.delay = Math.min(2 * this.delay, 4000);
  }

  post(message) {
    if (this.isOpen) this.socket.send(JSON.stringify(message));
  }

  ask(type, fields = {}) {
    const id = ++this.count;
    return new Promise((resolve, reject) => {
      if (!this.isOpen) return reject(new Error("There is no connection to the studio."));
      const text = JSON.stringify({ type, id, ...fields });
      if (new Blob([text]).size > this.largest) { // the server would close the connection
        return reject(new Error("That is too much for one message; choose fewer."));
      }
      this.waiting.set(id, { resolve, reject });
      this.socket.send(text);
    });
  }

  // Ask for a person who did something: what the notice said before is over.
  attempt(type, fields) {
    notice(null);
    return this.request(type, fields);
  }

  // Ask, and show why it was refused; the reply is null then.
  async request(type, fields) {
    try {
      return await this.ask(type, fields);
    } catch (error) {
      notice(error.message);
      return null;
    }
  }

  receive(data) {
    const message = typeof data === "string" ? JSON.parse(data) : unpack(data);
    if (message.type === "reply" || message.type === "refused") {
      const call = this.waiting.get(message.id);
      this.waiting.delete(message.id);
      if (message.type === "reply") call?.resolve(message);
      else call?.reject(new Error(sentence(message.text)));
      return;
    }
    if (message.type === "frame") this.post({ type: "frame.seen", slot: message.slot });
    if (message.type === "pong") return this.measure(message);
    if (message.type === "welcome") this.welcome(message);
    if (message.type === "replaced") this.replaced(message);
    this.tell(message.type, message);
  }

  replaced(message) {
    this.isReplaced = true;
    this.replacement = `${message.text} Close this tab, or reload it to take the session back.`;
  }

  welcome(message) {
    sessionStorage.person = message.person;
    this.largest = message.largest_message;
    this.isReplaced = false;
    this.delay = 250;
    this.attempts = 0;
    this.best = Infinity;
    for (let i = 0; i < 10; i++) setTimeout(() => this.ping(), 60 * i);
    clearInterval(this.timer);
    this.timer = setInterval(() => this.ping(), 2000);
  }

  ping() {
    this.post({ type: "ping", sent: performance.now() });
  }

  // The shortest round trip tells the server's clock best. It ages, as the two clocks drift apart
  // by some tens of milliseconds an hour.
  measure({ sent, now }) {
    const here = performance.now();
    this.best *= AGEING;
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
