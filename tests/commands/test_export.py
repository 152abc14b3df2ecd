"""counterbc export, as people type it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from counterbc.acting.policies import Policies
from counterbc.data.demonstrations import Demonstrations
from tests.fixture_types import Call, CallJson


def test_export_writes_one_policy_and_reports_how_far_it_is_from_torch(
    tiny: Demonstrations, quick: Callable[..., Policies], tmp_path: Path, call_json: CallJson
) -> None:
    quick(tiny).save(tmp_path / "run")
    payload = call_json("export", tmp_path / "run", tmp_path / "p.onnx")
    assert payload["bytes"] == (tmp_path / "p.onnx").stat().st_size
    assert (payload["method"], payload["member"], payload["act"]) == ("bc", 0, "mean")
    assert payload["difference"] <= payload["tolerance"] * 2  # actions span [-1, 1]


def test_a_folder_that_is_no_run_is_refused(tmp_path: Path, call: Call) -> None:
    status, _, err = call("export", tmp_path, tmp_path / "p.onnx")
    assert (status, err.startswith("error: ")) == (1, True)
    assert not (tmp_path / "p.onnx").exists()
