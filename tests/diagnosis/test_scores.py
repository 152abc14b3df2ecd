"""Numbers of episodes and operators, computed by hand."""

from __future__ import annotations

from dataclasses import replace
from unittest.mock import Mock

import numpy as np
import pytest

from counterbc.data.demonstrations import Demonstrations, Episode
from counterbc.diagnosis import components
from counterbc.diagnosis.scores import episode_scores, operator_scores


def _two_people() -> tuple[Demonstrations, np.ndarray]:
    episodes = tuple(
        Episode(np.arange(4.0)[:, None], np.zeros((4, 2)), operator=name)
        for name in ("ann", "bob", "ann")
    )
    off = np.concatenate([np.full((4, 2), [0.3, 0.4]), np.zeros((4, 2)), np.full((4, 2), [0.3, 0])])
    return Demonstrations(episodes), off


def test_a_score_is_the_root_mean_square_less_what_is_usual_and_lasts() -> None:
    demos, off = _two_people()
    episodes = episode_scores(demos, off, np.zeros((12, 2)))
    # Nothing changes within an episode, so all lasts: 0.25, 0 and 0.09, of which 0.09 is usual.
    assert [s.distance for s in episodes] == pytest.approx([0.4, 0.0, 0.0])
    assert [s.persistent for s in episodes] == pytest.approx([0.4, 0.0, 0.0])
    assert [s.noise for s in episodes] == [0.0, 0.0, 0.0]
    assert episodes[0].per_dimension == pytest.approx((0.3, 0.4))
    assert episodes[0].as_dict()["lasting"] == episodes[0].persistent
    assert "persistent" not in episodes[0].as_dict()
    ann, bob = operator_scores(demos, off, episodes)
    assert (ann.name, ann.episodes, ann.pairs) == ("ann", 2, 8)
    # 0.17 lasts, 0.08 more than usual, and by chance it varies by 1.4826 · 0.09 / √2 = 0.094.
    assert (ann.distance, ann.persistent) == (0.0, 0.0)
    assert ann.bias == pytest.approx((0.3, 0.2))
    assert (bob.distance, bob.bias) == (0.0, (0.0, 0.0))


def test_what_lasts_counts_against_a_person_where_chance_does_not_make_it() -> None:
    rng = np.random.default_rng(0)
    noise = rng.uniform(-0.3, 0.3, (30, 40, 1))
    slow = 0.1 * np.sin(np.arange(40) / 8 + rng.uniform(0, 6, (30, 1)))[..., None]
    off = noise + slow
    off[:6] += 0.5
    people = [f"p{i // 6}" for i in range(30)]
    demos = Demonstrations(
        tuple(Episode(np.zeros((40, 1)), np.zeros((40, 1)), operator=p) for p in people)
    )
    flat = off.reshape(-1, 1)
    biased, *rest = operator_scores(demos, flat, episode_scores(demos, flat, flat))
    assert biased.persistent == pytest.approx(0.5, abs=0.03)
    assert biased.distance == pytest.approx(np.hypot(biased.noise, biased.persistent))
    assert [s.persistent for s in rest] == [0.0] * 4
    assert all(s.low < s.distance == s.noise < s.high for s in rest)


def test_the_interval_of_a_person_is_over_the_noise_of_the_episodes_by_hand() -> None:
    spikes = np.array([0.0, 0, 1, 0, 0, 1, 0, 0, 1])  # noise 5/16; neither of two steps lasts
    noise = np.array([1.0, 2, 3, 2, 2, 2])
    off = (np.sqrt(noise * 16 / 5)[:, None] * spikes).reshape(-1, 1)
    demos = Demonstrations(
        tuple(Episode(np.zeros((9, 1)), np.zeros((9, 1)), operator=name) for name in "aaabbb")
    )
    ann, bob = operator_scores(demos, off, episode_scores(demos, off, np.zeros((54, 1))))
    half = 2.919986 / np.sqrt(3)  # Student's 95 % quantile with two degrees of freedom
    assert ann.distance**2 == pytest.approx(2)
    assert (ann.low**2, ann.high**2) == pytest.approx((2 - half, 2 + half))
    assert (bob.low, bob.high) == pytest.approx((bob.distance, bob.distance))


def test_what_is_usual_is_computed_once_however_many_episodes_are_scored(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    median = Mock(wraps=components._median)
    monkeypatch.setattr(components, "_median", median)
    rng, counts = np.random.default_rng(0), []
    for count in (12, 48):
        median.reset_mock()
        episodes = tuple(Episode(np.zeros((5, 1)), np.zeros((5, 1))) for _ in range(count))
        episode_scores(
            Demonstrations(episodes), rng.normal(size=(5 * count, 1)), np.zeros((5 * count, 1))
        )
        counts.append(median.call_count)
    assert counts[0] == counts[1] > 0


def test_a_person_with_one_episode_scores_as_the_episode_does() -> None:
    demos, off = _two_people()
    off = off + np.random.default_rng(0).normal(0, 0.1, off.shape)
    episodes = episode_scores(demos, off, np.zeros((12, 2)))
    _, bob = operator_scores(demos, off, episodes)
    second = episodes[1]
    assert second.high > 0
    assert (bob.distance, bob.low, bob.high) == (second.distance, second.low, second.high)


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0004, "< 0.001"), (0.0006, "0.001"), (0.1234, "0.123"), (1e-9, "< 0.001")],
)
def test_a_small_distance_is_printed_as_a_bound_and_not_as_zero(value: float, text: str) -> None:
    demos = Demonstrations((Episode(np.ones((1, 2)), np.zeros((1, 1))),))
    (score,) = episode_scores(demos, np.full((1, 1), 0.2), np.zeros((1, 1)))
    small = replace(score, distance=value, noise=value, persistent=value)
    assert (small.amount, *small.components) == (text, text, text)
    absent = replace(small, distance=0.0, noise=0.0, persistent=np.nan, high=value)
    assert (absent.amount, *absent.components) == (f"< {max(value, 0.001):.3f}", "–", "–")
    assert replace(absent, high=np.nan).amount == "not clear"


def test_an_episode_of_one_pair_has_a_score_and_no_movement() -> None:
    demos = Demonstrations((Episode(np.ones((1, 2)), np.zeros((1, 1))),))
    (score,) = episode_scores(demos, np.full((1, 1), 0.2), np.zeros((1, 1)))
    assert score.distance == pytest.approx(0.2)
    assert np.isnan([score.noise, score.persistent]).all()
    assert np.isnan(score.kinematics["smoothness"])
    assert score.interval == ""
