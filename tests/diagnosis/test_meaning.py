"""What demonstrators meant, by policies that did not see their episodes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import counterbc as cb
from counterbc.data.arrays import Array
from counterbc.data.demonstrations import Demonstrations
from counterbc.demonstrators import Chain, Delay, UniformNoise
from counterbc.demonstrators.recording import demonstrate, record
from counterbc.diagnosis.meaning import Meaning
from counterbc.errors import DataError, OptionError
from counterbc.selection.folds import split_folds
from counterbc.selection.held_out import HeldOut
from counterbc.selection.lag_errors import LagSearch
from counterbc.selection.radius import RadiusSearch
from tests.fixture_types import Make

Late = tuple[Demonstrations, Array]
SMALL: dict[str, Any] = {"progress": False, "hidden": (16,), "steps": 200}

pytestmark = pytest.mark.filterwarnings(
    "ignore::counterbc.errors.InfeasibleActions", "ignore::counterbc.errors.CannotTell"
)


def _meaning(demos: Demonstrations, **options: Any) -> Meaning:
    held_out = HeldOut(folds=3, repeats=options.pop("repeats", 1), seed=options.pop("seed", 0))
    return cb.meaning(demos, **(SMALL | {"held_out": held_out, "radius": 0.4} | options))


def test_no_episode_is_explained_by_a_policy_that_saw_it(make_demos: Make) -> None:
    demos = make_demos(episodes=6)
    wild = replace(demos.episodes[2], action=-demos.episodes[2].action)
    changed_demos = replace(demos, episodes=(*demos.episodes[:2], wild, *demos.episodes[3:]))
    before, after = _meaning(demos), _meaning(changed_demos)
    own_rows = slice(20, 30)
    assert np.array_equal(before.predicted[own_rows], after.predicted[own_rows])
    own_fold = next(f for f in split_folds(demos, 3, seed=0).held_out if 20 in f)
    other_pairs = np.setdiff1d(np.arange(60), own_fold)
    assert np.abs(before.predicted[other_pairs] - after.predicted[other_pairs]).max() > 0.01


def _of_three(demos: Demonstrations, people: str = "abc") -> Demonstrations:
    """Episodes of ann, ben and cy in the order of these letters, again and again."""
    names = {"a": "ann", "b": "ben", "c": "cy"}
    named_episodes = tuple(
        replace(e, operator=names[people[i % len(people)]]) for i, e in enumerate(demos.episodes)
    )
    return replace(demos, episodes=named_episodes)


def test_nobody_of_three_is_explained_by_a_policy_that_saw_another_episode_of_theirs(
    make_demos: Make,
) -> None:
    demos = _of_three(make_demos(episodes=6))
    wild = replace(demos.episodes[1], action=-demos.episodes[1].action)  # of ben, as the fifth is
    changed_demos = replace(demos, episodes=(demos.episodes[0], wild, *demos.episodes[2:]))
    before, after = _meaning(demos).predicted, _meaning(changed_demos).predicted
    assert np.array_equal(before[40:50], after[40:50])
    assert np.abs(before[20:30] - after[20:30]).max() > 0.01


def test_as_many_folds_as_operators_hold_out_every_pair_once(make_demos: Make) -> None:
    for folds in HeldOut(folds=5, repeats=2).split(_of_three(make_demos(episodes=9))):
        assert len(folds) == 3
        assert sorted(np.concatenate(folds.held_out)) == list(range(90))
        pairs_of_folds = zip(folds.learned, folds.held_out, strict=True)
        assert not any(np.isin(learned, held_out).any() for learned, held_out in pairs_of_folds)


@pytest.mark.parametrize("people", ["aaabaac", "ab"])
def test_episodes_are_dealt_where_one_person_shows_most_or_there_are_two(
    people: str, make_demos: Make
) -> None:
    demos = _of_three(make_demos(episodes=14), people)
    (folds,) = HeldOut(folds=3, repeats=1).split(demos)
    (plain,) = HeldOut(folds=3, repeats=1).split(make_demos(episodes=14))
    for fold, plain_fold in zip(folds.held_out, plain.held_out, strict=True):
        assert np.array_equal(fold, plain_fold)


def test_what_is_meant_is_within_the_radius_and_feasible(make_demos: Make) -> None:
    meaning = _meaning(make_demos(noise=0.6), radius=0.2)
    distances = np.linalg.norm(meaning.meant - meaning.shown, axis=1)
    inside = np.abs(meaning.shown).max(axis=1) <= 1
    assert distances[inside].max() <= 0.2 + 1e-6
    assert meaning.distance[inside].max() > 0.2, "else the limit was not tried"
    assert np.abs(meaning.meant).max() <= 1
    assert np.array_equal(meaning.cleaned.action, meaning.meant.astype(np.float32))


def test_scores_do_not_depend_on_the_units_of_actions(make_demos: Make) -> None:
    demos = make_demos()
    bounds = {"action_low": np.full(2, -10.0), "action_high": np.full(2, 10.0)}
    wide = make_demos(**bounds).map_actions(lambda a: 10 * a)
    assert _meaning(wide).distance == pytest.approx(_meaning(demos).distance, abs=1e-4)


def test_the_same_call_gives_the_same_numbers(make_demos: Make) -> None:
    first, second_meaning = (_meaning(make_demos(), repeats=2) for _ in range(2))
    assert np.array_equal(first.meant, second_meaning.meant)
    assert first.episodes == second_meaning.episodes
    assert not np.array_equal(first.meant, _meaning(make_demos(), repeats=2, seed=9).meant)


def test_a_noisy_operator_ranks_below_a_clean_one(make_demos: Make) -> None:
    clean, noisy = make_demos(episodes=8, noise=0.05), make_demos(episodes=8, noise=0.7)
    mixed_episodes = tuple(
        (clean if e.operator == "ada" else noisy).episodes[i] for i, e in enumerate(clean.episodes)
    )
    meaning = _meaning(replace(clean, episodes=mixed_episodes), steps=1000)
    ada, bob = meaning.operators
    assert (ada.name, bob.name) == ("ada", "bob")
    assert ada.high < bob.low
    assert max(s.distance for s in meaning.episodes[::2]) < max(
        s.distance for s in meaning.episodes[1::2]
    )


def test_a_constant_bias_is_seen_as_such(make_demos: Make) -> None:
    demos = make_demos(episodes=12, noise=0.02)
    people = [name for name in ("cy", "ann", "ben", "dee") for _ in range(3)]
    episodes = tuple(
        replace(e, action=e.action + np.array([0.3 * (operator == "cy"), 0.0]), operator=operator)
        for e, operator in zip(demos.episodes, people, strict=True)
    )
    biased, options = replace(demos, episodes=episodes), {"steps": 1000, "repeats": 4}
    cy, *rest = _meaning(biased, offsets="none", **options).operators
    assert cy.name == "cy"
    # With other seeds, and so with other rounding, it lies between 0.24 and 0.34.
    assert cy.bias[0] == pytest.approx(0.3, abs=0.15)
    assert all(o.bias[0] < 0.1 for o in rest)


def test_weights_fall_from_one_and_are_half_at_the_radius(make_demos: Make) -> None:
    meaning = _meaning(make_demos(), radius=0.4)
    off = np.zeros_like(meaning.residual)
    off[1], off[2] = (0.4, 0.0), (0.0, 1.2)
    weight = replace(meaning, residual=off).weight
    assert weight[:3].tolist() == pytest.approx([1.0, 0.5, 0.1])
    assert (meaning.weight > 0).all()
    assert replace(meaning, radius=(0.0, 0.0)).weight.tolist() == [1.0] * len(off)


def test_pairs_that_are_not_learned_from_are_explained_too(make_demos: Make) -> None:
    demos = make_demos(episodes=6)
    part = replace(demos, selected=np.arange(0, 60, 2))
    meaning = _meaning(part)
    assert meaning.meant.shape == (60, 2)
    assert not np.array_equal(meaning.predicted, _meaning(demos).predicted)


def test_actions_without_declared_bounds_are_limited_by_the_radius_only(make_demos: Make) -> None:
    meaning = _meaning(make_demos(action_low=None, action_high=None), radius=0.0)
    assert meaning.meant == pytest.approx(meaning.shown, abs=1e-6)


@pytest.mark.parametrize(
    ("options", "episodes", "error", "text"),
    [
        ({}, 1, DataError, "needs 20 pairs or more; there are 10"),
        ({"repeats": 0}, 4, OptionError, "repeats is 0; it must be 1 or more"),
        ({"radius": -1}, 4, OptionError, "0 or more"),
        ({"radius": "wide"}, 4, OptionError, "radius is 'wide'; it must be a number"),
    ],
)
def test_what_cannot_be_explained_is_refused_in_a_sentence(
    options: dict[str, Any], episodes: int, error: type[Exception], text: str, make_demos: Make
) -> None:
    with pytest.raises(error, match=text):
        _meaning(make_demos(episodes=episodes), **options)


def test_a_path_in_place_of_demonstrations_is_refused() -> None:
    with pytest.raises(DataError, match="load them first"):
        cb.meaning("demos.hdf5")  # type: ignore[arg-type]  # that is what is tested


def test_a_fold_with_nothing_to_learn_from_is_refused(make_demos: Make) -> None:
    with pytest.raises(DataError, match="no selected pair to learn from"):
        _meaning(make_demos(selected=np.array([0])))


def test_fewer_episodes_than_folds_are_explained_in_blocks(make_demos: Make) -> None:
    demos = make_demos(episodes=2, length=60)
    (folds,) = HeldOut(folds=3, repeats=1).split(demos)
    assert folds.kind == "blocks"
    assert sorted(np.concatenate(folds.held_out)) == list(range(120))
    assert np.isfinite(_meaning(demos).predicted).all()


def test_blocks_of_another_repeat_begin_elsewhere(make_demos: Make) -> None:
    demos = make_demos(episodes=2, length=60)
    first, second = HeldOut(folds=3, repeats=2).split(demos)
    assert first.held_out[0].tolist() == list(range(40))
    assert second.held_out[0][0] not in (0, 40, 80)
    assert sorted(np.concatenate(second.held_out)) == list(range(120))
    for held_out, learned in zip(second.held_out, second.learned, strict=True):
        for pair in learned:
            together = held_out[demos.starts[held_out] == demos.starts[pair]]
            assert not len(together) or np.abs(together - pair).min() > second.gap


def test_where_meanings_disagree_more_of_what_was_shown_is_kept(make_demos: Make) -> None:
    demos = make_demos(episodes=6, noise=0.4)
    one_repeat, many = (_meaning(demos, repeats=r, radius=3.0) for r in (1, 3))
    inside = np.abs(demos.action).max(axis=1) <= 1

    def kept_share(meaning: Meaning) -> Any:
        before, after = meaning.shown - meaning.predicted, meaning.meant - meaning.predicted
        return (np.linalg.norm(after, axis=1) / np.linalg.norm(before, axis=1))[inside]

    assert kept_share(one_repeat).max() < 1e-5, "one policy cannot disagree"
    assert kept_share(many).min() > 1e-3
    assert kept_share(many).max() < 1


def test_the_radius_is_chosen_from_the_data_where_none_is_given(make_demos: Make) -> None:
    search = RadiusSearch(steps=50)
    meaning = _meaning(
        make_demos(episodes=6),
        radius=None,
        search=search,
        held_out=HeldOut(3, 1, steps=50),
        steps=10_000,
    )
    choice = cb.choose_radius(make_demos(episodes=6), search=search, progress=False, hidden=(16,))
    assert meaning.radius == (choice.radius,) * 2
    assert _meaning(make_demos(), radius=None, preset="paper").radius == (0.4, 0.4)


@pytest.fixture(scope="module")
def late() -> Late:
    """400 pairs of a teacher who is 0.2 s late, and what the expert intends at each state.

    The last of 16 episodes has 7 pairs, fewer than the 10 steps of the lag.
    """
    teacher = Chain((Delay(0.2), UniformNoise(0.2)))
    demos = demonstrate("cartpole", teacher, 400, seed=0)
    takes = zip(record("cartpole", teacher, len(demos), seed=0), demos.episodes, strict=True)
    return demos, np.concatenate([take.intended[: len(e)] for take, e in takes])


def test_with_a_lag_the_meant_action_is_what_was_intended_at_the_same_state(late: Late) -> None:
    demos, intended = late
    undone, as_shown = (_meaning(demos, lag=lag, steps=1000, repeats=2) for lag in ("0.2s", 0))
    assert undone.lag == (10.0,)
    actions = np.stack([undone.meant, undone.shown, as_shown.meant])[:, undone.has_answer]
    rms = np.sqrt(((actions - intended[undone.has_answer]) ** 2).mean((1, 2)))
    assert (rms[0] < 0.25 * rms[1:]).all()
    assert undone.moved.max() <= 0.4 + 1e-4, "Δ is around the action that was shown later"


def test_the_last_steps_of_an_episode_keep_their_action_and_have_weight_zero(late: Late) -> None:
    demos, _ = late
    meaning = _meaning(demos, lag=10)
    left = np.concatenate([np.arange(len(e))[::-1] for e in demos.episodes])  # steps after this
    assert np.array_equal(meaning.shown, demos.action)
    assert np.array_equal(meaning.weight > 0, left >= 10)
    assert np.array_equal(meaning.cleaned.learned, np.flatnonzero(left >= 10))
    assert np.array_equal(meaning.meant[left < 10], demos.action[left < 10])
    assert not meaning.moved[left < 10].any()
    assert not meaning.limited[left < 10].any()
    assert np.isfinite(meaning.meant).all()
    assert "lag        0.2 s (10 steps)" in repr(meaning)


def test_the_first_actions_of_an_episode_answer_no_state_and_do_not_matter(late: Late) -> None:
    demos, _ = late

    def hold_still(action: Array) -> Array:
        return np.where(np.arange(len(action))[:, None] < 10, 0.5, action).astype(np.float32)

    before, after = (_meaning(d, lag=10) for d in (demos, demos.map_actions(hold_still)))
    rows = before.has_answer
    assert not np.array_equal(before.shown[rows], after.shown[rows])
    assert np.array_equal(before.meant[rows], after.meant[rows])


def test_scores_count_only_pairs_that_a_lag_leaves_with_an_action(late: Late) -> None:
    demos, _ = late
    named = replace(demos, episodes=tuple(replace(e, operator="ada") for e in demos.episodes))
    meaning = _meaning(named, lag=10)
    assert [s.pairs for s in meaning.episodes] == [max(len(e) - 10, 0) for e in demos.episodes]
    assert meaning.operators[0].pairs == int(meaning.has_answer.sum())
    assert np.isfinite([s.distance for s in (*meaning.episodes[:-1], *meaning.operators)]).all()
    assert np.isnan(meaning.episodes[-1].distance), "its 7 pairs are fewer than the lag"


def test_the_lag_is_chosen_by_default_and_zero_in_the_presets_of_the_paper(late: Late) -> None:
    demos, _ = late
    assert _meaning(demos).lag == (10.0,)
    assert _meaning(demos, lag_search=LagSearch(seconds=0.1)).lag[0] <= 5
    assert _meaning(demos, preset="paper").lag == (0.0,)
