from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from counterbc.errors import FormatError
from counterbc.formats import json_files


def test_a_written_value_loads_unchanged(tmp_path: Path) -> None:
    value = {"a": [1, 2.5, None], "ü": {"b": True}}
    json_files.dump(value, tmp_path / "a.json")
    assert json_files.load(tmp_path / "a.json", dict) == value
    assert (tmp_path / "a.json").read_text("utf-8").endswith("}\n")


def test_lines_are_split_at_newlines_only(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"a": "x\u2028y"}\n\n{"a": "z"}\n', "utf-8")
    assert json_files.load_lines(tmp_path / "a.jsonl") == [{"a": "x\u2028y"}, {"a": "z"}]
    (tmp_path / "b.jsonl").write_text('{"a": 1}\n[2]\n')
    with pytest.raises(FormatError, match=r"b\.jsonl, line 2 holds a JSON list"):
        json_files.load_lines(tmp_path / "b.jsonl")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"{not json", "is not JSON .* repair it or download it again"),
        (b"[" * 100_000, "is not JSON"),
        (b"[1]", "holds a JSON list; expected an object; repair it"),
        (b"\xff\xfe", "cannot be read"),
    ],
)
def test_a_file_that_is_not_a_json_object_is_refused(
    content: bytes, message: str, tmp_path: Path
) -> None:
    (tmp_path / "a.json").write_bytes(content)
    with pytest.raises(FormatError, match=message):
        json_files.load(tmp_path / "a.json", dict)


def test_a_missing_file_and_a_huge_file_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(FormatError, match="is missing; copy or download the dataset again"):
        json_files.load(tmp_path / "a.json", dict)
    (tmp_path / "a.json").write_text(json.dumps({"a": 1}))
    monkeypatch.setattr(json_files, "_MAX_BYTES", 7)
    with pytest.raises(FormatError, match="has 8 bytes of metadata; at most 7 are read"):
        json_files.load(tmp_path / "a.json", dict)


def test_a_value_that_json_cannot_represent_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"a\.json could not be written because JSON cannot"):
        json_files.dump({"a": object()}, tmp_path / "a.json")
    assert not (tmp_path / "a.json").exists()


@pytest.mark.parametrize(
    ("values", "kind", "message"),
    [
        ({}, int, "has no key; expected a whole number"),
        ({"key": "1"}, int, "key is '1'; expected a whole number"),
        ({"key": True}, int, "key is True; expected a whole number"),
        ({"key": 1}, str, "key is 1; expected a text"),
        ({"key": None}, dict, "key is None; expected an object"),
        ({"key": 1}, bool, "key is 1; expected true or false"),
    ],
)
def test_an_entry_of_another_type_is_refused(
    values: dict[str, Any], kind: type, message: str
) -> None:
    with pytest.raises(FormatError, match=f"a file: {message}; repair it"):
        json_files.entry(values, "key", kind, "a file")


@pytest.mark.parametrize("value", [0, -1, 1.5, "2", None, True])
def test_a_count_is_a_whole_number_of_at_least_the_minimum(value: object) -> None:
    assert json_files.count({"n": 1}, "n", "a file", 1) == 1
    with pytest.raises(FormatError, match="expected a whole number of at least 1"):
        json_files.count({"n": value}, "n", "a file", 1)


@pytest.mark.parametrize("value", [0, -1, float("inf"), float("nan"), "2", None, True])
def test_a_rate_is_a_positive_number(value: object) -> None:
    assert json_files.rate({"fps": 12}, "fps", "a file") == 12.0
    with pytest.raises(FormatError, match="expected a positive number"):
        json_files.rate({"fps": value}, "fps", "a file")


def test_texts_are_a_list_of_texts() -> None:
    assert json_files.texts({"names": ["a", "b"]}, "names", "a file") == ("a", "b")
    with pytest.raises(FormatError, match=r"names is \[1\]; expected a list of texts"):
        json_files.texts({"names": [1]}, "names", "a file")
