from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from counterbc.data.demonstrations import Array, Demonstrations, Episode
from counterbc.errors import DataError, OptionError
from tests.data.datasets import episode, three_episodes

# One episode


# A dataset


def test_unnamed_episodes_are_numbered() -> None:
    assert [e.name for e in three_episodes().episodes] == ["demo_0", "demo_1", "demo_2"]


def test_dimensions_without_names_get_some() -> None:
    demos = Demonstrations((episode(),), obs_keys=(("x", 1), ("y", 1)))
    assert demos.obs_names == ("x[0]", "y[0]")
    assert demos.action_names == ("action[0]",)
    assert Demonstrations((episode(),)).obs_keys == (("state", 2),)


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"episodes": ()}, "at least one episode"),
        ({"episodes": (episode(name="a"), episode(name="a"))}, "two episodes are named 'a'"),
        (
            {"episodes": (episode(), Episode(obs=np.zeros((1, 3)), action=np.zeros((1, 1))))},
            r"'demo_1' has shape \(3,\)",
        ),
        (
            {"episodes": (episode(), Episode(obs=np.zeros((1, 2)), action=np.zeros((1, 4))))},
            "'demo_1' has 4 dimensions",
        ),
        ({"action_low": [-1]}, "both be given"),
        ({"action_low": [-1, -1], "action_high": [1, 1]}, r"shapes \(2,\) and \(2,\)"),
        ({"action_low": [1], "action_high": [1]}, "low < high"),
        ({"action_low": [-np.inf], "action_high": [1]}, "finite"),
        ({"action_set": "ball"}, "needs action_low"),
        ({"rate": 0.0}, "rate is 0.0"),
        ({"rate": np.nan}, "rate is nan"),
        ({"action_names": ("a", "b")}, "2 action names for 1 action dimensions; give one each"),
        ({"obs_names": ("a",)}, "1 obs names for 2 obs dimensions; give one each"),
        ({"obs_keys": (("a", 3),)}, "do not add up to 2; correct the widths"),
        ({"obs_keys": (("a", 2), ("b", 0))}, "do not add up to 2"),
        ({"obs_keys": (("a", 1), ("a", 1))}, "name a part twice; rename one"),
        ({"selected": []}, "non-empty"),
        ({"selected": [0, 0]}, "distinct indices in 0 … 2"),
        ({"selected": [3]}, "distinct indices in 0 … 2; drop others"),
        ({"selected": [-1]}, "distinct indices in 0 … 2"),
        ({"selected": [0.5]}, "float64 values; give the indices of pairs"),
        ({"selected": [True, False, True]}, "bool"),
    ],
)
def test_a_bad_dataset_is_refused_in_words(fields: dict[str, Any], sentence: str) -> None:
    with pytest.raises(DataError, match=sentence):
        Demonstrations(**({"episodes": (episode(),)} | fields))


def test_images_have_no_names_for_their_dimensions() -> None:
    image = Episode(obs=np.zeros((2, 4, 4, 3), np.uint8), action=np.zeros((2, 1)))
    assert Demonstrations((image,)).obs_names == ()
    with pytest.raises(DataError, match="leave them out for images"):
        Demonstrations((image,), obs_keys=(("image", 48),))


def test_an_unknown_action_set_lists_the_known_ones() -> None:
    with pytest.raises(OptionError, match="allowed: box, ball"):
        Demonstrations((episode(),), action_set="cube")  # type: ignore[arg-type]  # on purpose


def test_pairs_starts_and_operators_are_counted_in_episode_order() -> None:
    demos = three_episodes()
    assert demos.pairs == len(demos.obs) == len(demos.action) == 9
    assert demos.lengths.tolist() == [3, 2, 4]
    assert demos.starts.tolist() == [0, 0, 0, 3, 3, 5, 5, 5, 5]
    assert demos.learned.tolist() == list(range(9))
    assert demos.operators == ("ann", "bob")


