"""Studies that measure many datasets."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reproduction import datasets
from reproduction.datasets import DatasetOptions, compute_rows
from reproduction.records import Record, read, read_rows


def run_here(
    jobs: dict[str, Callable[[], Any]], keep: Callable[..., None], *_: Any, **__: Any
) -> None:
    for name, job in jobs.items():
        keep(name, job())


def test_rows_are_computed_once_and_resumed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(datasets, "run_all", run_here)
    seeds = []

    def measure(about: Record, device: str | None) -> Record:
        seeds.append(about["seed"])
        return {"double": 2 * about["seed"], "on": device}

    options = DatasetOptions(seeds=2, first=5, device="cpu", out=tmp_path)
    kinds = [{"kind": "a", "seed": seed} for seed in options.seed_range]
    compute_rows("study", kinds[:1], measure, options)
    rows = compute_rows("study", kinds, measure, options)
    assert seeds == [5, 6]
    assert [(r["kind"], r["seed"], r["double"], r["on"]) for r in rows] == [
        ("a", 5, 10, "cpu"), ("a", 6, 12, "cpu"),
    ]  # fmt: skip
    assert read(tmp_path / "study" / "rows.json") == rows
    assert [r["double"] for r in read_rows(tmp_path / "study")] == [10, 12]
    (tmp_path / "study" / "rows.json").unlink()  # as in a new clone
    more = [*kinds, {"kind": "b", "seed": 5}]
    assert [r["double"] for r in compute_rows("study", more, measure, options)] == [10, 12, 10]
    assert seeds == [5, 6, 5]
    assert [r["kind"] for r in read_rows(tmp_path / "study")] == ["a", "a", "b"]
