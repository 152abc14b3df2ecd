// Tables whose columns sort, and whose rows can be chosen with the keyboard.

import { button, el, fill, number } from "./dom.js";

const MOST_LINES = 500; // more are drawn only when somebody asks for them

export class Table {
  // `columns`: {key, title, text?, digits?}; `pick(row)` when a row is chosen; rows have a name.
  constructor(caption, columns, pick, ticks = null) {
    Object.assign(this, { columns, pick, ticks, rows: [], chosen: null, by: null, down: false });
    this.head = el("tr");
    this.body = el("tbody");
    this.most = MOST_LINES;
    this.more = button("", () => { this.most *= 4; this.draw(); }, { hidden: true });
    const table = el("table", { role: pick ? "grid" : null }, el("caption", { class: "gone" }, caption), el("thead", {}, this.head), this.body);
    this.element = el("div", { class: "scroll", tabindex: pick ? null : "0", role: "region", "aria-label": caption }, table, this.more);
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
    if (!this.pick) return;
    for (const row of this.body.children) row.setAttribute("aria-selected", String(row.dataset.name === name));
    this.stop(this.body.querySelector("[aria-selected=true]") ?? this.body.firstChild);
  }

  // One row is a stop of the Tab key; arrows move between rows.
  stop(row) {
    for (const other of this.body.querySelectorAll("[tabindex='0']")) other.tabIndex = -1;
    if (row) row.tabIndex = 0;
  }

  sorted() {
    return this.by === null ? this.rows : [...this.rows].sort((a, b) =>
      compare(a[this.by], b[this.by], this.down));
  }

  // Tick the first rows in the order that is shown, and no others; a row without a value in the
  // column of the order has no place in it.
  tickFirst(count) {
    this.ticks.clear();
    const ranked = this.sorted().filter((row) => this.by === null || !isMissing(row[this.by]));
    for (const row of ranked.slice(0, count)) this.ticks.add(row.name);
    this.draw();
  }

  draw() {
    fill(this.head, this.ticks ? el("th", { class: "tick" }, el("span", { class: "gone" }, "selected")) : null,
      this.columns.map(({ key, title, text }) => el("th", {
        scope: "col", class: text ? "text" : null,
        "aria-sort": this.by === key ? (this.down ? "descending" : "ascending") : "none",
      }, button(this.by === key ? `${title} ${this.down ? "↓" : "↑"}` : title, () => this.sort(key)))));
    const sorted = this.sorted();
    fill(this.body, sorted.slice(0, this.most).map((row) => this.line(row)));
    this.more.hidden = sorted.length <= this.most;
    this.more.textContent = `Show more: ${this.most} of ${sorted.length} rows are here`;
    this.choose(this.chosen);
  }

  key(event, row, box) {
    const line = event.currentTarget;
    const next = { ArrowDown: line.nextSibling, ArrowUp: line.previousSibling }[event.key];
    if (next) {
      this.stop(next);
      next.focus();
    } else if (event.key === "Enter") this.pick?.(row);
    else if (event.key === " " && box && event.target === line) box.click();
    else return;
    event.preventDefault();
  }

  line(row) {
    const box = this.ticks && el("input", {
      type: "checkbox", tabindex: "-1", "aria-label": `select ${row.name}`, checked: this.ticks.has(row.name),
      onclick: (event) => event.stopPropagation(),
      onchange: (event) => (event.target.checked ? this.ticks.add(row.name) : this.ticks.delete(row.name)),
    });
    return el("tr", {
      tabindex: this.pick ? "-1" : null, "data-name": row.name,
      onclick: () => this.pick?.(row),
      onkeydown: (event) => this.key(event, row, box),
    }, box && el("td", { class: "tick" }, box), this.columns.map(({ key, text, digits }) =>
      el("td", { class: text ? "text" : null }, show(row[key], text, digits))));
  }
}

// The ticked rows as run lengths: rows to skip, rows to take, rows to skip, and so on.
export function runLengths(rows, ticks) {
  const runs = [];
  let isTaken = false, length = 0;
  for (const { name } of rows) {
    if (ticks.has(name) !== isTaken) {
      runs.push(length);
      [isTaken, length] = [!isTaken, 0];
    }
    length += 1;
  }
  return isTaken ? [...runs, length] : runs;
}

function isMissing(value) {
  return value === null || value === undefined;
}

function show(value, isText, digits = 0) {
  if (isMissing(value)) return "–";
  if (typeof value === "boolean") return value ? "yes" : "no";
  return isText ? String(value) : number(value, digits);
}

// Missing values come last, whichever the direction.
function compare(a, b, isDown) {
  if (isMissing(a) || isMissing(b)) return isMissing(a) - isMissing(b);
  const order = typeof a === "string" ? a.localeCompare(b, undefined, { numeric: true }) : a - b;
  return isDown ? -order : order;
}
