// What the page says about a world and its policies.

import { el, number } from "./dom.js";

const SCENES = {
  intersection: "The policy steers the orange car to the orange ring. The blue car crosses its way to the blue ring. " +
    "A step returns how much nearer the orange car comes to its goal, and 0.75 of how much farther it gets from the blue car.",
  cartpole: "The policy pushes the cart. An episode is over when the pole leans more than 12° or the cart leaves the " +
    "track, and after 200 steps. Each step returns 1.",
};

// What the paper's training length does there to the policies of the table.
export const LENGTHS = {
  intersection: "; no Δ returns more here than BC, beyond the differences between policies.",
  cartpole: ", which is too long for BC; tuned alike, they are equal on average.",
};

function lag(seconds) {
  const [low, high] = [Math.min(...seconds), Math.max(...seconds)].map((value) => number(value));
  return low === high ? `${low} s` : `${low} to ${high} s`;
}

export function describe(world, facts, starts) {
  const { seeds } = facts;
  const [first, last] = [seeds[0], seeds.at(-1)];
  return [
    el("h2", {}, "What you see"),
    el("p", {}, SCENES[world]),
    el("p", {}, `Both policies learned from the same ${facts.pairs} pairs of state and action (${facts.episodes} ` +
      `episodes, seed ${first}) of the teacher “${facts.teacher}”, a model of a person, not a person: it reacts late, overshoots, trembles, ` +
      `tires and lapses. Its episodes return ${number(facts.demonstrated)} on average.`),
    el("p", {}, `All policies were trained with the same lag, ${lag(facts.lag)}. Each policy is a network of two layers of 64 units, ` +
      `trained for ${facts.steps.toLocaleString("en")} steps as in the paper, and acts without sampling. BC is Counter-BC with Δ 0. For each Δ, ` +
      `${seeds.length} policies were trained (seeds ${first} to ${last}); the page shows the first of them, whatever it does.`),
    el("p", {}, `One start proves nothing: compare means over the ${starts} test starts, and over policies. In the ` +
      "studies of counterbc, BC and Counter-BC are alike where training length and ensemble are chosen by cross-validation: " +
      "much of the gain of Δ at a fixed length is regularization, which stopping early gives to BC too."),
  ];
}

export function returnsTable(policies, starts, chosen) {
  const head = ["Δ", "shown policy", "all policies", "lowest", "highest"];
  const cells = (row) => [row.mean, row.means, row.lowest, row.highest].map((v) => el("td", {}, number(v)));
  return el("table", {},
    el("caption", {}, `Mean return over ${starts} test starts, of the policy shown and of all policies trained alike`),
    el("thead", {}, el("tr", {}, head.map((name) => el("th", { scope: "col" }, name)))),
    el("tbody", {}, policies.map((row, i) => el("tr", { "aria-current": i === chosen ? "true" : null },
      el("th", { scope: "row" }, row.radius === 0 ? "0 (BC)" : String(row.radius)), cells(row)))));
}
