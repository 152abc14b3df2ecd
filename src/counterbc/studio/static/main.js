// The page: three views behind one connection.

import { Collect } from "./collect.js";
import { notice } from "./dom.js";
import { Link } from "./link.js";
import { Look } from "./look.js";
import { Watch } from "./watch.js";

const link = new Link();
const status = document.getElementById("connection");
const views = {};

function show(name) {
  const chosen = name in views ? name : "collect";
  for (const section of document.querySelectorAll("main > section")) {
    section.hidden = section.id !== chosen;
  }
  for (const anchor of document.querySelectorAll("nav a")) {
    if (anchor.dataset.view === chosen) anchor.setAttribute("aria-current", "page");
    else anchor.removeAttribute("aria-current");
  }
  for (const [key, view] of Object.entries(views)) if (key !== chosen) view.hide?.();
  views[chosen]?.show?.();
}

link.on("welcome", (facts) => {
  status.className = "";
  status.textContent = `Study “${facts.study}”`;
  notice(null);
  if (!Object.keys(views).length) {
    views.collect = new Collect(document.getElementById("collect"), link, facts);
    views.look = new Look(document.getElementById("look"), link);
    views.watch = new Watch(document.getElementById("watch"), link);
    show(location.hash.slice(1));
  }
  for (const view of Object.values(views)) view.connected?.(facts);
});
link.on("lost", ({ text, refused }) => {
  status.className = "lost";
  status.textContent = "Connection lost; trying again…";
  for (const view of Object.values(views)) view.lost?.();
  if (refused && text) notice(text);
});
link.on("replaced", ({ text }) => {
  status.className = "lost";
  status.textContent = text;
  notice(`${text} Close this tab, or reload it to take the session back.`);
});
link.on("problem", ({ text }) => notice(text));
addEventListener("hashchange", () => show(location.hash.slice(1)));

await link.login();
link.open();
