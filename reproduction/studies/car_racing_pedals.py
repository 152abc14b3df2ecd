"""Why Δ 0.4 costs so much of the track in Car Racing: BC and Counter-BC with gas and brake changed.

    python -m reproduction.studies.car_racing_pedals                   # two hours on two cores; goes on

The demonstrations, seeds and tracks of car_racing.py with uniform noise and 400 pairs. Trained
policies are kept, so that each is trained once; the table is written into docs/car-racing.md.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from counterbc.acting.actor import Act, Acting
from counterbc.acting.intervals import paired_difference
from counterbc.acting.policies import Policies
from counterbc.acting.rollout import same_simulator, start_seeds
from counterbc.data.demonstrations import Demonstrations
from counterbc.envs import make_vec
from counterbc.envs.car_racing.expert import speed as speed_bar
from counterbc.experiments.simulated_cell import SimulatedCell
from counterbc.files import aside
from counterbc.trainer import train
from reproduction.fill_docs import between

Array = NDArray[Any]
Change = Callable[[Array, Array, Array], Array]
"""A car's actions by its own policy and by the other method's at the same frames, (P, tracks, A)
each, and chances (tracks, A) between −1 and 1 → what the car does."""
ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs/car-racing.md"
WORLD, SHOWN = "car-racing", "demonstrations"
LOW, HIGH = np.array([-1, 0, 0]), np.ones(3)
FAST = 2.5
"""In pixels of the speed bar, which reads 2 in most steps of the demonstrations."""
NOISE = 0.25
"""What uniform noise of σ 0.5 adds to gas or brake at most, which reach from 0 to 1."""


def own(action: Array, other: Array, chance: Array) -> Array:
    return action


def exchanged(action: Array, other: Array, chance: Array) -> Array:
    return np.concatenate([action[..., :1], other[..., 1:]], axis=-1)


def noisy_pedals(action: Array, other: Array, chance: Array) -> Array:
    return np.asarray(action + chance * [0, NOISE, NOISE])


def noisy_brake(action: Array, other: Array, chance: Array) -> Array:
    return np.asarray(action + chance * [0, 0, NOISE])


def usual_brake(action: Array, other: Array, chance: Array) -> Array:
    """The mean over the noise of a brake that is cut off at 0, without chance."""
    brake = action[..., 2:]
    cut = (brake + NOISE).clip(min=0) ** 2 / (4 * NOISE)
    return np.concatenate([action[..., :2], np.where(brake < NOISE, cut, brake)], axis=-1)


CHANGES: dict[str, Change] = {
    "own": own,
    "the other method's": exchanged,
    "own, with the teacher's noise": noisy_pedals,
    "own, that noise in the brake alone": noisy_brake,
    "own, the brake's mean over that noise": usual_brake,
}
LEARNED: dict[str, Literal["keep", "project"]] = {"asked for": "keep", "taken": "project"}
WAYS: list[tuple[str, Act, str]] = [
    *(("asked for", "mean", change) for change in CHANGES),
    ("asked for", "sample", "own"),
    ("asked for", "sample", "own, the brake's mean over that noise"),
    ("taken", "mean", "own"),
    ("taken", "sample", "own"),
]
"""Which actions policies learned from, how they act, and their gas and brake."""


@cache
def shown(seeds: int) -> list[Demonstrations]:
    kind = SimulatedCell(WORLD, "uniform", 0.5, 400, "counter-bc", 0.4, 8000, seeds=seeds)
    return kind.datasets()


def learned(feasible: Literal["keep", "project"], options: argparse.Namespace) -> Policies:
    """BC of each seed, then Counter-BC of each."""
    path = options.policies / feasible
    if not path.exists():
        train(
            shown(options.seeds), "counter-bc", radii=(0.0, 0.4), seeds=range(options.seeds),
            steps=options.steps, feasible=feasible, device="cpu",
        ).save(path)  # fmt: skip
    return Policies.load(path)


def driver(
    policies: Policies, tracks: int, act: Act, swapped: bool = False
) -> Callable[[Tensor], Array]:
    """Actions (P, tracks, A) at what each car sees (P, tracks, S), by its policy; swapped: by
    Counter-BC's where BC drives, and the other way round."""
    half = len(policies) // 2
    parts = [policies[:half], policies[half:]]
    actings = [
        Acting(part, list(range(tracks)), act, 0) for part in (parts[::-1] if swapped else parts)
    ]
    return lambda obs: np.concatenate(
        [a.actions(o).numpy() for a, o in zip(actings, obs.chunk(2), strict=True)]
    )


