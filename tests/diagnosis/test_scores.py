"""Numbers of episodes and operators, computed by hand."""

from __future__ import annotations

import numpy as np
import pytest

from counterbc.data.demonstrations import Demonstrations, Episode
from counterbc.diagnosis import uncertainty
from counterbc.diagnosis.components import Components
from counterbc.diagnosis.kinematics import kinematics, spectral_arc_length
from counterbc.diagnosis.scores import episode_scores, operator_scores


def _two_people() -> tuple[Demonstrations, np.ndarray]:
    episodes = tuple(
        Episode(np.arange(4.0)[:, None], np.zeros((4, 2)), operator=who)
        for who in ("ann", "bob", "ann")
    )
    off = np.concatenate([np.full((4, 2), [0.3, 0.4]), np.zeros((4, 2)), np.full((4, 2), [0.3, 0])])
    return Demonstrations(episodes), off


def test_a_score_is_the_root_mean_square_less_what_is_usual_and_lasts() -> None:
    demos, off = _two_people()
    episodes = episode_scores(demos, off, np.zeros((12, 2)))
    # Nothing changes within an episode, so all lasts: 0.25, 0 and 0.09, of which 0.09 is usual.
    assert [s.distance for s in episodes] == pytest.approx([0.4, 0.0, 0.0])
    assert [s.lasting for s in episodes] == pytest.approx([0.4, 0.0, 0.0])
    assert [s.noise for s in episodes] == [0.0, 0.0, 0.0]
    assert episodes[0].per_dimension == pytest.approx((0.3, 0.4))
    ann, bob = operator_scores(demos, off, episodes)
    assert (ann.name, ann.episodes, ann.pairs) == ("ann", 2, 8)
    # 0.17 lasts, 0.08 more than usual, and by chance it varies by 1.4826 · 0.09 / √2 = 0.094.
    assert (ann.distance, ann.lasting) == (0.0, 0.0)
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
    biased, *others = operator_scores(demos, flat, episode_scores(demos, flat, flat))
    assert biased.lasting == pytest.approx(0.5, abs=0.03)
    assert biased.distance == pytest.approx(np.hypot(biased.noise, biased.lasting))
    assert [s.lasting for s in others] == [0.0] * 4
    assert all(s.low < s.distance == s.noise < s.high for s in others)


def test_the_interval_of_a_person_is_over_the_noise_of_the_episodes_by_hand() -> None:
    spikes = np.array([0.0, 0, 1, 0, 0, 1, 0, 0, 1])  # noise 5/16; neither of two steps lasts
    noise = np.array([1.0, 2, 3, 2, 2, 2])
    off = (np.sqrt(noise * 16 / 5)[:, None] * spikes).reshape(-1, 1)
    demos = Demonstrations(
        tuple(Episode(np.zeros((9, 1)), np.zeros((9, 1)), operator=who) for who in "aaabbb")
    )
    ann, bob = operator_scores(demos, off, episode_scores(demos, off, np.zeros((54, 1))))
    half = 2.919986 / np.sqrt(3)  # Student's 95 % quantile with two degrees of freedom
    assert ann.distance**2 == pytest.approx(2)
    assert (ann.low**2, ann.high**2) == pytest.approx((2 - half, 2 + half))
    assert (bob.low, bob.high) == pytest.approx((bob.distance, bob.distance))


def test_a_person_with_one_episode_scores_as_the_episode_does() -> None:
    demos, off = _two_people()
    off = off + np.random.default_rng(0).normal(0, 0.1, off.shape)
    episodes = episode_scores(demos, off, np.zeros((12, 2)))
    _, bob = operator_scores(demos, off, episodes)
    mine = episodes[1]
    assert mine.high > 0
    assert (bob.distance, bob.low, bob.high) == (mine.distance, mine.low, mine.high)


