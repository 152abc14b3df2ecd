"""How fast the worlds step, and what their experts and noisy demonstrators earn.

    python -m reproduction.studies.worlds [--no-returns] [--out worlds.json]

Speed is in steps per second of 1024 environments under random actions, resets included, taken in
turns over some rounds; ratios are medians over rounds, with the quartiles. Returns are means over
10,000 episodes ± their standard error, of the expert and of each teacher, noises at σ = 0.5;
for Cartpole also from wider starts, and from the spread of starts at which demonstrations with
uniform noise are as short as the paper's synthetic ones.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import torch
from numpy.typing import NDArray

from counterbc.acting.intervals import mean_interval
from counterbc.demonstrators import NOISES, TEACHERS, Delay, EpisodeBatch, Teacher, UniformNoise
from counterbc.demonstrators import returns as returns_of
from counterbc.envs import WORLDS, make_vec

Array = NDArray[Any]
TURN = 0.1  # seconds, about; long enough for many resets of every slot
THEIRS = "gymnasium's CartPole-v1"
OWN = [name for name, world in WORLDS.items() if world.extra is None]
SIGMA = 0.5
RATES = {"cartpole": 50, "air-hockey": 20}  # steps a second
CHUNK = 2000
PAPER_RETURN = 26.6  # of synthetic demonstrations in Cartpole
SPREADS = (0.2, 0.5, 1.0, 2.0)


def stepper(env: Any) -> Callable[[int], float]:
    """A function that takes some steps and gives the seconds per step."""
    env.reset(seed=0)
    env.action_space.seed(0)
    actions = [env.action_space.sample() for _ in range(64)]

    def run(steps: int) -> float:
        began = time.perf_counter()
        for t in range(steps):
            env.step(actions[t % len(actions)])
        return (time.perf_counter() - began) / steps

    return run


def speeds(slots: int, rounds: int) -> dict[str, Any]:
    """Steps per second, and times per step relative to Cartpole's and gymnasium's."""
    theirs = gymnasium.make_vec("CartPole-v1", slots, vectorization_mode="vector_entry_point")
    runs = {THEIRS: stepper(theirs)}
    runs |= {world: stepper(make_vec(world, slots)) for world in OWN}
    steps = {name: max(5, round(TURN / run(20))) for name, run in runs.items()}
    seconds: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(rounds):
        for name, run in runs.items():
            seconds[name].append(run(steps[name]))
    return {name: _speed(seconds, name, slots) for name in runs}


def _speed(seconds: dict[str, list[float]], name: str, slots: int) -> dict[str, Any]:
    def ratio(other: str) -> list[float]:
        values = np.array(seconds[name]) / np.array(seconds[other])
        return [round(float(v), 3) for v in np.percentile(values, [50, 25, 75])]

    return {
        "steps per second": round(slots / float(np.median(seconds[name]))),
        "time / Cartpole's": ratio("cartpole"),
        "time / gymnasium's CartPole": ratio(THEIRS),
    }


def lengths_and_returns(
    world: str, teacher: Teacher, episodes: int, **kwargs: Any
) -> tuple[Array, Array]:
    """Of the first episode of each slot: (episodes,) each; some at a time, to bound memory."""
    parts = [
        rolled(world, teacher, np.arange(i, min(i + CHUNK, episodes)), **kwargs)
        for i in range(0, episodes, CHUNK)
    ]
    length, total = (np.concatenate(column) for column in zip(*parts, strict=True))
    return length, total


def rolled(world: str, teacher: Teacher, key: Array, **kwargs: Any) -> tuple[Array, Array]:
    """The episodes that start from these seeds."""
    where = WORLDS[world]
    env: Any = make_vec(world, len(key), **(dict(where.teacher_kwargs) | kwargs))
    expert, size = where.load_expert(), env.single_action_space.shape[0]
    show = teacher.begin(EpisodeBatch(key, key, size, where.steps))
    obs, _ = env.reset(seed=key.tolist())
    going = np.ones(len(key), bool)
    length, total = np.zeros(len(key)), np.zeros(len(key))
    for t in range(where.steps):
        obs, reward, terminated, truncated, _ = env.step(show(expert(obs, key, t), t))
        length += going
        total += np.where(going, reward, 0.0)
        going &= ~(terminated | truncated)
        if not going.any():
            break
    return length, total


def returns(world: str, episodes: int, **kwargs: Any) -> dict[str, Any]:
    """What each demonstrator earns, and how many of its episodes last to the end."""
    rows = {}
    teachers: dict[str, Teacher] = {"expert": UniformNoise(0.0)}
    teachers |= {name: noise(SIGMA) for name, noise in NOISES.items()} | TEACHERS
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
    """The spread of Cartpole's starts at which uniform noise of σ = 0.5 returns this much."""
    low, high = 0.05, 16.0
    for _ in range(10):
        middle = math.sqrt(low * high)
        _, total = lengths_and_returns(
            "cartpole", UniformNoise(SIGMA), episodes, start_spread=middle
        )
        low, high = (middle, high) if total.mean() > target else (low, middle)
    return round(math.sqrt(low * high), 3)


def all_returns(episodes: int) -> dict[str, Any]:
    """Of every world and of Cartpole from wider starts, and the spread that returns 26.6."""
    cases: dict[str, tuple[str, dict[str, Any]]] = {world: (world, {}) for world in OWN}
    cases |= {f"cartpole, starts ±{s:g}": ("cartpole", {"start_spread": s}) for s in SPREADS}
    table = {}
    for name, (world, kwargs) in cases.items():
        table[name] = returns(world, episodes, **kwargs)
        show_returns(name, table[name])
    spread = spread_of(PAPER_RETURN, episodes)
    print(f"uniform noise returns {PAPER_RETURN} from starts ±{spread}")
    return {"returns": table, "spread of the paper's return": spread, "delays": delays()}


def delays(episodes: int = 1000) -> dict[str, Any]:
    """What an expert earns that acts on what it meant some time ago and errs in nothing else."""
    rows: dict[str, Any] = {}
    for world, rate in RATES.items():
        for seconds in (0.1, 0.2):
            earned = mean_interval(returns_of(world, Delay(seconds * rate), episodes, seed=0))
            rows[f"{world}, {seconds:g} s late"] = {"return": earned.mean, "error": earned.se}
    return rows


def show_speeds(table: dict[str, Any]) -> None:
    print("| world | steps per second | time / Cartpole's | time / gymnasium's |")
    print("|---|---|---|---|")
    for name, row in table.items():
        cells = [f"{row['steps per second']:,}"]
        for key in ("time / Cartpole's", "time / gymnasium's CartPole"):
            middle, low, high = row[key]
            cells.append(f"{middle:.2f} ({low:.2f} … {high:.2f})")
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


def show_returns(name: str, rows: dict[str, Any]) -> None:
    cells = [
        f"{who} {r['return']:.2f} ± {r['error']:.2f} ({r['share to the end']:.0%} to the end)"
        for who, r in rows.items()
    ]
    print(f"{name}: {'; '.join(cells)}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--slots", type=int, default=1024)
    parser.add_argument("--rounds", type=int, default=41)
    parser.add_argument("--episodes", type=int, default=10_000)
    parser.add_argument("--returns", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--out", type=Path, default=None)
    options = parser.parse_args()
    torch.set_num_threads(1)
    result: dict[str, Any] = {"speed": speeds(options.slots, options.rounds)}
    show_speeds(result["speed"])
    if options.returns:
        result |= all_returns(options.episodes)
    if options.out is not None:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
