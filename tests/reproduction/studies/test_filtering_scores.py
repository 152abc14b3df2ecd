"""Scores of published tools, by hand."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import digamma

import counterbc as cb
from reproduction.studies import filtering_scores as fs


def test_information_of_gaussians_is_that_of_their_correlation() -> None:
    rng, rho = np.random.default_rng(0), 0.8
    x, y = rng.normal(size=(2, 3000, 1))
    y = rho * x + np.sqrt(1 - rho**2) * y
    assert fs.information(x, y).mean() == pytest.approx(-0.5 * np.log(1 - rho**2), abs=0.04)
    assert fs.information(x, rng.permutation(y)).mean() == pytest.approx(0, abs=0.04)
    assert fs.information(x[:3], y[:3]).tolist() == [0, 0, 0]


def test_information_counts_neighbours_as_kraskov_does() -> None:
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(2, 12, 2))
    x, y = ((z - z.mean(0)) / z.std(0) for z in (x, y))
    apart = [np.abs(z[:, None] - z[None]).max(-1) for z in (x, y)]
    radius = np.sort(np.maximum(*apart), axis=1)[:, 3]
    counts = [(d <= radius[:, None]).sum(1) - 1 for d in apart]
    estimate = digamma(3) + digamma(12) - sum(digamma(c + 1) for c in counts)
    np.testing.assert_allclose(fs.information(x, y), estimate, rtol=1e-12)


def test_a_doctor_score_is_made_of_four_parts() -> None:
    smooth = np.linspace(0, 1, 10)[:, None]
    short = smooth[:2]
    actions = [smooth, smooth, smooth, smooth, short]
    scores = fs.doctor_scores(actions)
    assert scores[4] == 10
    means = np.array([a.mean() for a in actions])
    consistency = 100 * np.exp(-abs(means[0] - means.mean()) / means.std())
    coverage = 200 * smooth.std()
    assert scores[0] == pytest.approx(0.3 * 100 + 0.25 * coverage + 0.25 * consistency + 0.2 * 100)


def test_fast_actions_have_their_power_in_the_upper_half_of_the_spectrum() -> None:
    t = np.arange(32)
    slow, fast = (np.sin(2 * np.pi * f * t / 32)[:, None] for f in (2, 13))
    assert fs.fast_share(slow) == pytest.approx(0, abs=1e-12)
    assert fs.fast_share(fast) == pytest.approx(1)
    assert fs.fast_share(np.ones((5, 1))) == 0


def test_noise_among_smooth_episodes_is_the_worst_by_every_score_but_length() -> None:
    rng, episodes = np.random.default_rng(2), []
    for i in range(6):
        obs = np.cumsum(rng.normal(size=(60, 2)), axis=0)
        action = rng.uniform(-1, 1, (60, 1)) if i == 3 else np.tanh(obs[:, :1] / 4)
        episodes.append(cb.Episode(obs, action))
    scores = fs.array_scores(cb.Demonstrations(tuple(episodes)))
    for name in ("mutual information", "democlean", "spectrum"):
        assert np.argmax(scores[name]) == 3, name
    assert np.ptp(scores["shortest"]) == 0
    np.testing.assert_array_equal(scores["longest"], -scores["shortest"])


def test_ties_among_the_worst_are_broken_at_random() -> None:
    rng, score = np.random.default_rng(0), np.array([1.0, 0, 0, np.nan, 2])
    assert np.flatnonzero(fs.worst(score, 2, rng)).tolist() == [0, 4]
    picks = {int(np.flatnonzero(fs.worst(score, 3, rng) & (score == 0))[0]) for _ in range(30)}
    assert picks == {1, 2}


def test_random_episodes_are_as_long_as_the_excluded_ones() -> None:
    lengths, rng = np.repeat([10, 50, 200], 8), np.random.default_rng(0)
    exclusion = np.zeros(24, bool)
    exclusion[[0, 1, 16]] = True
    masks = [fs.random_like(lengths, exclusion, rng) for _ in range(20)]
    assert all(sorted(lengths[m]) == [10, 10, 200] for m in masks)
    assert len({m.tobytes() for m in masks}) > 5