def test_what_changes_with_every_step_is_noise_and_what_stays_lasts() -> None:
    shaky, steady = np.array([1.0, -1.0] * 3)[:, None], np.full((6, 1), 2.0)
    parts = Components.of([shaky, steady, shaky + steady, np.ones((2, 1))])
    assert parts.noise[:3].tolist() == [2.0, 0.0, 2.0]
    assert parts.lasting[:3].tolist() == [-1.0, 4.0, 3.0]
    assert np.isnan([parts.noise[3], parts.lasting[3]]).all()
    assert parts.judges == 3.0


def test_an_error_of_the_judges_does_not_count_against_anybody() -> None:
    rng = np.random.default_rng(0)
    noise = rng.uniform(-0.3, 0.3, (30, 100, 1))
    slow = 0.2 * np.sin(np.arange(100) / 15 + np.arange(30)[:, None])[..., None]
    parts = Components.of(list(noise + slow))
    assert parts.judges == pytest.approx(0.02, abs=0.004)
    total = ((noise + slow) ** 2).mean()
    assert total - parts.judges == pytest.approx(0.03, abs=0.004)


def test_what_of_the_judges_error_changes_in_a_step_is_not_taken_for_noise() -> None:
    rng = np.random.default_rng(0)
    judges = np.zeros((60, 100, 1))
    for t in range(100):  # of variance 0.02; seven tenths of it are still there a step later
        before = judges[:, t - 1] if t else rng.normal(0, np.sqrt(0.02 / (1 - 0.7**2)), (60, 1))
        judges[:, t] = 0.7 * before + rng.normal(0, np.sqrt(0.02 * (1 - 0.7**2)), (60, 1))
    parts = Components.of(list(rng.uniform(-0.3, 0.3, (60, 100, 1)) + judges))
    assert parts.quick == pytest.approx(0.7 * 0.02 - 0.7**2 * 0.02, abs=0.001)
    assert parts.noise.mean() > 0.034
    assert parts.noise.mean() - parts.quick == pytest.approx(0.03, abs=0.003)


def test_a_median_is_known_the_better_the_more_episodes_there_are() -> None:
    rng = np.random.default_rng(0)
    off = rng.normal(0, 0.3, (200, 40, 40, 1))  # 200 datasets of 40 episodes that judges know
    each = [Components.of(list(x)) for x in off]
    for lasts in (False, True):
        taken = [np.median(p.lasting - p.later + lasts * p.lasting) for p in each]
        said = np.mean([p.doubt(lasts) for p in each])
        assert said == pytest.approx(np.std(taken), rel=0.15)
    assert Components.of([np.ones((2, 1))]).doubt(lasts=True) == 0


def test_how_people_differ_is_told_apart_from_how_their_episodes_do() -> None:
    rng = np.random.default_rng(0)
    people = np.arange(400).reshape(40, 10)

    def said(deviation: float) -> float:
        own = np.repeat(rng.normal(0.5, deviation, 40), 10) + rng.normal(0, 0.1, 400)
        off = np.sqrt(own)[:, None, None] * np.ones((400, 5, 1))  # all of it lasts
        return Components.of(list(off)).between(people.tolist())

    assert said(0.1) == pytest.approx(0.1, abs=0.03)
    assert said(0.0) < 0.03
    few = Components.of([np.full((5, 1), x) for x in (1.0, 2.0, 3.0, 4.0)])
    assert few.between([[0, 1], [2, 3]]) == 0, "two people say nothing of people"


def test_odd_episodes_are_not_learned_from_and_most_always_are() -> None:
    rng = np.random.default_rng(0)
    off = [rng.normal(0, 0.1, (20, 2)) for _ in range(30)]
    wild = [5 * r if i in (3, 7) else r + 1 if i == 9 else r for i, r in enumerate(off)]
    assert np.flatnonzero(~Components.of(wild).learnable).tolist() == [3, 7, 9]
    assert Components.of(wild[:9]).learnable.all(), "of nine nobody can say what is usual"
    two_ways = [r + 1 if i % 5 < 2 else r for i, r in enumerate(off)]
    assert Components.of(two_ways).learnable.sum() >= 20


