"""Batches of episodes, and demonstrators that act from observations."""

from __future__ import annotations

import numpy as np
import pytest

from counterbc.demonstrators import Control, Demonstrator, EpisodeBatch, UniformNoise, record
from tests.demonstrators.playback import make_batch


class Halfway(Demonstrator):
    """Shows half of the expert's action, plus a hundredth of the first observation."""

    def control(self, batch: EpisodeBatch) -> Control:
        return lambda obs, best, t: 0.5 * best + 0.01 * obs[:, :1]


def test_draws_belong_to_an_episode_and_a_purpose() -> None:
    batch = make_batch(4)
    u = batch.uniform("a", 3)
    assert u.shape == (12, 4, 3)
    np.testing.assert_array_equal(u, batch.uniform("a", 3))
    assert (u != batch.uniform("b", 3)).all()
    rows = np.array([2, 0])
    np.testing.assert_array_equal(batch.select(rows, rows).uniform("a", 3), u[:, rows])


def test_the_steps_of_a_chain_get_other_draws_of_the_same_episodes() -> None:
    batch = make_batch(3)
    first, second = batch.for_step(0), batch.for_step(1)
    np.testing.assert_array_equal(first.number, batch.number)
    keys = [batch.key, first.key, second.key]
    assert len({int(k) for key in keys for k in key}) == 9
    np.testing.assert_array_equal(first.key, batch.for_step(0).key)


def test_normal_draws_are_standard() -> None:
    z = make_batch(5000).normal("z", 1)
    assert z.mean() == pytest.approx(0, abs=0.02)
    assert z.std() == pytest.approx(1, rel=0.02)


def test_a_demonstrator_acts_from_observations_and_from_the_experts_actions() -> None:
    for take in record("intersection", Halfway(), 2, seed=0):
        target = 0.5 * take.intended + 0.01 * take.episode.obs[:, :1]
        np.testing.assert_allclose(take.episode.action, target, rtol=1e-5, atol=1e-6)
        assert take.episode.operator is None


def test_a_teacher_ignores_observations() -> None:
    batch = make_batch(3, steps=1)
    best = np.full((3, 2), 0.2)
    left_action, right_action = (
        UniformNoise(0.5).control(batch)(obs, best, 0) for obs in np.eye(3)[:2]
    )
    np.testing.assert_array_equal(left_action, right_action)
