"""Rows in JSON files are kept at once and found again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

import counterbc
from counterbc.errors import FormatError
from reproduction.records import (
    Records,
    computed_with,
    read,
    read_rows,
    update,
    write,
    write_rows,
)


def test_rows_are_kept_and_found_by_the_next_run(tmp_path: Path) -> None:
    path = tmp_path / "study" / "numbers.json"
    records = Records(path)
    records.add({"world": "fork", "seed": 0, "value": float("nan")}, {"world": "fork", "seed": 1})
    second = Records(path)
    assert second.has(world="fork", seed=1)
    assert not second.has(world="fork", seed=2)
    assert second.rows[0]["value"] is None


def test_a_finished_study_resumes_after_its_rows_and_keeps_them(tmp_path: Path) -> None:
    path = tmp_path / "study" / "rows.json"
    Records(path, device="cpu").add({"world": "fork", "sigma": None, "seed": 0})
    write_rows(read(path), path.parent)
    path.unlink()  # a checkout has rows.parquet alone
    records = Records(path, device="cpu")
    assert records.has(world="fork", sigma=None, seed=0)
    records.add({"world": "can", "sigma": 0.5, "seed": 0})
    write_rows(records.rows, path.parent)
    first, second = read_rows(path.parent)
    assert (first["world"], second["world"]) == ("fork", "can")
    assert first["torch"] == second["torch"] == torch.__version__
    assert Records(path.with_name("numbers.json")).rows == []


def test_new_rows_say_what_computed_them_and_rows_on_file_stay_as_they_are(tmp_path: Path) -> None:
    path = write([{"seed": 0}], tmp_path / "numbers.json")
    records = Records(path, device="cpu")
    records.add({"seed": 1}, {"seed": 2})
    old, *new = read(path)
    assert old == {"seed": 0}
    assert [row["seed"] for row in new] == [1, 2]
    for row in new:
        assert (row["device"], row["kernel_setting"]) == ("cpu", "auto")
        assert "kernel" not in row
        assert row["versions"]["torch"] == torch.__version__
        assert row["versions"]["counterbc"] == counterbc.__version__


@pytest.mark.parametrize("indent", [None, 1])
def test_a_file_of_rows_is_the_json_of_their_list(tmp_path: Path, indent: int | None) -> None:
    path = tmp_path / "rows.json"
    Records(path, indent, device="cpu").add({"a": float("nan"), "b": [1, 2]}, {"c": {"d": None}})
    records = Records(path, indent, device="cpu")
    records.add({"e": "text"})
    whole = [row | {"a": None} if "a" in row else row for row in records.rows]
    assert path.read_text() == json.dumps(whole, indent=indent) + "\n"


def test_a_row_of_a_training_names_the_kernel_that_ran(tmp_path: Path) -> None:
    path = tmp_path / "numbers.json"
    Records(path, device="cpu").add({"seed": 0, "kernel": "numba"})
    (row,) = read(path)
    assert row["kernel"] == "numba"
    assert "kernel_setting" not in row


def test_a_row_says_which_libraries_of_native_kernels_there_were() -> None:
    assert {"numba", "triton"} <= computed_with("cpu")["versions"].keys()


def test_a_section_is_replaced_and_the_others_stay(tmp_path: Path) -> None:
    path = write({"a": 1, "b": 2}, tmp_path / "numbers.json")
    assert update(path, b=3, c=4) == {"a": 1, "b": 3, "c": 4}
    assert json.loads(path.read_text()) == {"a": 1, "b": 3, "c": 4}


def test_a_file_that_cannot_be_read_is_named_with_the_next_step(tmp_path: Path) -> None:
    path = tmp_path / "numbers.json"
    with pytest.raises(FormatError, match=r"numbers.json does not exist; compute"):
        read(path)
    path.write_text("{")
    with pytest.raises(FormatError, match=r"numbers.json is not JSON; delete it and compute"):
        read(path)
