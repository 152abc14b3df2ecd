"""The function that `Demonstrations.save` writes with."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import counterbc as cb
from counterbc.data import writer


def test_save_passes_the_format_that_the_ending_names(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    calls: list[tuple[str, str]] = []
    monkeypatch.setattr(writer, "_writer", None)
    writer.set_writer(lambda data, path, *, format: calls.append((path.name, format)))
    demos = cb.Demonstrations((cb.Episode(np.zeros((2, 1)), np.zeros((2, 1))),))
    for name in ("a.npz", "a.NPZ", "a.hdf5", "a"):
        demos.save(tmp_path / name)
    assert calls == [
        ("a.npz", "npz"), ("a.NPZ", "npz"), ("a.hdf5", "robomimic"), ("a", "robomimic"),
    ]  # fmt: skip


def test_without_a_writer_the_error_names_the_function_that_sets_one(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(writer, "_writer", None)
    with pytest.raises(RuntimeError, match="set_writer"):
        writer.write(None, tmp_path / "a.npz", format="npz")
