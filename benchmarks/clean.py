"""Are cleaned demonstrations nearer to what was meant, and do others learn better from them?

    python benchmarks/clean.py [--seeds 20] [--worlds cartpole intersection] [--out clean.json]

400 pairs, uniform noise of σ 0.5, Δ 0.5, one dataset and one policy per seed. Distances are RMS per
dimension to the expert's mean action, before and after, and in the first eight steps of an episode,
which few pairs resemble. Returns are those of plain behavior cloning and Counter-BC on what was
shown, and of plain behavior cloning on what was meant. Finished cells are kept in the output file.
"""

from __future__ import annotations

import argparse
import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from counterbc import evaluate, meaning, train
from counterbc.demonstrations import Array, Demonstrations
from counterbc.demonstrators import Uniform, demonstrate
from counterbc.envs import WORLDS
from counterbc.errors import InfeasibleActions
from counterbc.files import aside
from counterbc.intervals import mean_interval, paired_difference
from counterbc.meant import Judges
from counterbc.trained import ACTS

SIGMA, RADIUS, PAIRS, FIRST = 0.5, 0.5, 400, 8
METHODS = ("BC", "Counter-BC", "BC on cleaned", "Counter-BC, Δ 0.1, on cleaned")


def expert_mean(world: str, demos: Demonstrations) -> Array:
    """The expert's mean action at each state: (N, A); on Intersection it chooses by chance."""
    expert, keys, obs = WORLDS[world].load_expert(), 1 if world == "cartpole" else 50, demos.obs
    each = [expert(obs, np.arange(len(obs)) + k * len(obs), 0) for k in range(keys)]
    return np.asarray(np.mean(each, axis=0))


def cell(world: str, seed: int, steps: int | None) -> dict[str, Any]:
    changes: dict[str, Any] = {"progress": False} | ({} if steps is None else {"steps": steps})
    demos = demonstrate(world, Uniform(SIGMA), PAIRS, seed)
    meant = meaning(demos, radius=RADIUS, judges=Judges(seed=seed), **changes)
    mean, first = expert_mean(world, demos), np.arange(PAIRS) - demos.starts < FIRST
    learned = {
        "BC": train(demos, "bc", seeds=[seed], **changes),
        "Counter-BC": train(demos, seeds=[seed], radius=RADIUS, **changes),
        "BC on cleaned": train(meant.cleaned, "bc", seeds=[seed], **changes),
        "Counter-BC, Δ 0.1, on cleaned": train(meant.cleaned, seeds=[seed], radius=0.1, **changes),
    }
    return {
        "world": world,
        "seed": seed,
        "steps": steps,
        "shown": _rms(demos.action - mean),
        "meant": _rms(meant.meant - mean),
        "meant, first steps": _rms((meant.meant - mean)[first]),
        "returns": {
            f"{name}, {act}": float(evaluate(p, world, episodes=100, act=act).returns.mean())
            for name, p in learned.items()
            for act in ACTS
        },
    }


def _rms(off: Array) -> float:
    return float(np.sqrt((off**2).mean()))


def markdown(rows: list[dict[str, Any]]) -> str:
    lines = []
    for world in dict.fromkeys(r["world"] for r in rows):
        own = [r for r in rows if r["world"] == world]
        shown, after, first = (
            np.array([r[k] for r in own]) for k in ("shown", "meant", "meant, first steps")
        )
        lower = mean_interval(100 * (1 - after / shown))
        lines.append(
            f"\n{world}, {len(own)} datasets: distance to what was meant {shown.mean():.3f} shown, "
            f"{after.mean():.3f} cleaned ({first.mean():.3f} in the first {FIRST} steps): "
            f"{lower.mean:.0f} % lower [{lower.low:.0f}, {lower.high:.0f}]\n"
        )
        lines += ["| learned by | act=mean | act=sample |", "|---|---|---|"]
        for name in METHODS:
            found = [mean_interval(_returns(own, name, act)) for act in ACTS]
            lines.append(f"| {name} | {found[0]} | {found[1]} |")
        for act in ACTS:
            bc, counter, ours = (_returns(own, name, act) for name in METHODS[:3])
            difference = paired_difference(ours, bc).interval
            gain, own_gain = counter.mean() - bc.mean(), ours.mean() - bc.mean()
            kept = f"{100 * own_gain / gain:.0f} % of" if gain > 0.01 else "there is no"
            lines.append(
                f"\n{act}: BC on cleaned is above BC by {difference}; {kept} gain of Counter-BC"
            )
    return "\n".join(lines)


def _returns(rows: list[dict[str, Any]], name: str, act: str) -> Array:
    return np.array([r["returns"][f"{name}, {act}"] for r in rows])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--steps", type=int, default=None)
    parser.add_argument("--worlds", nargs="*", default=["cartpole", "intersection"])
    parser.add_argument("--out", type=Path, default=Path("clean.json"))
    options = parser.parse_args()
    warnings.simplefilter("ignore", InfeasibleActions)
    rows = json.loads(options.out.read_text()) if options.out.exists() else []
    finished = {(r["world"], r["seed"], r["steps"]) for r in rows}
    for seed in range(options.seeds):
        for world in options.worlds:
            key = (world, seed, options.steps)
            if key not in finished:
                rows.append(cell(*key))
                with aside(options.out) as temporary:
                    temporary.write_text(json.dumps(rows, indent=1) + "\n")
    print(markdown(rows))


if __name__ == "__main__":
    main()
