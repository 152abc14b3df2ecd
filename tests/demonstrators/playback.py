"""Helpers that play teachers on given intentions, and teachers to play."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from counterbc.demonstrators import (
    HUMAN_TEACHERS,
    Bias,
    Delay,
    EpisodeBatch,
    EpsilonGreedy,
    Fatigue,
    GaussianNoise,
    Joystick,
    Keyboard,
    Lapses,
    MotorNoise,
    Overshoot,
    Teacher,
    UniformNoise,
    WrongButtons,
)

Array = NDArray[Any]

HUMAN_LIKE: list[Teacher] = [
    Delay(0.15),
    Lapses(0.3),
    Lapses(0.3, holds=False),
    MotorNoise(0.3, 0.1, 0.6),
    Overshoot(0.8, 0.5),
    Bias(0.3, seed=4),
    Keyboard(),
    Joystick(),
    WrongButtons(swap=0.2, flip=0.2),
    Fatigue(MotorNoise(0.3), during=2.0, after=1.0),
    *HUMAN_TEACHERS.values(),
]
RATE = 10.0
NOISY: list[Teacher] = [UniformNoise(0.5), GaussianNoise(0.5), EpsilonGreedy(0.5)]


def make_batch(episodes: int, size: int = 2, steps: int = 12) -> EpisodeBatch:
    """Return episodes 0, 1, … with keys like those of recordings."""
    return EpisodeBatch(np.arange(episodes) + 2**62, np.arange(episodes), size, steps, RATE)


def play(teacher: Teacher, intention: Array, batch: EpisodeBatch | None = None) -> Array:
    """Return what the teacher shows for these intentions: (T, N, A) → (T, N, A)."""
    steps, episodes, size = intention.shape
    distort = teacher.begin(batch or make_batch(episodes, size, steps))
    return np.stack([distort(action, t) for t, action in enumerate(intention)])


def play_one(teacher: Teacher, *intention: float) -> Array:
    """Return what one episode with one action dimension shows: (T,)."""
    return play(teacher, np.reshape(intention, (-1, 1, 1)))[:, 0, 0]


def random_intentions(episodes: int, size: int = 2, steps: int = 12) -> Array:
    """Return uniform actions: (T, N, A)."""
    return np.random.default_rng(0).uniform(-1, 1, (steps, episodes, size))
