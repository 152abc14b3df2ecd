"""Variance components of residuals, computed by hand."""

from __future__ import annotations

import numpy as np
import pytest

from counterbc.diagnosis.components import Components


def test_what_changes_with_every_step_is_noise_and_what_stays_is_persistent() -> None:
    shaky, steady = np.array([1.0, -1.0] * 3)[:, None], np.full((6, 1), 2.0)
    components = Components.of([shaky, steady, shaky + steady, np.ones((2, 1))])
    assert components.noise[:3].tolist() == [2.0, 0.0, 2.0]
    assert components.persistent[:3].tolist() == [-1.0, 4.0, 3.0]
    assert np.isnan([components.noise[3], components.persistent[3]]).all()
    assert components.model_error == 3.0


def test_the_model_error_does_not_count_against_anybody() -> None:
    rng = np.random.default_rng(0)
    noise = rng.uniform(-0.3, 0.3, (30, 100, 1))
    slow = 0.2 * np.sin(np.arange(100) / 15 + np.arange(30)[:, None])[..., None]
    components = Components.of(list(noise + slow))
    assert components.model_error == pytest.approx(0.02, abs=0.004)
    total = ((noise + slow) ** 2).mean()
    assert total - components.model_error == pytest.approx(0.03, abs=0.004)


def test_the_quick_part_of_the_model_error_is_not_taken_for_noise() -> None:
    rng = np.random.default_rng(0)
    model = np.zeros((60, 100, 1))
    for t in range(100):  # of variance 0.02; seven tenths of it are still there a step later
        before = model[:, t - 1] if t else rng.normal(0, np.sqrt(0.02 / (1 - 0.7**2)), (60, 1))
        model[:, t] = 0.7 * before + rng.normal(0, np.sqrt(0.02 * (1 - 0.7**2)), (60, 1))
    components = Components.of(list(rng.uniform(-0.3, 0.3, (60, 100, 1)) + model))
    assert components.quick_model_error == pytest.approx(0.7 * 0.02 - 0.7**2 * 0.02, abs=0.001)
    assert components.noise.mean() > 0.034
    assert components.noise.mean() - components.quick_model_error == pytest.approx(0.03, abs=0.003)


def test_a_median_is_known_the_better_the_more_episodes_there_are() -> None:
    rng = np.random.default_rng(0)
    off = rng.normal(
        0, 0.3, (200, 40, 40, 1)
    )  # 200 datasets of 40 episodes that the model predicts
    samples = [Components.of(list(x)) for x in off]
    for lasts in (False, True):
        medians = [np.median(p.persistent - p.two_steps + lasts * p.persistent) for p in samples]
        expected_error = np.mean([p.standard_error(lasts) for p in samples])
        assert expected_error == pytest.approx(np.std(medians), rel=0.15)
    assert Components.of([np.ones((2, 1))]).standard_error(persistent=True) == 0


def test_how_people_differ_is_told_apart_from_how_their_episodes_do() -> None:
    rng = np.random.default_rng(0)
    people = np.arange(400).reshape(40, 10)

    def estimated_deviation(deviation: float) -> float:
        residuals = np.repeat(rng.normal(0.5, deviation, 40), 10) + rng.normal(0, 0.1, 400)
        off = np.sqrt(residuals)[:, None, None] * np.ones((400, 5, 1))  # all of it lasts
        return Components.of(list(off)).between(people.tolist())

    assert estimated_deviation(0.1) == pytest.approx(0.1, abs=0.03)
    assert estimated_deviation(0.0) < 0.03
    four_episodes = Components.of([np.full((5, 1), x) for x in (1.0, 2.0, 3.0, 4.0)])
    assert four_episodes.between([[0, 1], [2, 3]]) == 0, "two people say nothing of people"


def test_outliers_are_not_learned_from_and_most_episodes_always_are() -> None:
    rng = np.random.default_rng(0)
    off = [rng.normal(0, 0.1, (20, 2)) for _ in range(30)]
    wild = [5 * r if i in (3, 7) else r + 1 if i == 9 else r for i, r in enumerate(off)]
    assert np.flatnonzero(~Components.of(wild).learnable).tolist() == [3, 7, 9]
    assert Components.of(wild[:9]).learnable.all(), "nine episodes do not tell what is usual"
    two_ways = [r + 1 if i % 5 < 2 else r for i, r in enumerate(off)]
    assert Components.of(two_ways).learnable.sum() >= 20


def test_the_nearest_share_has_the_smallest_squares_and_keeps_short_episodes() -> None:
    sizes = (0.5, 0.1, 0.9, 0.2, 0.3)
    residuals = [np.full((5, 1), size) for size in sizes] + [np.full((2, 1), 9.0)]
    nearest = Components.of(residuals).nearest(2 / 3)
    assert nearest.tolist() == [False, True, False, True, True, True]
