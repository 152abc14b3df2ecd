// Pictures of the worlds, drawn from what a policy observes. Each scene maps the canvas to the
// world, so that a pointer can be read in the world's units.

const BLUE = "#285ab4", ORANGE = "#e16e14", GREY = "#78808a";

// A view of a plane: x from left to right, y upwards, as large as fits.
class View {
  constructor(context, width, height, box) {
    const [left, right, bottom, top] = box;
    this.context = context;
    this.scale = Math.min(width / (right - left), height / (top - bottom));
    this.x0 = width / 2 - (this.scale * (left + right)) / 2;
    this.y0 = height / 2 + (this.scale * (bottom + top)) / 2;
  }

  at(x, y) { return [this.x0 + this.scale * x, this.y0 - this.scale * y]; }
  world(px, py) { return [(px - this.x0) / this.scale, (this.y0 - py) / this.scale]; }

  disc(x, y, radius, fill, alpha = 1) {
    const c = this.context;
    c.globalAlpha = alpha;
    c.fillStyle = fill;
    c.beginPath();
    c.arc(...this.at(x, y), radius * this.scale, 0, 2 * Math.PI);
    c.fill();
    c.globalAlpha = 1;
  }

  ring(x, y, radius, stroke, width) {
    const c = this.context;
    c.strokeStyle = stroke;
    c.lineWidth = width * this.scale;
    c.beginPath();
    c.arc(...this.at(x, y), radius * this.scale, 0, 2 * Math.PI);
    c.stroke();
  }

  line(points, stroke, width, dash = []) {
    const c = this.context;
    c.strokeStyle = stroke;
    c.lineWidth = width * this.scale;
    c.lineCap = "round";
    c.setLineDash(dash.map((d) => d * this.scale));
    c.beginPath();
    points.forEach((p, i) => (i ? c.lineTo(...this.at(...p)) : c.moveTo(...this.at(...p))));
    c.stroke();
    c.setLineDash([]);
  }

  polygon(points, fill) {
    const c = this.context;
    c.fillStyle = fill;
    c.beginPath();
    points.forEach((p, i) => (i ? c.lineTo(...this.at(...p)) : c.moveTo(...this.at(...p))));
    c.fill();
  }

  rect(x, y, w, h, fill) {
    this.polygon([[x, y], [x + w, y], [x + w, y + h], [x, y + h]], fill);
  }
}

const intersection = {
  box: () => [-15, 15, -15, 15],
  place: (obs) => [obs[0], obs[1]],
  draw(view, obs, trail) {
    view.rect(-15, -15, 30, 30, "#d8e2ce");
    view.rect(-3, -15, 6, 30, "#96989c");
    view.rect(-15, -3, 30, 6, "#96989c");
    view.ring(10, 0, 1, ORANGE, 0.4);
    view.ring(0, 10, 1, BLUE, 0.4);
    for (const old of trail) {
      view.disc(old[0], old[1], 0.2, ORANGE);
      view.disc(old[2], old[3], 0.2, BLUE);
    }
    drawCar(view, obs[2], obs[3], BLUE);
    drawCar(view, obs[0], obs[1], ORANGE);
  },
};

// A car beyond the picture is a half disc on its edge, so that nobody has to search for it.
function drawCar(view, x, y, fill) {
  const inside = (value) => Math.min(15, Math.max(-15, value));
  view.disc(inside(x), inside(y), 0.7, fill, x === inside(x) && y === inside(y) ? 1 : 0.6);
}

const cartpole = {
  box: () => [-2.7, 2.7, -0.5, 1.7],
  place: (obs) => [obs[0], 0.26],
  draw(view, obs) {
    const [x, , theta] = obs;
    const tip = (angle, length) => [x + length * Math.sin(angle), 0.26 + length * Math.cos(angle)];
    view.rect(-2.7, -0.5, 5.4, 0.5, "#d8dce0");
    view.rect(-2.7, 0, 5.4, 1.7, "#f4f6f8");
    view.line([[-2.7, 0], [2.7, 0]], GREY, 0.024);
    for (const side of [-1, 1]) {
      view.line([[2.4 * side, 0], [2.4 * side, 0.22]], "#cd5a46", 0.04);
      const lean = (12 * Math.PI) / 180 * side;
      view.line([tip(lean, 0.3), tip(lean, 1.1)], "#cd5a4673", 0.012);
    }
    view.rect(x - 0.29, 0.11, 0.58, 0.18, BLUE);
    view.disc(x - 0.17, 0.07, 0.07, GREY);
    view.disc(x + 0.17, 0.07, 0.07, GREY);
    view.line([[x, 0.26], tip(theta, 1)], ORANGE, 0.08);
    view.disc(x, 0.26, 0.02, "#fafafa");
  },
};

