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

from collections.abc import Sequence

import numpy as np

from counterbc.data.angles import cos_and_sin
from counterbc.data.arrays import Array
from counterbc.data.demonstrations import Demonstrations
from counterbc.diagnosis.equal_lengths import equal_lengths

MEASURES = ("length", "speed", "smoothness", "jerk", "idle", "efficiency", "saturation")
_CUTOFF = 0.05  # of the spectrum's height: what lies beyond is taken for noise
_EDGE = 0.98  # of [−1, 1]


def all_kinematics(
    paths: Sequence[Array], actions: Sequence[Array], typical_step: float
) -> dict[str, Array]:
    """Return the measures of episodes of scaled observations (T, S) and actions (T, A): (E,) each.

    `typical_step` is the dataset's median step.
    """
    measures = {name: np.full(len(paths), np.nan) for name in MEASURES}
    for episodes, path, action in equal_lengths(paths, actions):
        for name, values in _measures(path, action, typical_step).items():
            measures[name][episodes] = values
    return measures


def _measures(path: Array, action: Array, typical_step: float) -> dict[str, Array]:
    """Return the measures of episodes of T pairs: (E, T, S), (E, T, A) → (E,) each."""
    length = action.shape[1]
    nothing = np.full(len(path), np.nan)
    step = _steps(path)  # (E, T − 1)
    way, between = step.sum(1), path[:, -1] - path[:, 0]
    moves = way > 0
    smoothness, efficiency = nothing.copy(), nothing.copy()
    if length > 4:
        smoothness[moves] = spectral_arc_lengths(step[moves])
    straight = np.sqrt(np.vecdot(between, between))
    efficiency[moves] = straight[moves] / way[moves]
    bend = np.diff(action, n=2, axis=1).reshape(len(path), -1)  # (E, (T − 2) A)
    return {
        "length": np.full(len(path), float(length)),
        "speed": step.mean(1) / typical_step if typical_step > 0 and length > 1 else nothing,
        "smoothness": smoothness,
        "jerk": np.sqrt((bend**2).mean(1)) if length > 2 else nothing,
        "idle": (step < 0.1 * typical_step).mean(1) if length > 1 else nothing,
        "efficiency": efficiency,
        "saturation": (np.abs(action) >= _EDGE).any(axis=2).mean(1),
    }


def paths(demos: Demonstrations) -> tuple[list[Array], float]:
    """Return the scaled observations of each episode, and the dataset's median step."""
    demos = cos_and_sin(demos)
    obs = demos.obs
    spread = obs.std(0, dtype=np.float64)
    ends = np.cumsum(demos.lengths)
    scaled = np.split(obs / np.where(spread > 0, spread, 1), ends[:-1])
    steps = [_steps(x).ravel() for _, x in equal_lengths(scaled) if x.shape[1] > 1]
    return scaled, float(np.median(np.concatenate(steps))) if steps else 0.0


def speeds(demos: Demonstrations) -> Array:
    """Return the mean step of each episode in scaled observations, NaN for one pair: (E,)."""
    out = np.full(len(demos), np.nan)
    for episodes, path in equal_lengths(paths(demos)[0]):
        if path.shape[1] > 1:
            out[episodes] = _steps(path).mean(1)
    return out


def _steps(path: Array) -> Array:
    """Return how far each step goes: (E, T, S) → (E, T − 1)."""
    return np.asarray(np.linalg.norm(np.diff(path, axis=1), axis=2))


def spectral_arc_length(speed: Array) -> float:
    """Return −∫ √(1 + (dV/dω)²) dω of the spectrum V of a speed (T,), V(0) = 1, ω over [0, 1].

    As Balasubramanian and others define it (2015), with ω in units of the highest frequency that
    the rate can show; it ends where V stays below 5 %.
    """
    return float(spectral_arc_lengths(speed[None])[0])


def spectral_arc_lengths(speed: Array) -> Array:
    """Return the same for many speeds of equal length: (E, T) → (E,)."""
    samples = 1 << (int(np.ceil(np.log2(speed.shape[1]))) + 4)
    spectrum = np.abs(np.fft.rfft(speed, samples))
    spectrum = spectrum / spectrum[:, :1]
    last = spectrum.shape[1] - 1 - (spectrum >= _CUTOFF)[:, ::-1].argmax(1)  # (E,)
    out = np.zeros(len(speed))
    for count in np.unique(last[last > 0]).tolist():
        rows = last == count
        height = np.diff(spectrum[rows, : count + 1], axis=1)
        out[rows] = -np.sqrt((1 / count) ** 2 + height**2).sum(1)
    return out