def test_actions_outside_the_bounds_are_found_for_box_and_ball() -> None:
    corner = Episode(obs=np.zeros((3, 1)), action=[[0, 0], [9, 9], [11, 0]])  # type: ignore[arg-type]  # lists are read too
    low, high = np.array([-10, -10]), np.array([10, 10])
    box = Demonstrations((corner,), action_low=low, action_high=high)
    ball = Demonstrations((corner,), action_low=low, action_high=high, action_set="ball")
    assert box.infeasible.tolist() == [False, False, True]
    assert ball.infeasible.tolist() == [False, True, True]
    assert Demonstrations((corner,)).infeasible.tolist() == [False] * 3


def test_the_mean_return_needs_rewards_in_every_episode() -> None:
    with_rewards = (episode(2, reward=[1, 1]), episode(2, reward=[0, 4]))
    assert Demonstrations(with_rewards).mean_return == 3
    assert Demonstrations((*with_rewards, episode())).mean_return is None


def test_the_summary_says_what_is_in_it() -> None:
    assert repr(three_episodes().sample_pairs(4, seed=0)).splitlines() == [
        "Demonstrations from three.hdf5",
        "  episodes   3, 2 to 4 pairs long",
        "  pairs      4 selected of 9",
        "  obs        2  state[0], state[1]",
        "  action     1  action[0]",
        "  bounds     unknown (the 1–99 % range of the data will be used)",
        "  operators  ann, bob",
        "  success    2 of 3",
    ]


@pytest.mark.parametrize(
    ("change", "is_same"),
    [
        (lambda d: Demonstrations(d.episodes), True),
        (lambda d: d.map_actions(lambda a: a + 1), False),
        (lambda d: d.subset([0, 1]), False),
        (lambda d: d.sample_pairs(3, seed=0), False),
        (lambda d: replace(d, action_low=np.zeros(1), action_high=np.full(1, 99)), False),
        (lambda d: Demonstrations((*d.episodes[:2], episode(4, 20, operator="eve"))), False),
    ],
)
def test_the_fingerprint_changes_with_what_is_learned_from_and_only_then(
    change: Callable[[Demonstrations], Demonstrations], is_same: bool
) -> None:
    assert (change(three_episodes()).fingerprint() == three_episodes().fingerprint()) is is_same


# Parts of a dataset


@pytest.mark.parametrize(
    ("conditions", "kept_names"),
    [
        ({"episodes": [2, 0]}, ["demo_0", "demo_2"]),
        ({"episodes": [-1]}, ["demo_2"]),
        ({"episodes": ["demo_1"]}, ["demo_1"]),
        ({"operator": "ann"}, ["demo_0", "demo_2"]),
        ({"operator": ["ann", "bob"]}, ["demo_0", "demo_1", "demo_2"]),
        ({"success": False}, ["demo_1"]),
        ({"mask": "train"}, ["demo_0", "demo_1"]),
        ({"mask": "train", "operator": "ann"}, ["demo_0"]),
    ],
)
def test_a_subset_keeps_the_episodes_that_pass_every_condition(
    conditions: dict[str, Any], kept_names: list[str]
) -> None:
    assert [e.name for e in three_episodes().subset(**conditions).episodes] == kept_names


@pytest.mark.parametrize(
    ("conditions", "sentence"),
    [
        ({"episodes": [3]}, "episode 3 does not exist; there are 0 … 2"),
        ({"episodes": ["demo_9"]}, "unknown episode 'demo_9'; allowed: demo_0, demo_1, demo_2"),
        ({"operator": "eve"}, "unknown operator 'eve'; allowed: ann, bob"),
        ({"mask": "test"}, "unknown mask 'test'; allowed: train, valid"),
        ({"mask": "valid", "operator": "bob"}, "no episode passes"),
    ],
)
def test_a_subset_that_cannot_be_is_refused_in_words(
    conditions: dict[str, Any], sentence: str
) -> None:
    with pytest.raises((OptionError, DataError), match=sentence):
        three_episodes().subset(**conditions)


@pytest.mark.parametrize(
    ("index", "names"),
    [
        (slice(2), ["demo_0", "demo_1"]),
        (slice(None, None, -1), ["demo_2", "demo_1", "demo_0"]),
        (0, ["demo_0"]),
        (np.int64(-1), ["demo_2"]),
        ("demo_1", ["demo_1"]),
        ([2, "demo_0"], ["demo_2", "demo_0"]),
        (np.array([1, 2]), ["demo_1", "demo_2"]),
    ],
)
def test_an_index_gives_a_dataset_of_these_episodes(index: Any, names: list[str]) -> None:
    demos = three_episodes()
    assert [e.name for e in demos[index].episodes] == names
    assert demos[index].action_names == demos.action_names


