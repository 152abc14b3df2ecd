// Elements from values. Text is always set as text, so that names from people and files never
// become markup.

export function el(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === false || value === null || value === undefined) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name in element && name !== "list" && typeof value !== "string") element[name] = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

// Replace the children; the focus stays on the control with the same text. It never moves to
// another one, where the next Space or Enter would do something that nobody asked for.
export function fill(element, ...children) {
  const text = (control) => (control.value || control.textContent).replace(/ [↑↓]$/, "");
  const active = document.activeElement;
  const hadFocus = element.contains(active);
  element.replaceChildren(...children.flat().filter((child) => child !== null && child !== undefined));
  if (!hadFocus) return;
  const controls = [...element.querySelectorAll("button, input, select, tr[tabindex]")];
  controls.find((control) => text(control) === text(active))?.focus();
}

export function facts(rows) {
  return el("dl", { class: "facts" }, rows.filter(Boolean).flatMap(([name, value]) => [
    el("dt", {}, name), el("dd", { class: name.replaceAll(" ", "-") }, String(value)),
  ]));
}

export function button(text, onclick, attributes = {}) {
  return el("button", { type: "button", onclick, ...attributes }, text);
}

export function select(id, options, value, onchange, label = null) {
  const list = el("select", { id, onchange, "aria-label": label }, options.map(([key, text]) =>
    el("option", { value: key, selected: key === value }, text)));
  return list;
}

export function clock(seconds) {
  const whole = Math.max(0, Math.ceil(seconds));
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
}

export function number(value, digits = 2) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  return Number(value).toFixed(digits).replace("-", "−");
}

// What a list leaves out; null where it is complete.
export function unlisted(count, kind, option) {
  if (!count) return null;
  const one = count === 1;
  return el("p", { class: "hint" }, `${count} more ${kind}${one ? "" : "s"} of this study ${one ? "is" : "are"} not listed. To open ${one ? "it" : "one of them"}, start the studio with ${option}.`);
}

export function notice(text) {
  const line = document.getElementById("notice");
  line.textContent = text ?? "";
  line.hidden = !text;
}

// A reason of the server as a sentence.
export function sentence(text) {
  return text && `${text[0].toUpperCase()}${text.slice(1)}${/[.!?…]$/.test(text) ? "" : "."}`;
}

// A colour of the style sheet, for canvases.
export function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}
