// Plots on canvases: time series, arrows along a path, and the loss landscape of one state.

import { colour, number } from "./dom.js";
import { fit } from "./scenes.js";

const PAD = { left: 52, right: 10, top: 8, bottom: 22 };
const TITLE = 18; // height of the name above each series
const GAP = 4; // below each series

function prepare(canvas) {
  fit(canvas);
  const context = canvas.getContext("2d");
  const ratio = window.devicePixelRatio || 1;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, canvas.clientWidth, canvas.clientHeight);
  context.font = "12px system-ui, sans-serif";
  return [context, canvas.clientWidth, canvas.clientHeight];
}

function range(values) {
  let [low, high] = [Infinity, -Infinity];
  for (const value of values) {
    if (!Number.isFinite(value)) continue;
    if (value < low) low = value;
    if (value > high) high = value;
  }
  if (low > high) [low, high] = [0, 1];
  if (high - low < 1e-9) [low, high] = [low - 0.5, high + 0.5];
  const margin = 0.06 * (high - low);
  return [low - margin, high + margin];
}

// A value with as many digits as its range needs.
function tickText(value, low, high) {
  const digits = 1 - Math.floor(Math.log10(high - low));
  return number(value, Math.min(6, Math.max(0, digits))).replace(/^−(0\.?0*)$/, "$1");
}

// One panel per dimension below each other, from `first` on; each line is {values (T × D), stroke, width, dash}.
export function drawSeries(canvas, { names, first }, lines, step) {
  const [context, width, height] = prepare(canvas);
  const each = (height - PAD.bottom + GAP) / names.length;
  const count = Math.max(...lines.map((line) => line.values.length), 2);
  const x = (t) => PAD.left + (t / (count - 1)) * (width - PAD.left - PAD.right);
  names.forEach((name, d) => {
    const columns = lines.map((line) => line.values.map((row) => row[first + d]));
    const [low, high] = range(columns.flat());
    const y = (v) => each * d + TITLE + (1 - (v - low) / (high - low)) * (each - TITLE - GAP);
    context.strokeStyle = colour("line");
    context.lineWidth = 1;
    context.strokeRect(PAD.left, y(high), width - PAD.left - PAD.right, y(low) - y(high));
    context.fillStyle = colour("soft");
    context.textAlign = "right";
    context.fillText(tickText(high, low, high), PAD.left - 5, y(high) + 9);
    context.fillText(tickText(low, low, high), PAD.left - 5, y(low));
    context.textAlign = "left";
    columns.forEach((values, i) => polyline(context, values, x, y, lines[i]));
    context.fillText(name, PAD.left + 4, y(high) - 5);
  });
  context.strokeStyle = colour("text");
  context.lineWidth = 1;
  context.beginPath();
  context.moveTo(x(step), 0);
  context.lineTo(x(step), height - PAD.bottom);
  context.stroke();
  context.fillStyle = colour("soft");
  context.textAlign = "right";
  context.fillText("steps", width - PAD.right, height - 6);
  return (px) => Math.round(Math.min(count - 1, Math.max(0, ((px - PAD.left) / (width - PAD.left - PAD.right)) * (count - 1))));
}

function polyline(context, values, x, y, { stroke, width = 1.6, dash = [] }) {
  context.strokeStyle = stroke;
  context.lineWidth = width;
  context.setLineDash(dash);
  context.beginPath();
  let isDown = false;
  values.forEach((value, t) => {
    if (!Number.isFinite(value)) { isDown = false; return; }
    if (isDown) context.lineTo(x(t), y(value));
    else context.moveTo(x(t), y(value));
    isDown = true;
  });
  context.stroke();
  context.setLineDash([]);
}

// An arrow; a lit one has a white edge, to stand out from others.
export function arrow(context, from, to, stroke, width, isLit = false) {
  const [dx, dy] = [to[0] - from[0], to[1] - from[1]];
  const length = Math.hypot(dx, dy);
  const size = length < 3 ? 0 : Math.min(3.5 * width, 0.5 * length); // of the head
  const [ux, uy] = [dx / (length || 1), dy / (length || 1)];
  const neck = [to[0] - size * ux, to[1] - size * uy];
  const draw = (colour, edge) => {
    context.strokeStyle = context.fillStyle = colour;
    context.lineWidth = width + edge;
    context.beginPath();
    context.moveTo(...from);
    context.lineTo(...neck);
    context.stroke();
    context.beginPath();
    context.moveTo(...to);
    context.lineTo(neck[0] + 0.5 * size * uy, neck[1] - 0.5 * size * ux);
    context.lineTo(neck[0] - 0.5 * size * uy, neck[1] + 0.5 * size * ux);
    context.closePath();
    context.lineWidth = edge;
    if (edge) context.stroke();
    context.fill();
  };
  if (isLit) draw("#ffffff", width);
  draw(stroke, 0);
}

