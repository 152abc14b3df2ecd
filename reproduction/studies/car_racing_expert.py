"""The expert's return in both simulators of Car Racing, on the same number of tracks."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np

from counterbc.acting.intervals import mean_interval
from counterbc.envs import WORLDS, make_vec
from reproduction.options import StudyOptions, option
from reproduction.records import Record, computed_with, update
from reproduction.studies.car_racing import WORLD

BACKENDS = ("envpool", "gymnasium")


@dataclass(frozen=True, kw_only=True)
class CarRacingExpertOptions(StudyOptions):
    """Drive with the expert in both simulators."""

    tracks: int = 24
    backends: tuple[str, ...] = option(BACKENDS, "simulators")


def run(options: CarRacingExpertOptions) -> None:
    """Drive in each simulator and write the returns."""
    numbers = {}
    for backend in options.backends:
        numbers[backend] = drive(backend, options.tracks)
        print(json.dumps({backend: numbers[backend]}), flush=True)
    update(options.numbers(WORLD), expert=numbers)


def drive(backend: str, tracks: int) -> Record:
    """Return the expert's returns and its share of the track."""
    expert = WORLDS[WORLD].load_expert()
    env: Any = make_vec(WORLD, tracks, backend=backend)
    obs, _ = env.reset(seed=list(range(tracks)))
    returns, active, lap = np.zeros(tracks), np.ones(tracks, bool), np.zeros(tracks)
    for t in range(WORLDS[WORLD].steps):
        obs, reward, terminated, truncated, info = env.step(expert(obs, np.arange(tracks), t))
        returns += np.where(active, reward, 0)
        lap = np.where(active, info["lap"], lap)
        active &= ~(terminated | truncated)
        if not active.any():
            break
    env.close()
    mean = mean_interval(returns)
    numbers: Record = {"tracks": tracks, "return": mean.mean, "se": mean.se}
    numbers |= {"worst": float(returns.min()), "lap": float(lap.mean())}
    return numbers | computed_with("cpu")