def drive(policies: Policies, tracks: int, act: Act, change: Change) -> dict[str, Array]:
    """Of each policy its share of the track, its mean brake, and its share of fast steps: (P,)."""
    shape, chance = (len(policies), tracks), np.random.default_rng(0)
    one, two = driver(policies, tracks, act), driver(policies, tracks, act, swapped=True)
    env: Any = make_vec(WORLD, math.prod(shape), **same_simulator(policies, WORLD, {}))
    obs, _ = env.reset(seed=start_seeds(policies, list(range(tracks)), 0))
    lap, going = np.zeros(shape), np.ones(shape, bool)
    brakes, fast = [], []
    while going.any():
        seen = policies.tensor(obs).unflatten(0, shape)
        action = one(seen)
        other = two(seen) if change is exchanged else action
        action = change(action, other, chance.uniform(-1, 1, action.shape[1:])).clip(LOW, HIGH)
        obs, _, ended, over, info = env.step(action.reshape(-1, 3))
        lap = np.where(going, info["lap"].reshape(shape), lap)
        brakes.append(np.where(going, action[..., 2], np.nan))
        fast.append(np.where(going, speed_bar(obs).reshape(shape) > FAST, np.nan))
        going &= ~(ended | over).reshape(shape)
    env.close()
    brake, quick = (np.nanmean(x, axis=(0, 2)) for x in (brakes, fast))
    return {"lap": lap.mean(1), "brake": brake, "fast": quick}


def demonstrated(seeds: int) -> dict[str, float]:
    """The demonstrations' brake, as the car took it, and their share of fast steps."""
    episodes = [e for d in shown(seeds) for e in d.episodes]
    brake = np.concatenate([e.action[:, 2] for e in episodes]).clip(0, 1).mean()
    fast = np.concatenate([speed_bar(e.obs) for e in episodes]) > FAST
    return {"brake": float(brake), "fast": float(fast.mean())}


def table(said: dict[str, Any]) -> str:
    """A line per way: BC, Counter-BC, and how far this is above that by run."""
    heads = ["learned from actions", "act", "gas and brake", "BC, %", "Counter-BC, %", "above BC"]
    heads += ["brake", "fast, %"]
    lines = ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]
    for way in WAYS:
        found = said[", ".join(way)]
        lap, brake, fast = (np.reshape(found[k], (2, -1)) for k in ("lap", "brake", "fast"))
        texts = [f"{100 * x:.0f}" for x in lap.mean(1)] + [above(lap[1], lap[0])]
        texts.append(", ".join(f"{x:.3f}" for x in brake.mean(1)))
        texts.append(", ".join(f"{100 * x:.0f}" for x in fast.mean(1)))
        lines.append("| " + " | ".join([*way, *texts]) + " |")
    found = said[SHOWN]
    texts = ["the demonstrations", *[""] * 5, f"{found['brake']:.3f}", f"{100 * found['fast']:.0f}"]
    return "\n".join([*lines, "| " + " | ".join(texts) + " |"])


def above(lap: Array, base: Array) -> str:
    """In points of the track, by run."""
    i = paired_difference(100 * lap, 100 * base).interval
    return f"{i.mean:+.0f} [{i.low:+.0f}, {i.high:+.0f}]".replace("-", "−")


def best(said: dict[str, Any]) -> str:
    """Counter-BC that learned from actions taken against the BC that visits most."""
    laps = {
        way: np.reshape(said[", ".join(way)]["lap"], (2, -1)) for way in WAYS if way[2] == "own"
    }
    way = max(laps, key=lambda way: float(laps[way][0].mean()))
    base, lines = laps[way][0], []
    for act in ("mean", "sample"):
        gain = above(laps["taken", act, "own"][1], base)
        lines.append(f"- Counter-BC that learned from actions taken, act={act}: {gain}")
    first = f"Above the best BC (actions {way[0]}, act={way[1]}, {100 * base.mean():.0f} %):"
    return "\n".join([first, "", *lines])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument(
        "--out", type=Path, default=ROOT / "reproduction/results/pedals/numbers.json"
    )
    parser.add_argument("--policies", type=Path, default=ROOT / "reproduction/car-racing-pedals")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--tracks", type=int, default=10)
    options = parser.parse_args()
    said: dict[str, Any] = json.loads(options.out.read_text()) if options.out.exists() else {}
    asked = {name: getattr(options, name) for name in ("seeds", "steps", "tracks")}
    if said.setdefault("options", asked) != asked:
        raise SystemExit(
            f"{options.out} is of {said['options']}; name another --out and --policies"
        )
    for way in WAYS:
        if ", ".join(way) not in said:
            policies = learned(LEARNED[way[0]], options)
            driven = drive(policies, options.tracks, way[1], CHANGES[way[2]])
            said[", ".join(way)] = {name: v.tolist() for name, v in driven.items()}
            write(said, options.out)
    if SHOWN not in said:
        said[SHOWN] = demonstrated(options.seeds)
        write(said, options.out)
    text = f"{table(said)}\n\n{best(said)}"
    print(text)
    PAGE.write_text(between(PAGE.read_text(encoding="utf-8"), "pedals", text), "utf-8")


def write(said: dict[str, Any], path: Path) -> None:
    with aside(path) as temporary:
        temporary.write_text(json.dumps(said, indent=1) + "\n")


if __name__ == "__main__":
    main()
