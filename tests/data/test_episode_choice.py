"""Which episodes of a dataset are used."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from counterbc.data.demonstrations import Demonstrations
from counterbc.data.episode_choice import EpisodeChoice
from counterbc.data.raw_episode import raw_episodes, unreadable
from counterbc.errors import CounterBCError, DataError
from counterbc.formats.stream import Stream
from tests.data.datasets import three_episodes


@pytest.fixture
def demos() -> Demonstrations:
    """Episodes a, b and c; ann demonstrates the first two, and b fails."""
    rows = zip(three_episodes().episodes, "abc", ("ann", "ann", "bob"), strict=True)
    episodes = tuple(replace(e, name=n, operator=o, success=n != "b") for e, n, o in rows)
    return replace(three_episodes(), episodes=episodes, masks={"ends": ("a", "c")})


def names(demos: Demonstrations) -> str:
    return "".join(e.name for e in demos.episodes)


CHOICES: list[tuple[dict[str, Any], str]] = [
    ({}, "abc"),
    ({"mask": "ends"}, "ac"),
    ({"operators": ("ann",)}, "ab"),
    ({"operators": ("ann", "bob")}, "abc"),
    ({"success": True}, "ac"),
    ({"exclude": ("b",)}, "ac"),
    ({"exclude": ("0", "c")}, "b"),
    ({"mask": "ends", "operators": ("ann",), "exclude": ("c",)}, "a"),
]


@pytest.mark.parametrize(("conditions", "expected_names"), CHOICES)
def test_a_dataset_and_a_stream_have_the_same_episodes(
    conditions: dict[str, Any], expected_names: str, demos: Demonstrations
) -> None:
    choice = EpisodeChoice(**conditions)
    assert names(choice.of(demos)) == expected_names
    assert names(Stream.of(demos).pick(choice).demonstrations()) == expected_names
    assert choice.is_all is (not conditions)


@pytest.mark.parametrize(
    ("conditions", "sentence"),
    [
        ({"exclude": ("d",)}, "unknown episode 'd'; allowed: a, b, c"),
        ({"exclude": ("3",)}, "unknown episode '3'"),
        ({"exclude": ("a", "b", "c")}, "no episode passes these conditions"),
        ({"mask": "no"}, "unknown mask 'no'; allowed: ends"),
    ],
)
def test_a_choice_that_fits_nothing_is_refused(
    conditions: dict[str, Any], sentence: str, demos: Demonstrations
) -> None:
    choice = EpisodeChoice(**conditions)
    with pytest.raises(CounterBCError, match=sentence):
        choice.of(demos)
    with pytest.raises(CounterBCError, match=sentence):
        Stream.of(demos).pick(choice).demonstrations()


def test_episodes_that_cannot_be_read_are_listed_unless_they_are_excluded(
    demos: Demonstrations,
) -> None:
    episodes = [*raw_episodes(demos), unreadable("d", DataError("damaged"))]
    by_ann = EpisodeChoice(operators=("ann",)).filter(iter(episodes), "file")
    assert [raw.name for raw in by_ann] == ["a", "b", "d"]
    rest = EpisodeChoice(exclude=("d",)).filter(iter(episodes), "file")
    assert [raw.name for raw in rest] == ["a", "b", "c"]
