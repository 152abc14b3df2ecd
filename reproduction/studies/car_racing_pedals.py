"""Why Δ 0.4 costs so much of the track in Car Racing: BC and Counter-BC with changed pedals.

The demonstrations, seeds and tracks of the study `car-racing` with uniform noise and 400 pairs.
Trained policies are kept beside the numbers, so that each is trained once. It takes two hours on
two cores.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

import counterbc as cb
from counterbc.acting.act import ACTS, Act
from counterbc.acting.actor import Acting
from counterbc.acting.fit import Spaces, simulator_options
from counterbc.acting.intervals import paired_difference
from counterbc.acting.rollout import start_seeds
from counterbc.envs import make_vec
from counterbc.envs.car_racing.expert import speed as speed_bar
from counterbc.errors import OptionError
from counterbc.experiments.cell import reproducible
from reproduction.markdown import markdown_table
from reproduction.options import StudyOptions
from reproduction.records import Record, computed_with, read, write
from reproduction.studies.car_racing import EPISODES, SEEDS, STEPS, WORLD, training_cell

Array = NDArray[Any]
Change = Callable[[Array, Array, Array], Array]
"""Actions (P, tracks, A) of a car's policy and of the other method's policy at the same frames, and
random numbers (tracks, A) in [−1, 1] → the actions taken."""
STUDY, DEMONSTRATIONS = "car-racing-pedals", "demonstrations"
LOW, HIGH = np.array([-1, 0, 0]), np.ones(3)
FAST = 2.5
"""Pixels of the speed bar; it shows 2 in most steps of the demonstrations."""
NOISE = 0.25
"""The largest noise of σ 0.5 in gas or brake, whose range is 0 to 1."""


def unchanged(action: Array, other_action: Array, noise: Array) -> Array:
    return action


def exchange_pedals(action: Array, other_action: Array, noise: Array) -> Array:
    return np.concatenate([action[..., :1], other_action[..., 1:]], axis=-1)


def noisy_pedals(action: Array, other_action: Array, noise: Array) -> Array:
    return np.asarray(action + noise * [0, NOISE, NOISE])


def noisy_brake(action: Array, other_action: Array, noise: Array) -> Array:
    return np.asarray(action + noise * [0, 0, NOISE])


def mean_brake(action: Array, other_action: Array, noise: Array) -> Array:
    """Return actions whose brake is its mean over the noise, cut off at 0."""
    brake = action[..., 2:]
    cut_off = (brake + NOISE).clip(min=0) ** 2 / (4 * NOISE)
    return np.concatenate([action[..., :2], np.where(brake < NOISE, cut_off, brake)], axis=-1)


CHANGES: dict[str, Change] = {
    "own": unchanged,
    "the other method's": exchange_pedals,
    "own, with the teacher's noise": noisy_pedals,
    "own, that noise in the brake alone": noisy_brake,
    "own, the brake's mean over that noise": mean_brake,
}
FEASIBLE: dict[str, Literal["keep", "project"]] = {"asked for": "keep", "taken": "project"}
VARIANTS: list[tuple[str, Act, str]] = [
    *(("asked for", "mean", change) for change in CHANGES),
    ("asked for", "sample", "own"),
    ("asked for", "sample", "own, the brake's mean over that noise"),
    ("taken", "mean", "own"),
    ("taken", "sample", "own"),
]
"""The actions policies learned from, their way of acting, and their gas and brake."""


@dataclass(frozen=True, kw_only=True)
class CarRacingPedalsOptions(StudyOptions):
    """Change gas and brake of trained policies in Car Racing."""

    seeds: int = SEEDS
    steps: int = STEPS
    tracks: int = EPISODES


def run(options: CarRacingPedalsOptions) -> None:
    """Compute the missing variants and print the table."""
    path = options.numbers(STUDY)
    numbers: Record = read(path) if path.exists() else {}
    sizes = {name: getattr(options, name) for name in ("seeds", "steps", "tracks")}
    if numbers.setdefault("options", sizes) != sizes:
        raise OptionError(f"{path} has {numbers['options']}; choose another folder with --out")
    for variant in VARIANTS:
        actions, act, pedals = variant
        if ", ".join(variant) not in numbers:
            policies = train_policies(FEASIBLE[actions], options)
            measures = drive(policies, options.tracks, act, CHANGES[pedals])
            runs = {name: v.tolist() for name, v in measures.items()}
            numbers[", ".join(variant)] = runs | computed_with("cpu", policies.run_config.kernel)
            write(numbers, path)
    if DEMONSTRATIONS not in numbers:
        numbers[DEMONSTRATIONS] = demonstration_shares(options.seeds) | computed_with("cpu")
        write(numbers, path)
    print(f"{table(numbers)}\n\n{best(numbers)}")


def sections(results: Path) -> dict[str, dict[str, str]]:
    """Return the table of docs/car-racing.md."""
    numbers = read(results / STUDY / "numbers.json")
    return {"car-racing": {"pedals": f"{table(numbers)}\n\n{best(numbers)}"}}


@cache
def load_demonstrations(seeds: int) -> list[cb.Demonstrations]:
    """Return the demonstrations of every seed."""
    return training_cell(seeds).datasets()


def train_policies(
    feasible: Literal["keep", "project"], options: CarRacingPedalsOptions
) -> cb.Policies:
    """Return BC of each seed, then Counter-BC of each."""
    path = options.out / STUDY / "policies" / feasible
    if not path.exists():
        with reproducible():  # noise beyond the pedals' range is part of the study
            policies = cb.train(
                load_demonstrations(options.seeds),
                "counter-bc",
                radii=(0.0, 0.4),
                seeds=range(options.seeds),
                steps=options.steps,
                feasible=feasible,
                device="cpu",
            )
        path.parent.mkdir(parents=True, exist_ok=True)
        policies.save(path)
    return cb.Policies.load(path)


def driver(
    policies: cb.Policies, tracks: int, act: Act, swapped: bool = False
) -> Callable[[Tensor], Array]:
    """Return a function from frames (P, tracks, S) to actions (P, tracks, A).

    Swapped, Counter-BC acts where BC drives, and BC where Counter-BC drives.
    """
    half = len(policies) // 2
    parts = [policies[:half], policies[half:]]
    actings = [
        Acting(part, list(range(tracks)), act, 0) for part in (parts[::-1] if swapped else parts)
    ]
    return lambda obs: np.concatenate(
        [a.actions(o).numpy() for a, o in zip(actings, obs.chunk(2), strict=True)]
    )


def drive(policies: cb.Policies, tracks: int, act: Act, change: Change) -> dict[str, Array]:
    """Return share of the track, mean brake and share of fast steps of each policy: (P,)."""
    shape, rng = (len(policies), tracks), np.random.default_rng(0)
    own_driver, other_driver = (
        driver(policies, tracks, act),
        driver(policies, tracks, act, swapped=True),
    )
    options = simulator_options(Spaces.of_policies(policies), WORLD, {})
    env: Any = make_vec(WORLD, math.prod(shape), **options)
    obs, _ = env.reset(seed=start_seeds(policies, list(range(tracks)), 0))
    lap, active = np.zeros(shape), np.ones(shape, bool)
    brakes, fast = [], []
    while active.any():
        frames = policies.tensor(obs).unflatten(0, shape)
        action = own_driver(frames)
        other_action = other_driver(frames) if change is exchange_pedals else action
        action = change(action, other_action, rng.uniform(-1, 1, action.shape[1:])).clip(LOW, HIGH)
        obs, _, terminated, truncated, info = env.step(action.reshape(-1, 3))
        lap = np.where(active, info["lap"].reshape(shape), lap)
        brakes.append(np.where(active, action[..., 2], np.nan))
        fast.append(np.where(active, speed_bar(obs).reshape(shape) > FAST, np.nan))
        active &= ~(terminated | truncated).reshape(shape)
    env.close()
    brake, quick = (np.nanmean(x, axis=(0, 2)) for x in (brakes, fast))
    return {"lap": lap.mean(1), "brake": brake, "fast": quick}


def demonstration_shares(seeds: int) -> Record:
    """Return the demonstrations' brake, as the car took it, and their share of fast steps."""
    episodes = [e for d in load_demonstrations(seeds) for e in d.episodes]
    brake = np.concatenate([e.action[:, 2] for e in episodes]).clip(0, 1).mean()
    fast = np.concatenate([speed_bar(e.obs) for e in episodes]) > FAST
    return {"brake": float(brake), "fast": float(fast.mean())}


