// The form before a session: world, operator, protocol and consent.

import { el, select } from "./dom.js";

const FORMATS = { robomimic: "robomimic HDF5", lerobot: "LeRobot", minari: "Minari" };
const SPEEDS = [[1, "real time"], [0.5, "half speed"], [0.25, "quarter speed"]];

export const FIRST_CHOICE = { world: "intersection", operator: "", protocol: "paper", format: "robomimic", speed: 1 };

// `choice` is what the form begins with: everything but the consent stays from one operator to the next.
export function setup(facts, choice, begin) {
  const worlds = facts.worlds.map((world) => card(world, choice.world));
  const name = el("input", { type: "text", id: "operator", maxlength: "80", required: true, autocomplete: "off", value: choice.operator });
  const protocol = select("protocol", [["paper", ""], ["free", "no limits"]], choice.protocol, () => explain());
  const format = select("format", facts.formats.map((key) => [key, FORMATS[key] ?? key]), choice.format);
  const speed = select("speed", SPEEDS.map(([value, text]) => [String(value), text]), String(choice.speed));
  const isUsual = choice.format === FIRST_CHOICE.format && choice.speed === FIRST_CHOICE.speed;
  const agreed = el("input", { type: "checkbox", id: "agreed", required: true });
  const text = el("p", { class: "consent", tabindex: "0", role: "region", "aria-labelledby": "consent-title" });
  const hint = el("p", { class: "hint" });
  const explain = () => {
    const world = facts.worlds.find((item) => item.name === form.world.value);
    protocol.options[0].textContent = world.in_paper ? "the paper's protocol" : "a preset (not in the paper)";
    hint.textContent = protocol.value === "paper" ? describe(world) : "Practise and record for as long as you like.";
  };
  const form = el("form", { class: "panel", onsubmit: (event) => {
    event.preventDefault();
    begin({
      world: form.world.value, operator: name.value, protocol: protocol.value,
      format: format.value, speed: Number(speed.value), agreed: agreed.checked,
      consent: text.dataset.sha256, // of the text that is shown
    });
  }, onchange: () => explain() },
  el("h2", {}, "Record demonstrations"),
  el("fieldset", { class: "worlds" }, el("legend", {}, "World"), worlds),
  el("label", { for: "operator" }, "Operator"),
  name,
  el("p", { class: "hint" }, "Any name that tells this person's recordings from others'."),
  el("label", { for: "protocol" }, "Protocol"),
  protocol,
  hint,
  el("details", { open: !isUsual },
    el("summary", {}, "More options"),
    el("label", { for: "format" }, "File format"), format,
    el("label", { for: "speed" }, "Pace of the world"), speed),
  el("h3", { id: "consent-title" }, "Consent"),
  text,
  el("label", { class: "inline", for: "agreed" }, agreed, "I have read this and agree."),
  el("div", { class: "row" }, el("button", { class: "main", type: "submit" }, "Begin")));
  showConsent(form, facts);
  queueMicrotask(explain);
  return form;
}

// Show the consent text in a form, to be agreed to anew; return whether it showed another one.
export function showConsent(form, facts) {
  const text = form.querySelector(".consent");
  const before = text.dataset.sha256;
  if (before === facts.consent_sha256) return false;
  text.textContent = facts.consent;
  text.dataset.sha256 = facts.consent_sha256;
  form.querySelector("#agreed").checked = false;
  return before !== undefined;
}

function card(world, chosen) {
  const input = el("input", {
    type: "radio", name: "world", value: world.name, disabled: Boolean(world.install),
    checked: world.name === chosen,
  });
  return el("label", {}, input, world.label,
    el("small", {}, world.install ? "not installed:" : `${world.rate} steps per second`),
    world.install ? el("code", {}, world.install) : null);
}

function describe(world) {
  const { practice, episodes, pairs } = world.preset;
  const amount = world.name === "car-racing" ? "one lap"
    : episodes ? `${episodes} episodes` : `${pairs} steps (${Math.round(pairs / world.rate)} seconds)`;
  return `Up to ${practice / 60} minutes of practice, then ${amount}.`;
}
