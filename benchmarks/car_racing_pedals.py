"""Why Δ 0.4 costs so much of the track in Car Racing: BC and Counter-BC with gas and brake changed.

    python benchmarks/car_racing_pedals.py                   # two hours on two cores; goes on

The demonstrations, seeds and tracks of car_racing.py at 400 pairs. Trained policies are kept, so
that each is trained once; the table is written into docs/car-racing.md.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from counterbc.demonstrations import Demonstrations
from counterbc.envs import make_vec
from counterbc.envs.car_racing_expert import speed as speed_bar
from counterbc.evaluation import start_seeds
from counterbc.files import aside
from counterbc.intervals import paired_difference
from counterbc.studies.comparison import demonstrations
from counterbc.studies.page import between
from counterbc.studies.population import Population
from counterbc.trained import Act, Acting, Policies
from counterbc.training import train

Array = NDArray[Any]
Change = Callable[[Array, Array], Array]
"""Actions (P, tracks, A) and chances (tracks, A) between −1 and 1 → what is done instead."""
ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs/car-racing.md"
WORLD, SHOWN = "car-racing", "the demonstrations"
LOW, HIGH = np.array([-1, 0, 0]), np.ones(3)
NOISE = 0.25
"""What uniform noise of σ 0.5 adds to gas or brake at most, which reach from 0 to 1."""


def as_they_are(action: Array, chance: Array) -> Array:
    return action


def exchanged(action: Array, chance: Array) -> Array:
    """BC's gas and brake for Counter-BC's, and the other way round."""
    other = np.roll(action, len(action) // 2, axis=0)
    return np.concatenate([action[..., :1], other[..., 1:]], axis=-1)


def noisy_pedals(action: Array, chance: Array) -> Array:
    return np.asarray(action + chance * [0, NOISE, NOISE])


def noisy_brake(action: Array, chance: Array) -> Array:
    return np.asarray(action + chance * [0, 0, NOISE])


def usual_brake(action: Array, chance: Array) -> Array:
    """What the noise leaves of a brake on average: it cannot be below 0."""
    brake = action[..., 2:]
    usual = np.where(brake < NOISE, (brake + NOISE) ** 2 / (4 * NOISE), brake)
    return np.concatenate([action[..., :2], usual], axis=-1)


WAYS: dict[str, tuple[Literal["keep", "project"], Act, Change]] = {
    "as they are": ("keep", "mean", as_they_are),
    "each with the other's gas and brake": ("keep", "mean", exchanged),
    "with the teacher's noise in gas and brake": ("keep", "mean", noisy_pedals),
    "with that noise in the brake alone": ("keep", "mean", noisy_brake),
    "with the brake that it leaves on average": ("keep", "mean", usual_brake),
    "learned from actions as the car took them": ("project", "mean", as_they_are),
    "the same, but acting by samples": ("project", "sample", as_they_are),
}
"""What policies learn from, how they act, and what is made of their actions."""


def learned(
    shown: list[Demonstrations], feasible: Literal["keep", "project"], steps: int, path: Path
) -> Policies:
    """BC and Counter-BC of each seed."""
    if not path.exists():
        train(
            shown, "counter-bc", radii=(0.0, 0.4), seeds=range(len(shown)), steps=steps,
            feasible=feasible, device="cpu",
        ).save(path)  # fmt: skip
    return Policies.load(path)


def drive(policies: Policies, tracks: int, act: Act, change: Change) -> dict[str, Array]:
    """Of each policy its share of the track, its mean brake, and the speed that it exceeds in 5 %
    of its steps: (P,) each."""
    shape = len(policies), tracks
    acting, chance = Acting(policies, list(range(tracks)), act, 0), np.random.default_rng(0)
    env: Any = make_vec(WORLD, math.prod(shape))
    obs, _ = env.reset(seed=start_seeds(policies, list(range(tracks)), 0))
    lap, going = np.zeros(shape), np.ones(shape, bool)
    brakes, speeds = [], []
    while going.any():
        own = acting.actions(policies.tensor(obs).unflatten(0, shape)).numpy()
        action = change(own, chance.uniform(-1, 1, own.shape[1:])).clip(LOW, HIGH)
        obs, _, ended, over, info = env.step(action.reshape(-1, 3))
        lap = np.where(going, info["lap"].reshape(shape), lap)
        brakes.append(np.where(going, action[..., 2], np.nan))
        speeds.append(np.where(going, speed_bar(obs).reshape(shape), np.nan))
        going &= ~(ended | over).reshape(shape)
    env.close()
    fast = np.nanquantile(speeds, 0.95, axis=(0, 2))
    return {"lap": lap.mean(1), "brake": np.nanmean(brakes, axis=(0, 2)), "speed": fast}


def look(said: dict[str, Any], options: argparse.Namespace) -> Iterator[None]:
    """Adds what is missing, a way at a time."""
    kind = Population(WORLD, "uniform", 0.5, 400, "counter-bc", 0.4, 8000, seeds=options.seeds)
    shown = demonstrations(kind.comparison())
    brake = np.concatenate([e.action[:, 2] for d in shown for e in d.episodes]).clip(0, 1)
    fast = np.concatenate([speed_bar(e.obs) for d in shown for e in d.episodes])
    said[SHOWN] = {"brake": float(brake.mean()), "speed": float(np.quantile(fast, 0.95))}
    for name, (feasible, act, change) in WAYS.items():
        if name not in said:
            policies = learned(shown, feasible, options.steps, options.policies / feasible)
            driven = drive(policies, options.tracks, act, change)
            said[name] = {k: v.tolist() for k, v in driven.items()}
            yield


def table(said: dict[str, Any]) -> str:
    """A line per way: BC, Counter-BC, and how far this is above that by run."""
    heads = ("policies", "BC, %", "Counter-BC, %", "above BC", "brake", "top speed")
    lines = ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]
    for name in WAYS:
        lap, brake, fast = (np.reshape(said[name][k], (2, -1)) for k in ("lap", "brake", "speed"))
        i = paired_difference(100 * lap[1], 100 * lap[0]).interval
        texts = [*(f"{100 * x:.0f}" for x in lap.mean(1))]
        texts.append(f"{i.mean:+.0f} [{i.low:+.0f}, {i.high:+.0f}]".replace("-", "−"))
        texts.append(", ".join(f"{x:.3f}" for x in brake.mean(1)))
        texts.append(", ".join(f"{x:.1f}" for x in fast.mean(1)))
        lines.append("| " + " | ".join([name, *texts]) + " |")
    texts = [SHOWN, "", "", "", f"{said[SHOWN]['brake']:.3f}", f"{said[SHOWN]['speed']:.1f}"]
    return "\n".join([*lines, "| " + " | ".join(texts) + " |"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks/results/pedals.json")
    parser.add_argument("--policies", type=Path, default=ROOT / "reproduction/car-racing-pedals")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--tracks", type=int, default=10)
    options = parser.parse_args()
    said: dict[str, Any] = json.loads(options.out.read_text()) if options.out.exists() else {}
    for _ in look(said, options):
        with aside(options.out) as temporary:
            temporary.write_text(json.dumps(said, indent=1) + "\n")
    print(table(said))
    PAGE.write_text(between(PAGE.read_text(encoding="utf-8"), "pedals", table(said)), "utf-8")


if __name__ == "__main__":
    main()