const airHockey = {
  box: () => [-0.04, 1.64, -0.44, 0.44],
  place: (obs) => [obs[0], obs[1]],
  draw(view, obs, trail) {
    view.rect(-0.04, -0.44, 1.68, 0.88, "#3a4252");
    view.rect(-0.04, -0.4, 0.04, 0.8, "#963e3a");
    view.rect(0, -0.4, 1.6, 0.8, "#f4f7fa");
    view.line([[0.8, -0.4], [0.8, 0.4]], "#e2807c", 0.012);
    view.ring(0.8, 0, 0.15, "#e2807c", 0.01);
    view.line([[0.7, -0.4], [0.7, 0.4]], "#96b6e0", 0.006, [0.02, 0.02]);
    trail.slice(-16).forEach((old, i) => view.disc(old[2], old[3], 0.03, "#ce2c28", 0.02 * i));
    view.disc(obs[2], obs[3], 0.04, "#ce2c28");
    view.disc(obs[0], obs[1], 0.1, "#225cb0");
    view.disc(obs[0], obs[1], 0.045, "#5a8ed6");
  },
};

// The block of Push-T: two bars of 30-pixel units around its centre of gravity.
const TEE = [[[-60, 0], [60, 0], [60, 30], [-60, 30]], [[-15, 30], [15, 30], [15, 120], [-15, 120]]];
function tee(x, y, angle) {
  const [c, s] = [Math.cos(angle), Math.sin(angle)];
  return TEE.map((bar) => bar.map(([u, v]) => [x + c * u - s * v, 512 - (y + s * u + c * v)]));
}
const pushT = {
  box: () => [0, 512, 0, 512],
  place: (obs) => [obs[0], 512 - obs[1]],
  draw(view, obs) {
    view.rect(0, 0, 512, 512, "#f4f6f8");
    view.line([[5, 5], [507, 5], [507, 507], [5, 507], [5, 5]], GREY, 2);
    for (const bar of tee(256, 256, Math.PI / 4)) view.polygon(bar, "#a5d6a7");
    for (const bar of tee(obs[2], obs[3], obs[4])) view.polygon(bar, "#708090");
    view.disc(obs[0], 512 - obs[1], 15, "#4169e1");
  },
};

export const SCENES = {
  intersection, cartpole, "cartpole-hard": cartpole, "air-hockey": airHockey, "push-t": pushT,
};

const hidden = document.createElement("canvas");
function drawPixels(canvas, shape, pixels) {
  const [height, width] = shape;
  hidden.width = width;
  hidden.height = height;
  const image = new ImageData(width, height);
  for (let i = 0, j = 0; i < pixels.length; i += 3, j += 4) {
    image.data[j] = pixels[i];
    image.data[j + 1] = pixels[i + 1];
    image.data[j + 2] = pixels[i + 2];
    image.data[j + 3] = 255;
  }
  hidden.getContext("2d").putImageData(image, 0, 0);
  const scale = Math.min(canvas.width / width, canvas.height / height);
  const context = canvas.getContext("2d");
  context.imageSmoothingEnabled = false;
  context.drawImage(hidden, (canvas.width - scale * width) / 2, (canvas.height - scale * height) / 2,
    scale * width, scale * height);
}

export function fit(canvas) {
  const ratio = window.devicePixelRatio || 1;
  const [width, height] = [canvas.clientWidth * ratio, canvas.clientHeight * ratio].map(Math.round);
  if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
}

// Draw a world; returns the view of its plane, or null for images and unknown worlds.
export function drawScene(canvas, world, state, trail = []) {
  fit(canvas);
  const context = canvas.getContext("2d");
  context.clearRect(0, 0, canvas.width, canvas.height);
  if (state.pixels) {
    drawPixels(canvas, state.shape, state.pixels);
    return null;
  }
  const scene = SCENES[world];
  if (!scene || !state.obs) return null;
  const view = new View(context, canvas.width, canvas.height, scene.box());
  scene.draw(view, state.obs, trail);
  return view;
}

// The point of the world under a pointer event.
export function pointed(canvas, world, event) {
  const scene = SCENES[world];
  if (!scene) return null;
  const box = canvas.getBoundingClientRect();
  const view = new View(null, box.width, box.height, scene.box());
  return view.world(event.clientX - box.left, event.clientY - box.top);
}
