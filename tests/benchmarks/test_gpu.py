"""Which rows the benchmark of the GPU measures; the times need one."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from benchmarks import gpu


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Replace the measurements, and list those that are made."""
    calls: list[str] = []

    def row(name: str) -> Callable[..., dict[str, Any]]:
        def measure(method: str, members: int = 0, *_: Any) -> dict[str, Any]:
            calls.append(name)
            return {"method": method, "members": members}

        return measure

    for name in ("population", "profile"):
        monkeypatch.setattr(gpu, name, row(name))
    monkeypatch.setattr(gpu, "seconds", lambda *_, **__: 1.0)
    monkeypatch.setattr(gpu, "peak", lambda: 50.0)
    monkeypatch.setattr(
        gpu, "seeds_row", lambda method, pairs: {"method": method, "pairs": pairs, "seconds": [1.0]}
    )
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda: "a GPU")
    return calls


def run(path: Path, monkeypatch: pytest.MonkeyPatch, *options: str) -> dict[str, Any]:
    monkeypatch.setattr(sys, "argv", ["gpu.py", "--out", str(path), *options])
    gpu.main()
    result: dict[str, Any] = json.loads(path.read_text())
    return result


def test_a_new_run_measures_everything_and_the_peak_before_and_after(
    tmp_path: Path, measured: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "gpu.json"
    path.write_text(json.dumps({"peak": [1.0], "profile": [], "device": "an older one"}))
    result = run(path, monkeypatch)
    assert result["peak"] == [50.0, 50.0]
    assert result["device"] == "a GPU"
    assert [row["method"] for row in result["profile"]] == ["bc", "counter-bc"]
    assert measured.count("population") == 2 * len(gpu.MEMBERS)


def test_an_unfinished_file_is_completed_on_demand(
    tmp_path: Path, measured: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "gpu.json"
    whole = run(path, monkeypatch)
    part = whole | {"peak": whole["peak"][:1], "profile": []}
    path.write_text(json.dumps(part))
    measured.clear()
    assert run(path, monkeypatch, "--complete") == whole
    assert (measured.count("profile"), measured.count("population")) == (2, 0)


def test_a_profile_has_the_work_on_the_gpu_and_what_the_call_takes_beside_it() -> None:
    events = [
        ("train_layers", 40.0), ("RadixSortKernel", 4.0), ("draw_order", 2.0),
        ("Memcpy HtoD", 3.0), ("fill", 1.0),
    ]  # fmt: skip
    work = gpu.work_on_gpu(events)
    assert work == {"steps": 40.0, "ordering pairs": 6.0, "copies and other": 4.0}
    assert gpu.profile_row(100.0, work, 1000) == {
        "steps": 0.04, "ordering pairs": 0.006, "copies and other": 0.004,
        "waiting for the host": 0.05, "whole call": 0.1,
    }  # fmt: skip
