// The page: three views behind one connection.

import { Collect } from "./collect.js";
import { notice, sentence } from "./dom.js";
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
  if (!link.isAtFault) notice(null); // why the page was cut off stays until it does something
  if (!Object.keys(views).length) {
    views.collect = new Collect(document.getElementById("collect"), link, facts);
    views.look = new Look(document.getElementById("look"), link);
    views.watch = new Watch(document.getElementById("watch"), link);
    show(location.hash.slice(1));
  }
  for (const view of Object.values(views)) view.connected?.(facts);
});
link.on("lost", ({ text, attempts }) => {
  status.className = "lost";
  status.textContent = attempts < 4 ? "Connection lost; trying again…"
    : "Connection lost; trying again… If the studio was started again, open the address that it printed.";
  for (const view of Object.values(views)) view.lost?.();
  if (text) notice(text);
});
link.on("replaced", ({ text }) => {
  status.className = "lost";
  status.textContent = text;
  notice(link.replacement);
  for (const view of Object.values(views)) view.replaced?.(text);
});
link.on("problem", ({ text }) => notice(sentence(text)));
addEventListener("hashchange", async () => {
  if (await link.login()) link.retry(); // a new address in an old tab: the studio was started again
  else show(location.hash.slice(1));
});

await link.login();
link.open();
