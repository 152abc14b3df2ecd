"""Problems are made on purpose, one at a time, and must be found where they were made."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np
import pytest

from counterbc.data.inspection_report import Problem
from counterbc.data.raw_episode import RawEpisode
from tests.data.datasets import inspect, raw_episodes


def places(problem: Problem) -> tuple[dict[str, Any], ...]:
    """Return the places as JSON has them."""
    return tuple(asdict(problem)["places"])


def problems(episodes: list[RawEpisode], **options: Any) -> dict[str, Problem]:
    return {p.kind: p for p in inspect(episodes, **options).report().problems}


def test_a_clean_dataset_has_no_problems() -> None:
    assert problems(raw_episodes()) == {}


def test_values_that_are_not_finite_are_found_where_they_are() -> None:
    episodes = raw_episodes()
    episodes[2].action[[4, 7], 1] = np.nan
    episodes[3].obs[9, 0] = np.inf
    by_kind = problems(episodes)
    assert by_kind["not finite"].count == 3
    assert places(by_kind["not finite"]) == (
        {"episode": "demo_2", "dimension": "action action[1]", "row": 4, "values": 2},
        {"episode": "demo_3", "dimension": "obs state[0]", "row": 9, "values": 1},
    )
    assert inspect(episodes).fingerprint() is None


def test_numbers_beyond_32_bits_are_infinite() -> None:
    episodes = raw_episodes()
    wide = episodes[0].action.astype(np.float64)
    wide[3, 0] = 1e300
    episodes[0] = RawEpisode(episodes[0].obs, wide, name="demo_0")
    assert places(problems(episodes)["not finite"])[0]["row"] == 3


def test_a_dimension_that_never_changes_is_found() -> None:
    episodes = raw_episodes()
    for r in episodes:
        r.obs[:, 1] = 0.25
    listed = places(problems(episodes)["constant obs"])
    assert listed == ({"dimension": "state[1]", "value": 0.25},)


def test_actions_outside_the_bounds_are_counted_by_dimension() -> None:
    episodes = raw_episodes()
    episodes[1].action[:3, 0] = 1.5
    episodes[4].action[0] = -1.5
    problem = problems(episodes)["outside"]
    assert problem.count == 4
    assert places(problem) == (
        {"dimension": "action[0]", "pairs": 4, "episode": "demo_1"},
        {"dimension": "action[1]", "pairs": 1, "episode": "demo_4"},
    )
    assert "outside" not in problems(episodes, action_low=None, action_high=None)


def test_a_corner_of_the_box_is_outside_the_ball() -> None:
    episodes = raw_episodes()
    for r in episodes:
        r.action[:] *= 0.5
    episodes[0].action[0] = 0.9
    assert problems(episodes, action_set="ball")["outside"].count == 1
    assert problems(episodes) == {}


@pytest.mark.parametrize(("value", "zero"), [(0.0, True), (0.3, False)])
def test_idle_stretches_are_found_from_the_length_that_counts(value: float, zero: bool) -> None:
    episodes = raw_episodes()
    episodes[3].action[5:17] = value
    assert places(problems(episodes)["idle"]) == (
        {"episode": "demo_3", "row": 5, "pairs": 12, "action_is_zero": zero},
    )
    assert problems(episodes, idle=12)["idle"].count == 1
    assert problems(episodes, idle=13) == {}
    assert problems(episodes, rate=20.0) == {}  # less than a second
    assert problems(episodes, rate=12.0)["idle"].count == 1


def test_one_changed_dimension_is_not_idle() -> None:
    episodes = raw_episodes()
    episodes[3].action[5:17, 0] = 0.0
    assert "idle" not in problems(episodes)


def test_duplicates_are_found_by_content() -> None:
    episodes = raw_episodes()
    episodes[4] = RawEpisode(episodes[1].obs, episodes[1].action, name="demo_4")
    assert places(problems(episodes)["duplicate"]) == ({"episode": "demo_4", "same_as": "demo_1"},)


def test_short_and_empty_episodes_are_found() -> None:
    episodes = raw_episodes()
    episodes[0] = RawEpisode(episodes[0].obs[:3], episodes[0].action[:3], name="demo_0")
    episodes[1] = RawEpisode(episodes[1].obs[:4], episodes[1].action[:4], name="demo_1")
    episodes[2] = RawEpisode(episodes[2].obs[:0], episodes[2].action[:0], name="demo_2")
    episodes += [RawEpisode(r.obs + 1, r.action / 2, name=r.name + "b") for r in raw_episodes()]
    by_kind = problems(episodes)
    assert places(by_kind["short"]) == ({"episode": "demo_0", "pairs": 3},)
    assert places(by_kind["empty"]) == ({"episode": "demo_2"},)


def test_arrays_of_another_shape_are_found() -> None:
    episodes = raw_episodes()
    episodes[1] = RawEpisode(episodes[1].obs, episodes[1].action[:, :1], name="demo_1")
    episodes[2] = RawEpisode(episodes[2].obs, episodes[2].action, np.zeros(3), name="demo_2")
    listed = places(problems(episodes)["shape"])
    assert [(p["episode"], p["array"]) for p in listed] == [
        ("demo_1", "action"),
        ("demo_2", "reward"),
    ]


def test_saturation_is_found_at_bounds_and_at_extremes_but_a_switch_is_none() -> None:
    episodes = raw_episodes()
    for r in episodes:
        r.action[:2, 0] = 1.0
        r.action[:, 1] = np.where(np.arange(20) < 10, -1, 1)
    expected_counts = ({"dimension": "action[0]", "low": 0, "high": 10},)
    assert places(problems(episodes, idle=99)["saturated"]) == expected_counts
    unknown = places(problems(episodes, idle=99, action_low=None, action_high=None)["saturated"])
    assert unknown == ({"dimension": "action[0]", "low": 1, "high": 10},)


def test_a_report_names_the_first_places_and_counts_all() -> None:
    episodes = raw_episodes(count=50)
    for r in episodes:
        r.action[0, 0] = np.nan
    problem = problems(episodes)["not finite"]
    assert (problem.count, len(places(problem))) == (50, 20)
