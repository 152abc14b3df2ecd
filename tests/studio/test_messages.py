"""Messages from a page are checked field by field."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterbc.errors import OptionError
from counterbc.studio.messages import (
    decode,
    read_choice,
    read_listed,
    read_name,
    read_names,
    read_number,
    read_selection,
    read_vector,
    read_whole,
)


@pytest.mark.parametrize(
    "text", ["", "[]", "3", "{}", '{"type": 3}', '{"type":"a","x":NaN}', "[" * 100_000, b"\xff"]
)
def test_what_is_not_an_object_with_a_type_is_refused(text: str | bytes) -> None:
    with pytest.raises(OptionError):
        decode(text)


@given(st.text())
def test_any_text_is_decoded_or_refused(text: str) -> None:
    try:
        message = decode(text)
    except OptionError:
        return
    assert isinstance(message["type"], str)


def test_a_message_is_its_json() -> None:
    assert decode(json.dumps({"type": "a", "b": [1]})) == {"type": "a", "b": [1]}


@pytest.mark.parametrize("name", ["Ada", "Zoë Ångström", "李雷", "<b>Bob</b>", "a & 'b' \"c\""])
def test_names_are_text_in_any_alphabet(name: str) -> None:
    assert read_name({"operator": name}, "operator") == name


@pytest.mark.parametrize("name", ["", "   ", "x" * 81, "a\x00b", "a\u202eb", "\x1b[31m", 5, None])
def test_names_without_visible_text_are_refused(name: object) -> None:
    with pytest.raises(OptionError):
        read_name({"operator": name}, "operator")


def test_a_name_is_one_line() -> None:
    assert read_name({"n": "  Ada \n Lovelace\t"}, "n") == "Ada Lovelace"


@pytest.mark.parametrize("value", ["1", None, True, float("inf"), -1, 11, [1]])
def test_numbers_out_of_bounds_are_refused(value: object) -> None:
    with pytest.raises(OptionError, match="x "):
        read_number({"x": value}, "x", 0, 10)


def test_whole_numbers_are_whole() -> None:
    assert read_whole({"x": 3.0}, "x", 0, 10) == 3
    with pytest.raises(OptionError, match="whole"):
        read_whole({"x": 2.5}, "x", 0, 10)


@pytest.mark.parametrize(
    "value", [[1], [1, 2, 3], [1, "2"], [1, None], 1, None, [1, 1e9], [1, 10**400]]
)
def test_vectors_of_another_size_are_refused(value: object) -> None:
    assert read_vector({"x": [1, 2.5]}, "x", 2) == [1.0, 2.5]
    with pytest.raises(OptionError):
        read_vector({"x": value}, "x", 2)


def test_choices_name_what_is_allowed() -> None:
    assert read_choice({"x": "a"}, "x", ("a", "b")) == "a"
    with pytest.raises(OptionError, match="allowed: a, b"):
        read_choice({"x": "c"}, "x", ("a", "b"))


def test_lists_of_names_are_bounded() -> None:
    assert read_names({"x": ["a", "b"]}, "x") == ["a", "b"]
    with pytest.raises(OptionError, match="at most 2"):
        read_names({"x": ["a"] * 3}, "x", limit=2)


def test_only_names_on_a_list_have_a_path() -> None:
    listed_paths = {"a.hdf5": Path("/study/a.hdf5")}
    assert read_listed({"dataset": "a.hdf5"}, "dataset", listed_paths) == Path("/study/a.hdf5")
    for name in ("b.hdf5", "/study/a.hdf5", "x" * 1000, None):
        with pytest.raises(OptionError, match="dataset"):
            read_listed({"dataset": name}, "dataset", listed_paths)


@pytest.mark.parametrize(
    ("runs", "rows"),
    [
        ([], []), ([5], []), ([0, 5], [0, 1, 2, 3, 4]), ([1, 2], [1, 2]), ([0, 1, 3, 1], [0, 4]),
        ([1, 0, 2, 1, 1], [3]),
    ],
)  # fmt: skip
def test_a_selection_is_read_from_run_lengths(runs: list[int], rows: list[int]) -> None:
    assert read_selection({"s": runs}, "s", 5) == rows


@pytest.mark.parametrize("runs", [None, "12", [1, 5], [-1, 2], [0.5], [3, 3], [[1]], [True]])
def test_a_selection_outside_the_table_is_refused(runs: object) -> None:
    with pytest.raises(OptionError):
        read_selection({"s": runs}, "s", 5)
