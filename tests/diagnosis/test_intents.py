"""Groups of episodes with different goals, found without labels."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from counterbc import Demonstrations, Episode, load, merge
from counterbc.cli import main
from counterbc.diagnosis.intents import Intents, IntentSearch, find_intents
from counterbc.errors import DataError, OptionError

Array = NDArray[Any]
GOALS = np.array([[0.8, 0.5], [-0.8, 0.5], [0.0, -0.9]])


def reaching(goals: int, episodes: int = 40, seed: int = 0) -> tuple[Demonstrations, Array]:
    """A point goes to one of some goals, noisily, from anywhere; and which: (E,)."""
    rng = np.random.default_rng(seed)
    true_groups, episode_list = np.arange(episodes) % goals, []
    for k in true_groups:
        s, obs, action = rng.uniform(-1, 1, 2), [], []
        for _ in range(20):
            a = np.clip(2 * (GOALS[k] - s), -1, 1) + rng.uniform(-0.3, 0.3, 2)
            obs.append(s)
            action.append(a)
            s = s + 0.2 * a
        episode_list.append(Episode(np.array(obs), np.array(action)))
    return Demonstrations(tuple(episode_list), obs_names=("x", "y")), true_groups


def agreement(intents: Intents, true_groups: Array) -> float:
    """The share of episodes whose group is mostly of their goal, each goal with its own group."""
    table = np.zeros((intents.groups, true_groups.max() + 1))
    np.add.at(table, (intents.group, true_groups), 1)
    assert len(set(table.argmax(1))) == intents.groups
    return float(table.max(1).sum() / len(true_groups))


@pytest.mark.parametrize("goals", [1, 2, 3])
def test_the_number_of_goals_and_who_pursues_which_are_found(goals: int) -> None:
    demos, true_groups = reaching(goals, episodes=60)
    intents = find_intents(demos)
    assert intents.groups == goals
    assert list(intents.held_out) == [1, 2, 3, 4]
    assert agreement(intents, true_groups) == 1
    assert sum(intents.sizes) == 60
    assert intents.sizes == sorted(intents.sizes, reverse=True)


def test_a_sample_of_the_episodes_finds_the_groups_of_all() -> None:
    demos, true_groups = reaching(3, episodes=90)
    intents = find_intents(demos, search=IntentSearch(most_episodes=60))
    assert intents.groups == 3
    assert {len(labels) for labels in intents.held_out.values()} == {60}
    assert intents.shares.shape == (90, 3)
    assert agreement(intents, true_groups) == 1


def test_a_sample_of_every_episode_changes_nothing() -> None:
    demos, _ = reaching(2, episodes=24)
    every, sample = (find_intents(demos, search=IntentSearch(most_episodes=n)) for n in (24, 4000))
    np.testing.assert_array_equal(every.shares, sample.shares)
    with pytest.raises(DataError, match="8 episodes are too few"):
        find_intents(demos, 9, search=IntentSearch(most_episodes=8))


def test_two_goals_are_told_apart_when_the_ends_are_hidden() -> None:
    demos, true_groups = reaching(2)
    hidden = replace(
        demos,
        episodes=tuple(replace(e, obs=e.obs[:5], action=e.action[:5]) for e in demos.episodes),
    )
    assert agreement(find_intents(hidden, 2), true_groups) >= 0.95


def test_a_wanted_number_of_groups_is_kept_and_nothing_is_held_out_for_it() -> None:
    intents = find_intents(reaching(2)[0], 3)
    assert (intents.groups, intents.held_out) == (3, {})


def test_shares_are_probabilities_and_confidence_is_that_of_the_group() -> None:
    intents = find_intents(reaching(2)[0], 2)
    np.testing.assert_allclose(intents.shares.sum(1), 1)
    np.testing.assert_array_equal(
        intents.confidence, intents.shares[np.arange(len(intents.group)), intents.group]
    )


def test_the_same_call_gives_the_same_groups_and_the_order_of_episodes_does_not_matter() -> None:
    demos, _ = reaching(2)
    first, second_intents = find_intents(demos, 2), find_intents(demos, 2)
    np.testing.assert_array_equal(first.shares, second_intents.shares)
    reversed_intents = find_intents(replace(demos, episodes=demos.episodes[::-1]), 2)
    is_same_group = reversed_intents.group[::-1] == first.group
    assert is_same_group.all() or not is_same_group.any()


def test_whole_turns_of_an_angle_do_not_count() -> None:
    demos, true_groups = reaching(2)
    rng = np.random.default_rng(0)
    angle = [rng.normal(0.5, 0.1, (len(e), 1)) for e in demos.episodes]

    def with_turns(turns: Array) -> Demonstrations:
        episodes = tuple(
            replace(e, obs=np.concatenate([e.obs, a + 2 * np.pi * n], axis=1))
            for e, a, n in zip(demos.episodes, angle, turns, strict=True)
        )
        return Demonstrations(episodes, obs_names=("x", "y", "angle"))

    plain = find_intents(with_turns(np.zeros(40)), 2, angles=["angle"])
    unwrapped_intents = find_intents(with_turns(rng.integers(-3, 3, 40)), 2, angles=["angle"])
    np.testing.assert_allclose(unwrapped_intents.shares, plain.shares, atol=1e-3)
    assert agreement(unwrapped_intents, true_groups) == 1


def test_an_angle_that_wraps_is_detected() -> None:
    demos, _ = reaching(2)
    turning = tuple(
        replace(e, obs=np.concatenate([e.obs, np.linspace(i, i + 4, 20)[:, None] % (2 * np.pi)], 1))
        for i, e in enumerate(demos.episodes)
    )
    intents = find_intents(Demonstrations(turning, obs_names=("x", "y", "heading")), 2)
    assert intents.angles == ("heading",)
    assert find_intents(demos, 2, angles=["x"]).angles == ("x",)


def test_no_evidence_and_too_few_episodes_are_told_apart() -> None:
    assert find_intents(reaching(1, episodes=60)[0]).verdict == "no evidence"
    assert find_intents(reaching(2)[0]).verdict == "groups"
    assert find_intents(reaching(2)[0], 2).verdict == "given"
    gain = np.array([3.0, -3.0] * 5)
    evidence = {1: 0 * gain, 2: gain}
    few = Intents(("demo",) * 10, np.ones((10, 1)), evidence, evidence)
    assert few.verdict == "too few episodes"


def test_groups_become_masks_that_training_can_use(tmp_path: Path) -> None:
    demos, true_groups = reaching(2)
    intents = find_intents(demos, 2)
    marked_demos = intents.mark(replace(demos, masks={"own": ("demo_0",)}))
    assert set(marked_demos.masks) == {"own", "intent_0", "intent_1"}
    first_group = marked_demos.subset(mask="intent_0")
    assert len(first_group) == intents.sizes[0]
    assert len({true_groups[int(e.name.removeprefix("demo_"))] for e in first_group.episodes}) == 1
    marked_demos.save(tmp_path / "marked.hdf5")
    assert load(tmp_path / "marked.hdf5").masks == marked_demos.masks


def test_conditioned_demonstrations_carry_the_group_behind_each_observation() -> None:
    demos, _ = reaching(2)
    intents = find_intents(demos, 2)
    with_goal = intents.condition(demos)
    assert with_goal.obs_names == ("x", "y", "intent[0]", "intent[1]")
    assert with_goal.obs_keys == (("state", 2), ("intent", 2))
    for before, after, k in zip(demos.episodes, with_goal.episodes, intents.group, strict=True):
        np.testing.assert_array_equal(after.obs[:, :2], before.obs)
        np.testing.assert_array_equal(after.obs[:, 2:], np.eye(2)[[k] * len(before)])


@pytest.mark.slow
def test_a_policy_trained_on_conditioned_demonstrations_goes_where_it_is_told(quick: Any) -> None:
    demos, true_groups = reaching(2)
    intents = find_intents(demos, 2)
    policy = quick(intents.condition(demos), "bc", hidden=(32, 32), steps=500)[0].actor()
    for k in (0, 1):
        goal = GOALS[true_groups[intents.group == k][0]]
        action = policy.act(np.array([0.0, 0.5, *np.eye(2)[k]]))
        assert np.sign(action[0]) == np.sign(goal[0])


def test_intents_of_other_episodes_are_refused() -> None:
    demos, _ = reaching(2)
    intents = find_intents(demos, 2)
    for use in (intents.mark, intents.condition):
        with pytest.raises(DataError, match="other episodes than those of the intents"):
            use(demos.subset([0, 1]))


def test_too_few_episodes_are_refused_with_how_many_are_needed() -> None:
    demos, _ = reaching(2, episodes=5)
    with pytest.raises(DataError, match=r"5 episodes are too few .* give 8 or more"):
        find_intents(demos)
    with pytest.raises(DataError, match="5 episodes are too few to tell 6 groups apart"):
        find_intents(demos, 6)


def test_images_and_unknown_angles_and_no_groups_are_refused() -> None:
    demos, _ = reaching(1, episodes=8)
    with pytest.raises(OptionError, match="unknown observation 'theta'; allowed: x, y"):
        find_intents(demos, angles=["theta"])
    with pytest.raises(OptionError, match="groups is 0"):
        find_intents(demos, 0)
    frames = Episode(np.zeros((3, 4, 4, 3), np.uint8), np.zeros((3, 2)))
    with pytest.raises(DataError, match="obs are images"):
        find_intents(Demonstrations((frames,) * 1), 1)


@pytest.mark.parametrize(
    "name", ["max_groups", "pairs", "restarts", "first_rounds", "rounds", "folds"]
)
def test_numbers_that_leave_nothing_to_do_are_refused(name: str) -> None:
    options: dict[str, Any] = {name: 0}
    with pytest.raises(OptionError, match=f"{name} is 0"):
        IntentSearch(**options)


@pytest.mark.slow
def test_the_command_says_the_groups_and_writes_a_marked_copy(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, out = tmp_path / "demos.hdf5", tmp_path / "marked.hdf5"
    reaching(2)[0].save(path)
    options = ["--groups", "2", "--json", "--out", str(out), "--condition"]
    assert main(["intents", str(path), *options]) == 0
    payload = json.loads(capsys.readouterr().out)
    assert payload["sizes"] == [20, 20]
    assert [e["name"] for e in payload["episodes"]] == [f"demo_{i}" for i in range(40)]
    assert {e["group"] for e in payload["episodes"]} == {0, 1}
    marked_demos = load(out)
    assert {len(m) for m in marked_demos.masks.values()} == {20}
    assert marked_demos.obs_names[-2:] == ("intent[0]", "intent[1]")
    assert main(["intents", str(path), "--max-groups", "2"]) == 0
    output = capsys.readouterr().out
    assert "2 intents in 40 episodes." in output
    assert "log-likelihood of held-out episodes" in output


def test_the_command_refuses_to_condition_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "demos.hdf5"
    reaching(2)[0].save(path)
    assert main(["intents", str(path), "--condition"]) == 1
    assert "add --out FILE" in capsys.readouterr().err


@pytest.mark.slow
def test_the_command_reads_the_format_that_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "demos.hdf5"
    reaching(2)[0].save(path)
    assert main(["intents", str(path), "--groups", "1", "--format", "robomimic"]) == 0
    capsys.readouterr()
    assert main(["intents", str(path), "--groups", "1", "--format", "csv"]) == 1
    assert "demos.hdf5" in capsys.readouterr().err


@pytest.mark.parametrize("hidden", [0.0, 0.25])
def test_two_goals_of_real_push_t_are_told_apart(data: Path, hidden: float) -> None:
    files = [data / "pusht_human_206.hdf5", data / "pusht_other_goal_151.hdf5"]
    parts = [load(f, ["state"]) for f in files]
    true_groups = np.repeat([0, 1], [len(p) for p in parts])
    whole = merge(parts)
    ends = [len(e) - int(hidden * len(e)) for e in whole.episodes]
    short_demos = replace(
        whole,
        episodes=tuple(
            replace(e, obs=e.obs[:n], action=e.action[:n], reward=None)
            for e, n in zip(whole.episodes, ends, strict=True)
        ),
    )
    assert agreement(find_intents(short_demos, 2, angles=["state[4]"]), true_groups) >= 0.95


def test_files_with_one_goal_each_are_told_apart_and_people_are_not() -> None:
    demos, true_groups = reaching(2)
    parts = [
        replace(demos.subset(np.flatnonzero(true_groups == k).tolist()), source=f"{name}.npz")
        for k, name in enumerate(("cups", "plates"))
    ]
    merged = merge(parts)
    assert merged.operators == ("cups", "plates")
    search = IntentSearch(max_groups=2)
    assert find_intents(merged, search=search).groups == 2
    named = replace(merged, source="table.npz")  # so these are people, who may have habits
    assert find_intents(named, search=search).groups == 1


def test_observations_of_many_dimensions_are_reduced_and_goals_still_found() -> None:
    demos, true_groups = reaching(2)
    mixing = np.random.default_rng(1).normal(size=(2, 1000))
    wide = tuple(replace(e, obs=e.obs @ mixing) for e in demos.episodes)
    search = IntentSearch(max_groups=2, dimensions=2)  # of 1000, the time would be hours
    intents = find_intents(Demonstrations(wide), search=search)
    assert intents.groups == 2
    assert agreement(intents, true_groups) == 1
    with pytest.raises(OptionError, match="dimensions is 0; it must be 1 or more"):
        IntentSearch(dimensions=0)