def test_the_unknown_error_of_the_judges_widens_an_interval() -> None:
    x = np.random.default_rng(0).uniform(0, 1, 50)
    low, high = uncertainty.of_series(x, less=0.2)
    wide_low, wide_high = uncertainty.of_series(x, less=0.2, spread=0.1)
    assert wide_low < low < np.sqrt(x.mean() - 0.2) < high < wide_high
    assert uncertainty.of_series(x, less=1.0) == (0.0, 0.0)


def test_intervals_of_independent_numbers_cover_nine_times_in_ten() -> None:
    rng = np.random.default_rng(0)
    draws = rng.uniform(0, 1, (400, 40))
    inside = [low <= np.sqrt(0.5) <= high for low, high in map(uncertainty.of_series, draws)]
    assert 0.86 < np.mean(inside) < 0.96


def test_neighbours_that_resemble_each_other_tell_less() -> None:
    x = np.random.default_rng(0).uniform(0, 1, 100)
    low, high = uncertainty.of_series(x)
    blocks = np.repeat(x[:20], 5)
    wide_low, wide_high = uncertainty.of_series(blocks)
    assert wide_high - wide_low > 1.5 * (high - low)


def test_intervals_over_few_groups_cover_nine_times_in_ten() -> None:
    rng = np.random.default_rng(1)
    inside = []
    for _ in range(300):
        low, high = uncertainty.of_groups(rng.uniform(0, 2, 8))
        inside.append(low <= 1.0 <= high)
    assert 0.85 < np.mean(inside) < 0.96


def test_intervals_hold_though_what_is_subtracted_is_known_with_an_error() -> None:
    rng = np.random.default_rng(2)
    inside = []
    for _ in range(300):
        low, high = uncertainty.of_groups(rng.uniform(0, 2, 30), rng.normal(0.5, 0.2), 0.2)
        inside.append(low**2 <= 0.5 <= high**2)
    assert 0.85 < np.mean(inside) < 0.96


def test_too_little_gives_no_interval() -> None:
    assert np.isnan(uncertainty.of_series(np.ones(2))).all()
    assert np.isnan(uncertainty.of_groups(np.ones(1))).all()


def test_a_straight_steady_path_is_efficient_and_never_idle() -> None:
    path = np.stack([np.arange(20.0), np.zeros(20)], axis=1)
    moves = kinematics(path, np.zeros((20, 1)), usual=1.0)
    assert moves["efficiency"] == pytest.approx(1.0)
    assert (moves["idle"], moves["jerk"], moves["saturation"]) == (0.0, 0.0, 0.0)


def test_a_way_there_and_back_with_a_rest_is_neither() -> None:
    path = np.array([0.0, 1, 2, 2, 2, 1, 0])[:, None]
    action = np.array([1.0, 1, 0, 0, -1, -1, 0])[:, None]
    moves = kinematics(path, action, usual=1.0)
    assert moves["efficiency"] == 0.0
    assert moves["idle"] == pytest.approx(2 / 6)
    assert moves["saturation"] == pytest.approx(4 / 7)
    # second differences: -1, 1, -1, 1, 1
    assert moves["jerk"] == pytest.approx(1.0)


def test_a_shaky_speed_is_less_smooth_than_a_bell() -> None:
    t = np.linspace(0, 1, 50)
    bell = np.sin(np.pi * t) ** 2
    shaky = bell * (1 + 0.5 * np.sin(30 * np.pi * t))
    assert spectral_arc_length(shaky) < spectral_arc_length(bell) < 0
    assert spectral_arc_length(3 * bell) == pytest.approx(spectral_arc_length(bell))


def test_an_episode_of_one_pair_has_a_score_and_no_movement() -> None:
    demos = Demonstrations((Episode(np.ones((1, 2)), np.zeros((1, 1))),))
    (score,) = episode_scores(demos, np.full((1, 1), 0.2), np.zeros((1, 1)))
    assert score.distance == pytest.approx(0.2)
    assert np.isnan([score.noise, score.lasting]).all()
    assert np.isnan(score.kinematics["smoothness"])
    assert score.interval == ""
