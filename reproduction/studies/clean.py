"""Are cleaned demonstrations nearer to what was meant, and do others learn better from them?

    python -m reproduction.studies.clean [--seeds 20] [--worlds cartpole intersection] [--device cuda]

400 pairs, uniform noise of σ 0.5, Δ 0.5, one dataset and one policy per seed. Distances are RMS per
dimension to the expert's mean action, before and after, and in the first eight steps of an episode,
which few pairs resemble. Returns are those of plain behavior cloning and Counter-BC on what was
shown, and of plain behavior cloning on what was meant; to see what averaging and keeping are good
for, also on what judges believe, and on what those of one dealing do.
Finished blocks of seeds are kept in the output file.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from counterbc import evaluate, meaning, train
from counterbc.acting.actor import ACTS
from counterbc.acting.intervals import mean_interval, paired_difference
from counterbc.data.demonstrations import Array, Demonstrations
from counterbc.data.scaling import feasible_units
from counterbc.demonstrators import UniformNoise, demonstrate
from counterbc.diagnosis.clamp_to_support import within
from counterbc.diagnosis.components import by_episode
from counterbc.diagnosis.meaning import Meaning
from counterbc.envs import WORLDS
from counterbc.errors import InfeasibleActions
from counterbc.files import aside
from counterbc.selection.held_out import HeldOut

SIGMA, RADIUS, PAIRS, FIRST = 0.5, 0.5, 400, 8
METHODS = ("BC", "Counter-BC", "BC on cleaned", "BC on believed", "BC on one dealing")
ACTIONS = METHODS[2:]


def expert_mean(world: str, demos: Demonstrations) -> Array:
    """The expert's mean action at each state: (N, A); on Intersection it chooses by chance."""
    expert, keys, obs = WORLDS[world].load_expert(), 1 if world == "cartpole" else 50, demos.obs
    each = [expert(obs, np.arange(len(obs)) + k * len(obs), 0) for k in range(keys)]
    return np.asarray(np.mean(each, axis=0))


def cleaned(demos: Demonstrations, seed: int, changes: dict[str, Any]) -> dict[str, Demonstrations]:
    """What the learners of `ACTIONS` learn from."""
    judges = HeldOut(seed=seed)
    many = meaning(demos, radius=RADIUS, held_out=judges, **changes)
    one = meaning(demos, radius=RADIUS, held_out=replace(judges, repeats=1, rounds=1), **changes)
    believed = [_replaced(demos, _limited(m)) for m in (many, one)]
    return dict(zip(ACTIONS, (many.cleaned, *believed), strict=True))


def _limited(meant: Meaning) -> Array:
    """What is believed, within Δ and A; these worlds act in [−1, 1]."""
    A, delta = feasible_units(meant.demos), np.array(meant.radius)
    return within(np.array(meant.shown), np.array(meant.predicted), delta, meant.shape, A)


def _replaced(demos: Demonstrations, action: Array) -> Demonstrations:
    both = zip(demos.episodes, by_episode(demos, action), strict=True)
    return replace(demos, episodes=tuple(replace(e, action=a) for e, a in both))


def cells(world: str, seeds: list[int], device: str | None) -> list[dict[str, Any]]:
    """One row per seed; each learner of all seeds is one population."""
    changes: dict[str, Any] = {"progress": False, "device": device}
    shown = [demonstrate(world, UniformNoise(SIGMA), PAIRS, s) for s in seeds]
    after = [cleaned(d, s, changes) for d, s in zip(shown, seeds, strict=True)]
    learned = {
        "BC": train(shown, "bc", seeds=seeds, **changes),
        "Counter-BC": train(shown, seeds=seeds, radius=RADIUS, **changes),
    } | {name: train([a[name] for a in after], "bc", seeds=seeds, **changes) for name in ACTIONS}
    returns = {
        f"{name}, {act}": evaluate(p, world, episodes=100, act=act, progress=False).returns.mean(1)
        for name, p in learned.items()
        for act in ACTS
    }
    rows = [_row(world, *each) for each in zip(seeds, shown, after, strict=True)]
    for i, row in enumerate(rows):
        row["returns"] = {k: float(r[i]) for k, r in returns.items()}
    return rows


