"""Which observation dimension each action dimension is relative to."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from counterbc.data.demonstrations import Demonstrations, Episode
from counterbc.data.raw_episode import Header
from counterbc.data.relative import relative_dims, relative_text
from counterbc.errors import DataError, OptionError
from tests.data.datasets import three_episodes

NAMES = ("agent_x", "agent_y", "block_x", "block_y", "angle")


def pusht(**fields: Any) -> Demonstrations:
    """Return one pair of two keys with named dimensions."""
    defaults: dict[str, Any] = {"obs_names": NAMES, "obs_keys": (("disc", 2), ("block", 3))}
    return Demonstrations((Episode(np.zeros((1, 5)), np.zeros((1, 2))),), **(defaults | fields))


@pytest.mark.parametrize(
    ("relative", "dims"),
    [
        ("disc", (0, 1)),
        ("agent", (0, 1)),
        ("block_", (2, 3)),
        ("agent_x,agent_y", (0, 1)),
        (" agent_y , block_x ", (1, 2)),
        ("-,agent_y", (-1, 1)),
        ("agent_x,-", (0, -1)),
        ("-,-", ()),
        ("block[0:2]", (2, 3)),
        ("block[1:3]", (3, 4)),
        ("disc[1],block[2]", (1, 4)),
        ("block[2],disc[0:1]", (4, 0)),
        ("none", ()),
        ("auto", ()),
    ],
)
def test_each_action_is_relative_to_the_dimension_that_is_named(
    relative: str, dims: tuple[int, ...]
) -> None:
    assert relative_dims(pusht(), relative) == dims
    assert relative_dims(Header.of(pusht()), relative) == dims


def test_unnamed_dimensions_are_named_by_key_and_index() -> None:
    demos = pusht(obs_names=(), obs_keys=())
    assert relative_dims(demos, "state[0],state[1]") == (0, 1)
    assert relative_dims(demos, "state[3:5]") == (3, 4)


def test_auto_is_what_the_data_declare() -> None:
    demos = pusht(relative="agent")
    assert relative_dims(demos, "auto") == (0, 1)
    assert relative_dims(demos, "none") == ()
    assert relative_dims(demos, "block_") == (2, 3)
    assert relative_dims(replace(demos, relative="none"), "auto") == ()


def test_a_key_comes_before_a_name_and_a_name_may_contain_a_comma() -> None:
    keys = (("a", 2), ("b", 3))
    demos = pusht(obs_names=("p", "q", "a", "b,c", "d"), obs_keys=keys)
    assert relative_dims(demos, "a") == (0, 1)
    one_action = Demonstrations(
        (Episode(np.zeros((1, 5)), np.zeros((1, 1))),), obs_names=demos.obs_names, obs_keys=keys
    )
    assert relative_dims(one_action, "b,c") == (3,)


@pytest.mark.parametrize(
    ("relative", "words"),
    [
        (
            "block",
            "'block': that is 3 observation dimensions for 2 action dimensions; name one for each",
        ),
        ("agent_x", "that is 1 observation dimension for 2 action"),
        ("agent_x,agent_y,-", "that is 3 observation dimensions for 2 action dimensions"),
        (
            "wheel",
            r"there is no 'wheel'; keys: disc \(2\), block \(3\); dimensions: agent_x, .*ang",
        ),
        ("agent_x,", "there is no ''"),
        ("disc[1:3]", r"there is no 'disc\[1:3\]'"),
        ("disc[1:1],-", r"there is no 'disc\[1:1\]'"),
        ("disc[2],-", r"there is no 'disc\[2\]'"),
        ("", "there is no ''"),
    ],
)
def test_what_names_no_dimension_for_each_action_is_refused(relative: str, words: str) -> None:
    with pytest.raises(OptionError, match=words + ".*; or give none for absolute actions"):
        relative_dims(pusht(), relative)


@pytest.mark.parametrize(
    ("names", "dims", "text"),
    [
        (NAMES, (0, 1), "disc"),
        (NAMES, (1, 0), "agent_y,agent_x"),
        (NAMES, (-1, 4), "-,angle"),
        (("x", "y", "x", "y", "angle"), (3, 4), "block[1],angle"),
        (("disc", "block", "-", "a,b", " c"), (1, 0), "disc[1],disc[0]"),
        (("disc", "block", "-", "a,b", " c"), (2, 3), "block[0],block[1]"),
        (("none", "auto", "", "d", " c"), (1, 0), "disc[1],disc[0]"),
        (("none", "auto", "", "d", " c"), (2, 4), "block[0],block[2]"),
    ],
)
def test_dimensions_in_words_are_read_back(
    names: tuple[str, ...], dims: tuple[int, ...], text: str
) -> None:
    demos = pusht(obs_names=names)
    assert relative_text(demos, dims) == text
    assert relative_dims(demos, text) == dims


def test_a_name_of_two_dimensions_is_refused() -> None:
    demos = pusht(obs_names=("x", "y", "x", "y", "angle"))
    with pytest.raises(OptionError, match="2 dimensions are named 'x'; name it by its key"):
        relative_dims(demos, "x,y")
    assert relative_dims(demos, "block[0],block[1]") == (2, 3)


def test_nothing_is_relative_to_an_image() -> None:
    frames = Episode(np.zeros((1, 8, 8, 3), np.uint8), np.zeros((1, 2)))
    demos = Demonstrations((frames,), relative="agent")
    with pytest.raises(OptionError, match=r"'agent': images have no dimension .*; give none for"):
        relative_dims(demos, "auto")
    assert relative_dims(demos, "none") == ()


def test_only_texts_are_declarations() -> None:
    values: list[Any] = ["", " ", "auto", 3, ("agent",)]
    for value in values:
        with pytest.raises(DataError, match=r"relative is .*; allowed: names of observation"):
            replace(three_episodes(), relative=value)


def test_subsets_keep_the_declaration_and_show_it() -> None:
    demos = replace(three_episodes(), relative="state[0]")
    for part in (demos.subset(operator="ann"), demos.sample_pairs(3, 0), demos.split(0.5, 0)[1]):
        assert part.relative == "state[0]"
    assert "relative   state[0]" in repr(demos)
    assert "relative" not in repr(three_episodes())