def table(numbers: Record) -> str:
    """Return a line per variant: BC, Counter-BC, and their difference by run."""
    heads = ["learned from actions", "act", "gas and brake", "BC, %", "Counter-BC, %", "above BC"]
    heads += ["brake", "fast, %"]
    lines = []
    for variant in VARIANTS:
        runs = numbers[", ".join(variant)]
        lap, brake, fast = (np.reshape(runs[k], (2, -1)) for k in ("lap", "brake", "fast"))
        texts = [f"{100 * x:.0f}" for x in lap.mean(1)] + [above(lap[1], lap[0])]
        texts.append(", ".join(f"{x:.3f}" for x in brake.mean(1)))
        texts.append(", ".join(f"{100 * x:.0f}" for x in fast.mean(1)))
        lines.append([*variant, *texts])
    shares = numbers[DEMONSTRATIONS]
    texts = ["the demonstrations", *[""] * 5]
    texts += [f"{shares['brake']:.3f}", f"{100 * shares['fast']:.0f}"]
    return markdown_table(heads, [*lines, texts])


def above(lap: Array, base: Array) -> str:
    """Return the difference in points of the track, by run."""
    i = paired_difference(100 * lap, 100 * base).interval
    return f"{i.mean:+.0f} [{i.low:+.0f}, {i.high:+.0f}]".replace("-", "−")


def best(numbers: Record) -> str:
    """Return Counter-BC that learned from actions taken against the best BC."""
    laps = {
        variant: np.reshape(numbers[", ".join(variant)]["lap"], (2, -1))
        for variant in VARIANTS
        if variant[2] == "own"
    }
    way = max(laps, key=lambda way: float(laps[way][0].mean()))
    base, lines = laps[way][0], []
    for act in ACTS:
        gain = above(laps["taken", act, "own"][1], base)
        lines.append(f"- Counter-BC that learned from actions taken, act={act}: {gain}")
    first = f"Above the best BC (actions {way[0]}, act={way[1]}, {100 * base.mean():.0f} %):"
    return "\n".join([first, "", *lines])
