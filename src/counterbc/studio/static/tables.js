// Tables whose columns sort, and whose rows can be chosen with the keyboard.

import { button, el, fill, number } from "./dom.js";

export class Table {
  // `columns`: {key, title, text?, digits?}; `pick(row)` when a row is chosen; rows have a name.
  constructor(caption, columns, pick, ticks = null) {
    Object.assign(this, { columns, pick, ticks, rows: [], chosen: null, by: null, down: false });
    this.head = el("tr");
    this.body = el("tbody");
    this.element = el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
      el("table", {}, el("caption", { class: "gone" }, caption), el("thead", {}, this.head), this.body));
  }

  show(rows) {
    this.rows = rows;
    this.draw();
  }

  sort(key) {
    this.down = this.by === key ? !this.down : false;
    this.by = key;
    this.draw();
  }

  choose(name) {
    this.chosen = name;
    for (const row of this.body.children) row.setAttribute("aria-selected", String(row.dataset.name === name));
  }

  draw() {
    fill(this.head, this.ticks ? el("th", { class: "text" }, el("span", { class: "gone" }, "selected")) : null,
      this.columns.map(({ key, title, text }) => el("th", {
        scope: "col", class: text ? "text" : null,
        "aria-sort": this.by === key ? (this.down ? "descending" : "ascending") : "none",
      }, button(this.by === key ? `${title} ${this.down ? "↓" : "↑"}` : title, () => this.sort(key)))));
    const sorted = this.by === null ? this.rows : [...this.rows].sort((a, b) =>
      (this.down ? -1 : 1) * compare(a[this.by], b[this.by]));
    fill(this.body, sorted.map((row) => this.line(row)));
    this.choose(this.chosen);
  }

  line(row) {
    const tick = this.ticks && el("td", { class: "text" }, el("input", {
      type: "checkbox", "aria-label": `select ${row.name}`, checked: this.ticks.has(row.name),
      onclick: (event) => event.stopPropagation(),
      onchange: (event) => (event.target.checked ? this.ticks.add(row.name) : this.ticks.delete(row.name)),
    }));
    return el("tr", {
      tabindex: this.pick ? "0" : null, "data-name": row.name,
      onclick: () => this.pick?.(row),
      onkeydown: (event) => { if (event.key === "Enter") this.pick?.(row); },
    }, tick, this.columns.map(({ key, text, digits }) =>
      el("td", { class: text ? "text" : null }, show(row[key], text, digits))));
  }
}

function show(value, isText, digits = 0) {
  if (value === null || value === undefined) return "–";
  if (typeof value === "boolean") return value ? "yes" : "no";
  return isText ? String(value) : number(value, digits);
}

function compare(a, b) {
  if (a === b) return 0;
  if (a === null || a === undefined) return 1;
  if (b === null || b === undefined) return -1;
  return typeof a === "string" ? a.localeCompare(b, undefined, { numeric: true }) : a - b;
}
