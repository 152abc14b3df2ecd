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

export function fill(element, ...children) {
  element.replaceChildren(...children.flat().filter((child) => child !== null && child !== undefined));
}

export function facts(rows) {
  return el("dl", { class: "facts" }, rows.filter(Boolean).flatMap(([name, value]) => [
    el("dt", {}, name), el("dd", { class: name.replaceAll(" ", "-") }, String(value)),
  ]));
}

export function button(text, onclick, attributes = {}) {
  return el("button", { type: "button", onclick, ...attributes }, text);
}

export function select(id, options, value, onchange) {
  const list = el("select", { id, onchange }, options.map(([key, text]) =>
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

export function notice(text) {
  const line = document.getElementById("notice");
  line.textContent = text ?? "";
  line.hidden = !text;
}

// A colour of the style sheet, for canvases.
export function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}