def _row(
    world: str, seed: int, demos: Demonstrations, after: dict[str, Demonstrations]
) -> dict[str, Any]:
    mean, first = expert_mean(world, demos), np.arange(PAIRS) - demos.starts < FIRST
    off = {name: d.action - mean for name, d in ({"BC": demos} | after).items()}
    return {
        "world": world,
        "seed": seed,
        "distance": {name: _rms(x) for name, x in off.items()},
        "first steps": {name: _rms(x[first]) for name, x in off.items()},
    }


def _rms(off: Array) -> float:
    return float(np.sqrt((off**2).mean()))


def markdown(rows: list[dict[str, Any]]) -> str:
    lines = []
    for world in dict.fromkeys(r["world"] for r in rows):
        own = [r for r in rows if r["world"] == world]
        lines += [f"\n{world}, {len(own)} datasets\n"]
        lines += ["| learned by | distance | lower, % | first steps | act=mean | act=sample |"]
        lines += ["|---" * 6 + "|"]
        for name in METHODS:
            found = " | ".join(str(mean_interval(_returns(own, name, act))) for act in ACTS)
            lines.append(f"| {name} | {_distances(own, name)} | {found} |")
        lines += [_gain(own, act) for act in ACTS]
    return "\n".join(lines)


def _distances(rows: list[dict[str, Any]], name: str) -> str:
    """To what was meant, of the actions that were learned from."""
    of = name if name in ACTIONS else "BC"
    shown, ours = (np.array([r["distance"][k] for r in rows]) for k in ("BC", of))
    first = np.mean([r["first steps"][of] for r in rows])
    lower = "–" if of == "BC" else str(mean_interval(100 * (1 - ours / shown)))
    return f"{ours.mean():.3f} | {lower} | {first:.3f}"


def _gain(rows: list[dict[str, Any]], act: str) -> str:
    bc, counter, ours = (_returns(rows, name, act) for name in METHODS[:3])
    difference = paired_difference(ours, bc).interval
    gains = np.stack([ours - bc, counter - bc])  # (2, seeds)
    drawn = np.random.default_rng(0).integers(len(bc), size=(10_000, len(bc)))
    share = [100 * own / all_of_it for own, all_of_it in gains[:, drawn].mean(2).T]
    low, high = np.quantile(share, [0.025, 0.975])
    own, whole = gains.mean(1)
    return (
        f"\n{act}: BC on cleaned is above BC by {difference}; {100 * own / whole:.0f} % "
        f"[{low:.0f}, {high:.0f}] (bootstrap of seeds) of Counter-BC's gain, {whole:.2f}"
    )


def _returns(rows: list[dict[str, Any]], name: str, act: str) -> Array:
    return np.array([r["returns"][f"{name}, {act}"] for r in rows])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--worlds", nargs="*", default=["cartpole", "intersection"])
    parser.add_argument("--block", type=int, default=10, help="seeds that are one cell of work")
    parser.add_argument("--device", default=None)
    parser.add_argument("--out", type=Path, default=Path("reproduction/results/clean/numbers.json"))
    options = parser.parse_args()
    warnings.simplefilter("ignore", InfeasibleActions)
    rows = json.loads(options.out.read_text()) if options.out.exists() else []
    finished = {(r["world"], r["seed"]) for r in rows}
    for world in options.worlds:
        seeds = range(options.first, options.first + options.seeds)
        left = [s for s in seeds if (world, s) not in finished]
        for begin in range(0, len(left), options.block):
            rows += cells(world, left[begin : begin + options.block], options.device)
            with aside(options.out) as temporary:
                temporary.write_text(json.dumps(rows, indent=1) + "\n")
            print(f"{world}, {len(rows)} datasets", file=sys.stderr, flush=True)
    print(markdown(rows))


if __name__ == "__main__":
    main()