def test_iteration_gives_one_dataset_per_episode() -> None:
    demos = three_episodes()
    assert [[e.name for e in d.episodes] for d in demos] == [["demo_0"], ["demo_1"], ["demo_2"]]


@pytest.mark.parametrize(
    ("index", "sentence"),
    [
        (3, "episode 3 does not exist; there are 0 … 2"),
        (slice(5, 9), "no episode passes these conditions"),
        ([0, 0], "two episodes are named 'demo_0'"),
        ("x", "unknown episode 'x'; allowed: demo_0, demo_1, demo_2"),
    ],
)
def test_an_index_without_an_episode_is_refused(index: Any, sentence: str) -> None:
    with pytest.raises((OptionError, DataError), match=sentence):
        three_episodes()[index]


def test_success_cannot_be_asked_where_it_is_not_recorded() -> None:
    with pytest.raises(OptionError, match="do not record success"):
        Demonstrations((episode(),)).subset(success=True)


def test_a_subset_of_pairs_keeps_its_history() -> None:
    four_pairs = three_episodes().sample_pairs(4, seed=1)
    assert four_pairs.pairs == 4
    assert len(four_pairs.obs) == 9
    assert np.array_equal(four_pairs.starts, three_episodes().starts)


def test_sampled_pairs_are_a_function_of_the_seed_and_nest_in_the_selection() -> None:
    first = three_episodes().sample_pairs(5, seed=1)
    second_draw = three_episodes().sample_pairs(5, seed=1)
    assert np.array_equal(first.learned, second_draw.learned)
    assert any(
        not np.array_equal(first.learned, three_episodes().sample_pairs(5, seed=s).learned)
        for s in range(2, 6)
    )
    assert set(first.sample_pairs(2, seed=0).learned) < set(first.learned)


@pytest.mark.parametrize("count", [0, 10])
def test_more_pairs_than_there_are_cannot_be_sampled(count: int) -> None:
    with pytest.raises(OptionError, match="ask for 1 … 9"):
        three_episodes().sample_pairs(count, seed=0)


def test_the_selection_is_kept_in_order() -> None:
    demos = Demonstrations((episode(),), selected=np.array([2, 0]))
    assert demos.learned.tolist() == [0, 2]


def test_the_selection_follows_its_pairs_into_a_subset() -> None:
    demos = Demonstrations(three_episodes().episodes, selected=np.array([1, 4, 8]))
    part = demos.subset([1, 2])
    assert part.learned.tolist() == [1, 5]
    assert np.array_equal(part.obs[part.learned], demos.obs[[4, 8]])
    with pytest.raises(DataError, match="no selected pair is left"):
        Demonstrations(three_episodes().episodes, selected=np.array([1])).subset([1])


def test_a_split_shares_no_episode_and_loses_none() -> None:
    kept_demos, held_out = three_episodes().split(1 / 3, seed=0)
    names = [e.name for part in (kept_demos, held_out) for e in part.episodes]
    assert (len(kept_demos), len(held_out)) == (2, 1)
    assert sorted(names) == ["demo_0", "demo_1", "demo_2"]


@pytest.mark.parametrize("fraction", [0.0, 1.0])
def test_a_split_needs_something_on_both_sides(fraction: float) -> None:
    with pytest.raises(OptionError, match="0 < fraction < 1"):
        three_episodes().split(fraction, seed=0)
    with pytest.raises(DataError, match="at least 2 episodes"):
        Demonstrations((episode(),)).split(0.5, seed=0)


def test_mapping_actions_leaves_the_original_alone() -> None:
    def negative(action: Array) -> Array:
        return -action

    assert np.array_equal(three_episodes().map_actions(negative).action, -three_episodes().action)
    assert three_episodes().action.max() == 20


def test_no_global_generator_is_touched() -> None:
    before = str(np.random.get_state(legacy=False))
    three_episodes().sample_pairs(2, seed=0)
    three_episodes().split(0.5, seed=0)
    assert str(np.random.get_state(legacy=False)) == before


# Several datasets
