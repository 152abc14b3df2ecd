"""How fast the worlds step, each against the simulator it replaces.

    python benchmarks/worlds.py core          Intersection, Cartpole, air hockey, …
    python benchmarks/worlds.py push-t        against gym-pusht
    python benchmarks/worlds.py can           against robosuite
    python benchmarks/worlds.py car-racing    envpool against gymnasium

Simulators take turns with the same actions on one core. Results go to benchmarks/results.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import torch

import counterbc as cb
from counterbc.envs import WORLDS, make_vec

RESULTS = Path(__file__).parent / "results"
TURN = 0.1  # seconds of a turn: long enough for many resets of every slot
REFERENCE = "gymnasium's CartPole-v1"
BACKENDS = ("envpool", "gymnasium")


def core(slots: int = 1024, rounds: int = 41) -> dict[str, Any]:
    """Return steps per second under random actions, resets included, and ratios of times."""
    import gymnasium

    reference = gymnasium.make_vec("CartPole-v1", slots, vectorization_mode="vector_entry_point")
    runs = {REFERENCE: stepper(reference)}
    worlds = [name for name, world in WORLDS.items() if world.extra is None]
    runs |= {world: stepper(make_vec(world, slots)) for world in worlds}
    steps = {name: max(5, round(TURN / run(20))) for name, run in runs.items()}
    seconds: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(rounds):
        for name, run in runs.items():
            seconds[name].append(run(steps[name]))
    return {name: _core_row(seconds, name, slots) for name in runs}


def stepper(env: Any) -> Callable[[int], float]:
    """Return a function that takes some steps and returns the seconds per step."""
    env.reset(seed=0)
    env.action_space.seed(0)
    actions = [env.action_space.sample() for _ in range(64)]

    def run(steps: int) -> float:
        start = time.perf_counter()
        for t in range(steps):
            env.step(actions[t % len(actions)])
        return (time.perf_counter() - start) / steps

    return run


def _core_row(seconds: dict[str, list[float]], name: str, slots: int) -> dict[str, Any]:
    """Return the speed of one world; ratios are medians over rounds with their quartiles."""

    def ratio(other: str) -> list[float]:
        values = np.array(seconds[name]) / np.array(seconds[other])
        return [round(float(v), 3) for v in np.percentile(values, [50, 25, 75])]

    return {
        "steps per second": round(slots / float(np.median(seconds[name]))),
        "time / Cartpole's": ratio("cartpole"),
        "time / gymnasium's CartPole": ratio(REFERENCE),
    }


def push_t(count: int = 16, steps: int = 60) -> dict[str, float]:
    """Return steps per second of CPU time, ours and gym-pusht's."""
    import gym_pusht  # noqa: F401, registers its environment
    import gymnasium

    theirs: Any = [gymnasium.make("gym_pusht/PushT-v0").unwrapped for _ in range(count)]
    ours, rates = make_vec("push-t", count), dict[str, list[float]](ours=[], theirs=[])
    for turn in range(5):
        obs, _ = ours.reset(seed=turn * count)
        for i, env in enumerate(theirs):
            env.reset(seed=turn * count + i)
        near = np.random.default_rng(turn).normal(0, 60, (steps, count, 2))
        actions, start = [], time.process_time()
        for t in range(steps):
            actions.append(np.clip(obs[:, 2:4] + near[t], 0, 512).astype(np.float32))
            obs = ours.step(actions[-1])[0]
        middle = time.process_time()
        for action in actions:
            for env, row in zip(theirs, action, strict=True):
                env.step(row)
        rates["ours"].append(count * steps / (middle - start))
        rates["theirs"].append(count * steps / (time.process_time() - middle))
    return _medians(rates)


def can(steps: int = 60) -> dict[str, float]:
    """Return steps per second of CPU time, ours and robosuite's."""
    from counterbc.envs.can.simulator import Simulator

    ours, theirs = Simulator(), Simulator().env
    rates = dict[str, list[float]](ours=[], theirs=[])
    for turn in range(6):
        actions = np.random.default_rng(turn).uniform(-0.5, 0.5, (steps, 7))
        state = ours.start(turn)
        np.random.seed(turn)  # robosuite draws its starts from the global generator
        theirs.reset()
        start = time.process_time()
        for action in actions:
            state = ours.advance(state, action)
            ours.observe(state)
        middle = time.process_time()
        for action in actions:
            theirs.step(action)
        rates["ours"].append(steps / (middle - start))
        rates["theirs"].append(steps / (time.process_time() - middle))
    return _medians({name: values[1:] for name, values in rates.items()})  # the first compiles


def _medians(rates: dict[str, list[float]]) -> dict[str, float]:
    medians: dict[str, float] = {name: round(float(np.median(r))) for name, r in rates.items()}
    return medians | {"ratio": round(medians["ours"] / medians["theirs"], 1)}


def car_racing(repeats: int = 7, steps: int = 200, slots: int = 8) -> dict[str, Any]:
    """Return steps per second on one core, with and without a policy, for both simulators."""
    frames = np.random.default_rng(0).integers(0, 256, (20, 96, 96, 3), np.uint8)
    episode = cb.Episode(frames, np.zeros((20, 3)))
    demos = cb.Demonstrations((episode,), np.array([-1, 0, 0]), np.ones(3))
    policies = cb.train(demos, "bc", steps=1, progress=False)
    stepping: dict[str, list[float]] = {b: [] for b in BACKENDS}
    testing: dict[str, list[float]] = {b: [] for b in BACKENDS}
    for turn, backend in product(range(-1, repeats), BACKENDS):
        options: dict[str, Any] = {"backend": backend, "max_episode_steps": steps, "threads": 1}
        rate, start = _racing_rate(backend, steps), time.perf_counter()
        cb.evaluate(policies, "car-racing", episodes=slots, progress=False, **options)
        seconds = time.perf_counter() - start
        if turn >= 0:  # the first turn loads and compiles
            stepping[backend].append(rate)
            testing[backend].append(slots * steps / seconds)
    numbers: dict[str, Any] = {}
    for name, rates in (("steps per second", stepping), ("evaluation", testing)):
        ratios = np.array(rates["envpool"]) / np.array(rates["gymnasium"])
        numbers[name] = {b: round(float(np.median(rates[b])), 1) for b in BACKENDS}
        numbers[name]["ratio"] = [round(float(x), 2) for x in np.quantile(ratios, [0.5, 0, 1])]
    return numbers


def _racing_rate(backend: str, steps: int) -> float:
    """Return the steps per second of 8 cars on one thread, driving straight ahead."""
    env: Any = make_vec("car-racing", 8, backend=backend, threads=1)
    env.reset(seed=list(range(8)))
    action = np.tile([0.0, 0.1, 0.0], (8, 1))
    start = time.perf_counter()
    for _ in range(steps):
        env.step(action)
    rate = 8 * steps / (time.perf_counter() - start)
    env.close()
    return rate


BENCHMARKS: dict[str, tuple[Callable[[], dict[str, Any]], str]] = {
    "core": (core, "worlds-speed.json"),
    "push-t": (push_t, "push-t-speed.json"),
    "can": (can, "can-speed.json"),
    "car-racing": (car_racing, "car-racing-speed.json"),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("world", choices=BENCHMARKS)
    parser.add_argument("--out", type=Path, help="by default a file in benchmarks/results")
    options = parser.parse_args()
    torch.set_num_threads(1)
    measure, name = BENCHMARKS[options.world]
    text = json.dumps(measure(), indent=1)
    (options.out or RESULTS / name).write_text(text + "\n")
    print(text)


if __name__ == "__main__":
    main()
