"""Offsets of operators as text, and without them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from counterbc.data.offsets import (
    is_offsets,
    offset_text,
    offsets_json,
    offsets_of,
    parse_offsets,
    remove_offsets,
)
from counterbc.errors import OptionError
from counterbc.settings import PRESETS, Settings
from tests.fixture_types import Make


def test_only_the_actions_of_that_operator_move(make_demos: Make) -> None:
    demos = make_demos(episodes=4)
    moved = remove_offsets(demos, (("bob", (0.5, -1.0)), ("carl", (9.0, 9.0))))
    for before, after in zip(demos.episodes, moved.episodes, strict=True):
        shift = (0.5, -1.0) if before.operator == "bob" else (0.0, 0.0)
        np.testing.assert_array_equal(after.action, before.action - np.array(shift, np.float32))
        np.testing.assert_array_equal(after.obs, before.obs)


def test_without_offsets_the_demonstrations_are_the_same_object(make_demos: Make) -> None:
    demos = make_demos()
    assert remove_offsets(demos, ()) is demos


def test_offsets_survive_as_text_to_the_bit() -> None:
    offsets: dict[str, Any] = {"a": (0.1, 1 / 3), "b, c=": np.array([0.0, -2.0])}
    assert parse_offsets(offsets_json(offsets)) == (("a", (0.1, 1 / 3)), ("b, c=", (0.0, -2.0)))
    assert parse_offsets('{"a": 0.5, "b": [0, 0]}') == (("a", (0.5,)),)


@pytest.mark.parametrize(
    "value",
    ["all", "[1, 2]", '{"a": "x"}', '{"a": [NaN]}', '{"a": [[1]]}', {"a": "x"}, {"a": None}, 0.1],
)
def test_anything_else_is_refused_in_one_sentence(value: Any) -> None:
    with pytest.raises(OptionError, match=r"^offsets is .*; it must be auto, none, or the offset"):
        Settings(offsets=value)


def test_given_offsets_need_their_operator_and_every_dimension(make_demos: Make) -> None:
    demos = make_demos()
    assert offsets_of('{"bob": [0.1, 0]}', demos) == (("bob", (0.1, 0.0)),)
    assert offsets_of("none", demos) == ()
    with pytest.raises(OptionError, match="carl"):
        offsets_of('{"carl": [0.1, 0]}', demos)
    with pytest.raises(OptionError, match="has 1 numbers; actions have 2 dimensions"):
        offsets_of('{"bob": 0.1}', demos)
    unlabelled = replace(demos, episodes=tuple(replace(e, operator=None) for e in demos.episodes))
    with pytest.raises(OptionError, match="none is recorded"):
        offsets_of('{"bob": [0.1, 0]}', unlabelled)


def test_the_presets_of_the_paper_remove_nothing() -> None:
    assert {name: p.offsets for name, p in PRESETS.items()} == {
        "default": "auto", "paper": "none", "authors": "none"
    }  # fmt: skip
    assert is_offsets("auto")


def test_an_offset_in_words() -> None:
    assert offset_text("steer", 0.123, 0.021) == "0.12 ± 0.02 too high in steer"
    assert offset_text("steer", -2.0) == "2 too low in steer"