// A plane of any two observations, for data of no known world.
export function planeView(canvas, xs, ys) {
  fit(canvas);
  const [[left, right], [bottom, top]] = [range(xs), range(ys)];
  const [width, height] = [canvas.width, canvas.height];
  const context = canvas.getContext("2d");
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.clearRect(0, 0, width, height);
  const scale = 0.85 * Math.min(width / (right - left), height / (top - bottom)); // arrows need room
  return { context, scale, at: (x, y) => [
    width / 2 + scale * (x - (left + right) / 2), height / 2 - scale * (y - (bottom + top) / 2),
  ] };
}

// Colours from low (blue) to high (yellow), readable in both themes and without red and green.
function shade(share) {
  const s = Math.min(1, Math.max(0, share));
  return `hsl(${250 - 195 * s} ${60 + 25 * s}% ${30 + 45 * s}%)`;
}

export function drawLandscape(canvas, data, names) {
  const [context, width, height] = prepare(canvas);
  if (data.dims.length === 1) return drawCurve(context, width, height, data, names);
  const side = Math.min(width - 60, height - 40);
  const [x0, y0] = [(width - side) / 2 + 10, 8];
  const at = (v) => [x0 + ((v[0] + 1) / 2) * side, y0 + ((1 - v[1]) / 2) * side];
  const flat = data.loss.flat().sort((a, b) => a - b);
  const [low, high] = [flat[0], flat[Math.floor(0.9 * flat.length)]];
  const cell = side / data.line.length;
  data.loss.forEach((row, j) => row.forEach((value, i) => {
    context.fillStyle = shade((value - low) / (high - low || 1));
    context.fillRect(x0 + i * cell, y0 + side - (j + 1) * cell, cell + 1, cell + 1);
  }));
  const circle = (centre, rx, ry, dash) => {
    context.save();
    context.beginPath();
    context.rect(x0, y0, side, side);
    context.clip();
    for (const [stroke, lineWidth] of [["#ffffffc0", 4], ["#000", 1.6]]) {
      Object.assign(context, { strokeStyle: stroke, lineWidth });
      context.setLineDash(stroke === "#000" ? dash : []);
      context.beginPath();
      context.ellipse(...at(centre), (rx * side) / 2, (ry * side) / 2, 0, 0, 2 * Math.PI);
      context.stroke();
    }
    context.restore();
  };
  circle(data.shown, data.radius, data.radius, [6, 4]);
  for (const k of [1, 2]) circle(data.mean, k * data.std[0], k * data.std[1], []);
  const [px, py] = at(data.shown);
  context.strokeStyle = "#000";
  context.lineWidth = 2.4;
  context.beginPath();
  context.moveTo(px - 7, py); context.lineTo(px + 7, py);
  context.moveTo(px, py - 7); context.lineTo(px, py + 7);
  context.stroke();
  context.fillStyle = colour("soft");
  context.textAlign = "center";
  context.fillText(names[data.dims[0]], x0 + side / 2, y0 + side + 18);
  context.save();
  context.translate(x0 - 8, y0 + side / 2);
  context.rotate(-Math.PI / 2);
  context.fillText(names[data.dims[1]], 0, 0);
  context.restore();
  return null;
}

function drawCurve(context, width, height, data, names) {
  const [low, high] = range(data.loss);
  const x = (v) => PAD.left + ((v + 1) / 2) * (width - PAD.left - PAD.right);
  const y = (v) => PAD.top + (1 - (v - low) / (high - low)) * (height - PAD.top - PAD.bottom);
  context.fillStyle = colour("line");
  context.globalAlpha = 0.5;
  context.fillRect(x(data.shown[0] - data.radius), PAD.top, x(data.radius) - x(-data.radius), height - PAD.top - PAD.bottom);
  context.globalAlpha = 1;
  for (const [value, stroke] of [[data.shown[0], colour("shown")], [data.mean[0], colour("meant")]]) {
    polyline(context, [low, high], () => x(value), y, { stroke, width: 2 });
  }
  polyline(context, data.loss, (t) => x(data.line[t]), y, { stroke: colour("text"), width: 2 });
  context.fillStyle = colour("soft");
  context.textAlign = "center";
  context.fillText(names[data.dims[0]], width / 2, height - 6);
  context.textAlign = "right";
  context.fillText(tickText(high, low, high), PAD.left - 5, PAD.top + 9);
  context.fillText(tickText(low, low, high), PAD.left - 5, height - PAD.bottom);
  return null;
}
