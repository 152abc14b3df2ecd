"""Returns of experts and teachers in the worlds that need no extra.

Means over 10,000 episodes ± standard error, of the expert and of each teacher, noises at σ = 0.5.
Intersection also with actions scaled into the unit disc, as the paper may have scored teachers.
Cartpole also from wider starts, and from the spread of starts at which demonstrations with uniform
noise are as short as the paper's synthetic ones. `python benchmarks/worlds.py` measures speed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from counterbc.acting.intervals import mean_interval
from counterbc.demonstrators import (
    HUMAN_TEACHERS,
    NOISES,
    Delay,
    EpisodeBatch,
    Teacher,
    UniformNoise,
    returns,
)
from counterbc.envs import WORLDS, make_vec
from counterbc.experiments.cell import reproducible
from reproduction.options import StudyOptions
from reproduction.records import Record, computed_with, write

Array = NDArray[Any]
CORE_WORLDS = [name for name, world in WORLDS.items() if world.extra is None]
SIGMA = 0.5
DELAYED_WORLDS = ("cartpole", "air-hockey")
CHUNK = 2000  # episodes at a time, to bound memory
PAPER_RETURN = 26.6  # of synthetic demonstrations in Cartpole
SPREADS = (0.2, 0.5, 1.0, 2.0)


@dataclass(frozen=True, kw_only=True)
class WorldsOptions(StudyOptions):
    """Measure the returns of experts and teachers."""

    episodes: int = 10_000


def run(options: WorldsOptions) -> None:
    """Compute and write all returns."""
    with reproducible():
        write(all_returns(options.episodes) | computed_with("cpu"), options.numbers("worlds"))


def lengths_and_returns(
    world: str, teacher: Teacher, episodes: int, **kwargs: Any
) -> tuple[Array, Array]:
    """Return lengths and returns (episodes,) of the first episode of each slot."""
    parts = [
        roll(world, teacher, np.arange(i, min(i + CHUNK, episodes)), **kwargs)
        for i in range(0, episodes, CHUNK)
    ]
    length, total = (np.concatenate(column) for column in zip(*parts, strict=True))
    return length, total


def roll(world: str, teacher: Teacher, key: Array, **kwargs: Any) -> tuple[Array, Array]:
    """Return lengths and returns of the episodes that start from these seeds."""
    about = WORLDS[world]
    env: Any = make_vec(world, len(key), **(dict(about.teacher_kwargs) | kwargs))
    expert, size = about.load_expert(), env.single_action_space.shape[0]
    show = teacher.begin(EpisodeBatch(key, key, size, about.steps, about.rate))
    obs, _ = env.reset(seed=key.tolist())
    active = np.ones(len(key), bool)
    length, total = np.zeros(len(key)), np.zeros(len(key))
    for t in range(about.steps):
        obs, reward, terminated, truncated, _ = env.step(show(expert(obs, key, t), t))
        length += active
        total += np.where(active, reward, 0.0)
        active &= ~(terminated | truncated)
        if not active.any():
            break
    return length, total


def measure_returns(world: str, episodes: int, **kwargs: Any) -> Record:
    """Return the mean return of each teacher, and the share of episodes that reach the end."""
    rows = {}
    teachers: dict[str, Teacher] = {"expert": UniformNoise(0.0)}
    teachers |= {name: noise(SIGMA) for name, noise in NOISES.items()} | HUMAN_TEACHERS
    for name, teacher in teachers.items():
        length, total = lengths_and_returns(world, teacher, episodes, **kwargs)
        rows[name] = {
            "return": round(float(total.mean()), 2),
            "error": round(float(total.std() / episodes**0.5), 2),
            "median length": float(np.median(length)),
            "share to the end": round(float((length == WORLDS[world].steps).mean()), 3),
        }
    return rows


def spread_of(target: float, episodes: int) -> float:
    """Return the spread of Cartpole's starts at which uniform noise has this mean return."""
    low, high = 0.05, 16.0
    for _ in range(10):
        middle = math.sqrt(low * high)
        _, total = lengths_and_returns(
            "cartpole", UniformNoise(SIGMA), episodes, start_spread=middle
        )
        low, high = (middle, high) if total.mean() > target else (low, middle)
    return round(math.sqrt(low * high), 3)


def all_returns(episodes: int) -> Record:
    """Return all teachers in all worlds, Cartpole from wider starts, and the matching spread.

    Intersection also with a teacher's actions scaled into the unit disc, as a learner's are.
    """
    cases: dict[str, tuple[str, dict[str, Any]]] = {world: (world, {}) for world in CORE_WORLDS}
    cases["intersection, scaled into the disc"] = ("intersection", {"limit_actions": True})
    cases |= {f"cartpole, starts ±{s:g}": ("cartpole", {"start_spread": s}) for s in SPREADS}
    table = {}
    for name, (world, kwargs) in cases.items():
        table[name] = measure_returns(world, episodes, **kwargs)
        show_returns(name, table[name])
    spread = spread_of(PAPER_RETURN, episodes)
    print(f"uniform noise returns {PAPER_RETURN} from starts ±{spread}")
    return {
        "returns": table,
        "spread of the paper's return": spread,
        "delays": delays(min(episodes, 1000)),
    }


def delays(episodes: int) -> Record:
    """Return the mean return of an expert whose only error is a delay."""
    rows: Record = {}
    for world in DELAYED_WORLDS:
        for seconds in (0.1, 0.2):
            interval = mean_interval(returns(world, Delay(seconds), episodes, seed=0))
            rows[f"{world}, {seconds:g} s late"] = {"return": interval.mean, "error": interval.se}
    return rows


def show_returns(name: str, rows: Record) -> None:
    """Print the returns in one world."""
    cells = [
        f"{label} {r['return']:.2f} ± {r['error']:.2f} ({r['share to the end']:.0%} to the end)"
        for label, r in rows.items()
    ]
    print(f"{name}: {'; '.join(cells)}", flush=True)
