"""Kinematic measures of an episode, independent of its score.

    length        pairs
    speed         mean step, relative to the dataset's median step
    smoothness    spectral arc length of the speed, 0 or below; nearer to 0 is smoother
    jerk          RMS of a_(t+1) − 2 a_t + a_(t−1) per dimension, actions spanning [−1, 1]
    idle          share of steps that move less than a tenth of the dataset's median step
    efficiency    straight way from first to last observation over the way taken, 0 to 1
    saturation    share of pairs with an action dimension within 1 % of a bound, or beyond it

Speed and ways are those of the observations, each divided by its standard deviation in the dataset.
Measures that an episode is too short for are NaN.
"""

from __future__ import annotations

import numpy as np

from counterbc.data.angles import cos_and_sin
from counterbc.data.arrays import Array
from counterbc.data.demonstrations import Demonstrations

MEASURES = ("length", "speed", "smoothness", "jerk", "idle", "efficiency", "saturation")
_CUTOFF = 0.05  # of the spectrum's height: what lies beyond is taken for noise
_EDGE = 0.98  # of [−1, 1]


def kinematics(path: Array, action: Array, typical_step: float) -> dict[str, float]:
    """Return the measures of an episode from scaled observations (T, S) and actions (T, A).

    `typical_step` is the dataset's median step.
    """
    step = np.linalg.norm(np.diff(path, axis=0), axis=1)  # (T − 1,)
    way = float(step.sum())
    straight = float(np.linalg.norm(path[-1] - path[0]))
    bend = np.diff(action, n=2, axis=0)  # (T − 2, A)
    return {
        "length": float(len(action)),
        "speed": float(step.mean()) / typical_step if typical_step > 0 and len(step) else np.nan,
        "smoothness": spectral_arc_length(step) if len(step) > 3 and way > 0 else np.nan,
        "jerk": float(np.sqrt((bend**2).mean())) if len(bend) else np.nan,
        "idle": float((step < 0.1 * typical_step).mean()) if len(step) else np.nan,
        "efficiency": straight / way if way > 0 else np.nan,
        "saturation": float((np.abs(action) >= _EDGE).any(axis=1).mean()),
    }


def paths(demos: Demonstrations) -> tuple[list[Array], float]:
    """Return the scaled observations of each episode, and the dataset's median step."""
    demos = cos_and_sin(demos)
    spread = demos.obs.std(0, dtype=np.float64)
    scaled = [e.obs / np.where(spread > 0, spread, 1) for e in demos.episodes]
    steps = [np.linalg.norm(np.diff(p, axis=0), axis=1) for p in scaled if len(p) > 1]
    return scaled, float(np.median(np.concatenate(steps))) if steps else 0.0


def speeds(demos: Demonstrations) -> Array:
    """Return the mean step of each episode in scaled observations, NaN for one pair: (E,)."""
    steps = [np.linalg.norm(np.diff(p, axis=0), axis=1) for p in paths(demos)[0]]
    return np.array([s.mean() if len(s) else np.nan for s in steps])


def spectral_arc_length(speed: Array) -> float:
    """Return −∫ √(1 + (dV/dω)²) dω of the spectrum V of a speed (T,), V(0) = 1, ω over [0, 1].

    As Balasubramanian and others define it (2015), with ω in units of the highest frequency that
    the rate can show; it ends where V stays below 5 %.
    """
    samples = 1 << (int(np.ceil(np.log2(len(speed)))) + 4)
    spectrum = np.abs(np.fft.rfft(speed, samples))
    spectrum = spectrum / spectrum[0]
    last = int(np.flatnonzero(spectrum >= _CUTOFF)[-1])
    if last == 0:
        return 0.0
    height = np.diff(spectrum[: last + 1])
    return -float(np.sqrt((1 / last) ** 2 + height**2).sum())
