// The worlds, as in src/counterbc/envs: the same operations in the same order, so that an episode
// is the same here and in Python. An episode is a function of its key and its actions.

import { uniform } from "./draws.js";

const EGO_GOAL = [10, 0], OTHER_GOAL = [0, 10];
const START_LOW = [-10, -10, -10, -10], START_HIGH = [0, 10, 10, 0];
const CANDIDATES = 100;

function distance(a, b) {
  const dx = a[0] - b[0], dy = a[1] - b[1];
  return Math.sqrt(dx * dx + dy * dy);
}

function intoDisc(action) {
  const size = Math.max(distance(action, [0, 0]), 1);
  return [action[0] / size, action[1] / size];
}

function moved(at, action) { return [at[0] + action[0], at[1] + action[1]]; }

function cost(at, otherAt, goal, action) {
  const after = moved(at, action);
  const progress = distance(after, goal) - distance(at, goal);
  return progress + 0.75 * (distance(at, otherAt) - distance(after, otherAt));
}

// The best of 100 candidates: what the other car does.
function search(at, otherAt, goal, key, t) {
  const u = uniform(key, "intersection other", t, 2 * CANDIDATES);
  let [best, least] = [null, Infinity];
  for (let i = 0; i < CANDIDATES; i++) {
    const candidate = intoDisc([2 * u[i] - 1, 2 * u[CANDIDATES + i] - 1]);
    const price = cost(at, otherAt, goal, candidate);
    if (price < least) [best, least] = [candidate, price];
  }
  return best;
}

const intersection = {
  steps: 20,
  start(key) {
    const u = uniform(key, "intersection start", 0, 4);
    return u.map((value, i) => START_LOW[i] + (START_HIGH[i] - START_LOW[i]) * value);
  },
  advance(state, action, key, t) {
    const [ego, other] = [state.slice(0, 2), state.slice(2)];
    const step = intoDisc(action);
    const reply = search(other, ego, OTHER_GOAL, key, t);
    const reward = -cost(ego, other, EGO_GOAL, step);
    return { state: [...moved(ego, step), ...moved(other, reply)], reward, terminated: false };
  },
};

const GRAVITY = 9.8, MASS = 1.1, SHARE = 0.1 / 1.1, HALF_LENGTH = 0.5, FORCE = 10, DT = 0.02;
const X_LIMIT = 2.4, THETA_LIMIT = (12 * 2 * Math.PI) / 360, START_SPREAD = 0.05;

const cartpole = {
  steps: 200,
  start(key) {
    return uniform(key, "cartpole start", 0, 4).map((u) => (2 * u - 1) * START_SPREAD);
  },
  advance([x, xDot, theta, thetaDot], action) {
    const force = FORCE * Math.min(Math.max(action[0], -1), 1);
    const [sin, cos] = [Math.sin(theta), Math.cos(theta)];
    const temp = force / MASS + SHARE * HALF_LENGTH * thetaDot * thetaDot * sin;
    const inertia = (4 / 3) * HALF_LENGTH - SHARE * HALF_LENGTH * cos * cos;
    const pole = (GRAVITY * sin - cos * temp) / inertia;
    const cart = temp - SHARE * HALF_LENGTH * pole * cos;
    const state = [xDot * DT + x, cart * DT + xDot, thetaDot * DT + theta, pole * DT + thetaDot];
    const isInside = Math.abs(state[0]) <= X_LIMIT && Math.abs(state[2]) <= THETA_LIMIT;
    return { state, reward: 1, terminated: !isInside };
  },
};

export const WORLDS = { intersection, cartpole };

// One episode: its state, return and trail, until it is over.
export class Episode {
  constructor(world, key) {
    Object.assign(this, { world: WORLDS[world], key: BigInt(key), t: 0, total: 0, over: false, trail: [] });
    this.state = this.world.start(this.key);
  }

  // What a policy sees: float32, as in Python.
  get obs() { return this.state.map(Math.fround); }

  step(action) {
    this.trail.push(this.obs);
    const { state, reward, terminated } = this.world.advance(this.state, action, this.key, this.t);
    this.state = state;
    this.reward = reward;
    this.total += reward;
    this.t += 1;
    this.over = terminated || this.t >= this.world.steps;
  }
}
