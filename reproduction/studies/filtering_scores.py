"""Scores of episodes that the study `filtering` compares; larger is worse in all of them.

Ours are `counterbc score` and `counterbc influence`. The others are measures of published tools,
computed from arrays by the formulas of those tools:

BC residual         held-out error of BC, stopped at the number of steps that the search chose
mutual information  minus an episode's mean share in the KSG estimate over all pairs, as in DemInf
                    without its autoencoder
democlean           minus the KSG estimate within the episode (version 0.1.5, k = 3)
lerobot-doctor      minus its `score` of 0 to 100 (version 0.2.0): jerk, coverage, consistency with
                    the mean actions of other episodes, and length
smoothness          minus the spectral arc length of the observations' speed
spectrum            share of the power of the actions in the upper half of the frequencies
shortest, longest   the length
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree
from scipy.special import digamma

import counterbc as cb
from counterbc.data.action_scale import scaled_actions
from counterbc.diagnosis.components import by_episode
from counterbc.diagnosis.kinematics import paths, spectral_arc_length

Array = NDArray[Any]
NEIGHBOURS = 3
"""Neighbours of the KSG estimate (Kraskov and others 2004), as in democlean."""


def array_scores(demos: cb.Demonstrations) -> dict[str, Array]:
    """Return the scores that need no policies: (E,) each."""
    actions = [e.action.astype(np.float64) for e in demos.episodes]
    steps = [np.linalg.norm(np.diff(p, axis=0), axis=1) for p in paths(demos)[0]]
    length = np.array([len(e) for e in demos.episodes], np.float64)
    return {
        "mutual information": -pooled_information(demos),
        "democlean": -np.array(
            [max(information(e.obs, e.action).mean(), 0.0) for e in demos.episodes]
        ),
        "lerobot-doctor": -doctor_scores(actions),
        "smoothness": -np.array([spectral_arc_length(s) for s in steps]),
        "spectrum": np.array([fast_share(a) for a in by_episode(demos, _scaled(demos))]),
        "shortest": -length,
        "longest": length,
    }


def _scaled(demos: cb.Demonstrations) -> Array:
    return np.asarray(scaled_actions(demos, demos.action.astype(np.float64)))


def information(x: Array, y: Array) -> Array:
    """Return each pair's share in the KSG estimate of the mutual information of x and y: (N,).

    Pairs have ψ(k) + ψ(N) − ψ(n_x + 1) − ψ(n_y + 1), with n_x and n_y the numbers of other pairs
    within the distance of the k-th neighbour; the estimate is their mean. 0 for k pairs or fewer.
    """
    if len(x) <= NEIGHBOURS:
        return np.zeros(len(x))
    x, y = _standardize(x), _standardize(y)
    xy = np.hstack([x, y])
    radius = cKDTree(xy).query(xy, NEIGHBOURS + 1, p=np.inf)[0][:, -1]
    near = [
        cKDTree(z).query_ball_point(z, radius, p=np.inf, return_length=True) - 1 for z in (x, y)
    ]
    constant = digamma(NEIGHBOURS) + digamma(len(x))
    return np.asarray(constant - digamma(near[0] + 1) - digamma(near[1] + 1))


def _standardize(x: Array) -> Array:
    spread = x.std(0, dtype=np.float64)
    return np.asarray((x - x.mean(0, dtype=np.float64)) / np.where(spread < 1e-10, 1.0, spread))


def pooled_information(demos: cb.Demonstrations) -> Array:
    """Return each episode's mean share in the mutual information of all pairs: (E,)."""
    shares = by_episode(demos, information(demos.obs, demos.action))
    return np.array([s.mean() for s in shares])


def doctor_scores(actions: list[Array]) -> Array:
    """Return what `lerobot-doctor score` computes from the actions of each episode: (E,)."""
    means = np.array([a.mean(0) for a in actions])  # (E, A)
    spread = np.maximum(means.std(0), 1e-6)
    away = np.abs((means - means.mean(0)) / spread).mean(1)
    consistency = 100 * np.exp(-away) if len(actions) > 3 else np.zeros(len(actions))
    median = float(np.median([len(a) for a in actions]))
    parts = np.array([(_steady(a), _coverage(a), _usual_length(len(a) / median)) for a in actions])
    total = 0.3 * parts[:, 0] + 0.25 * parts[:, 1] + 0.25 * consistency + 0.2 * parts[:, 2]
    return np.where([len(a) < 3 for a in actions], 10.0, total)


def _steady(action: Array) -> float:
    bend = np.diff(action, n=2, axis=0)
    return float(100 * np.exp(-30 * np.abs(bend).mean())) if len(bend) else 50.0


def _coverage(action: Array) -> float:
    if len(action) < 5:
        return 30.0
    spread = action.std(0)
    return float(min(200 * spread.mean(), 100.0) * (1 - (spread < 1e-6).mean()))


def _usual_length(ratio: float) -> float:
    """Return up to 100 for the median length, by the ratio of a length to it."""
    if ratio < 0.3:
        return 100 * ratio
    return 100 / ratio if ratio > 3 else min(100.0, 50 + 50 * min(ratio, 1 / ratio))


def fast_share(action: Array) -> float:
    """Return the share of power in the upper half of the frequencies: (T, A) → 0 to 1."""
    power = np.abs(np.fft.rfft(action - action.mean(0), axis=0)) ** 2  # (F, A)
    total = float(power.sum())
    return float(power[len(power) // 2 :].sum()) / total if total > 0 else 0.0


def worst(score: Array, count: int, rng: np.random.Generator) -> Array:
    """Return a mask of the `count` episodes with the largest score; ties are broken at random."""
    order = np.lexsort((rng.random(len(score)), -np.nan_to_num(score, nan=-np.inf)))
    mask = np.zeros(len(score), bool)
    mask[order[:count]] = True
    return mask


def random_like(lengths: Array, exclusion: Array, rng: np.random.Generator, near: int = 5) -> Array:
    """Return a random mask of episodes as long as the excluded ones.

    For each of these, one of the `near` episodes nearest in length is drawn, which may be itself.
    """
    mask = np.zeros(len(lengths), bool)
    for i in rng.permutation(np.flatnonzero(exclusion)):
        free = np.flatnonzero(~mask)
        distance = np.abs(lengths[free] - lengths[i])
        nearest = free[np.lexsort((rng.random(len(free)), distance))[:near]]
        mask[rng.choice(nearest)] = True
    return mask
