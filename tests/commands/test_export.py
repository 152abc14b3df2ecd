"""counterbc export, as people type it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import onnxruntime
import pytest

from counterbc.acting.onnx_session import Session
from counterbc.acting.policies import Policies
from counterbc.cli import main
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


def test_how_a_flow_acts_can_be_changed_and_the_temperature_of_others_not(
    tiny: Demonstrations, quick: Callable[..., Policies], tmp_path: Path, call: Call,
    call_json: CallJson,
) -> None:  # fmt: skip
    quick(tiny, policy="flow", horizon=4).save(tmp_path / "flow")
    quick(tiny).save(tmp_path / "plain")
    numbers = ("--temperature", 0.25, "--execute", 3, "--euler", 5)
    assert call_json("export", tmp_path / "flow", tmp_path / "p.onnx", *numbers)["execute"] == 3
    about = onnxruntime.InferenceSession(tmp_path / "p.onnx").get_modelmeta().custom_metadata_map
    assert [about[name] for name in ("temperature", "execute", "euler")] == ["0.25", "3", "5"]
    _, out, _ = call("export", tmp_path / "flow", tmp_path / "q.onnx")
    assert "obs 2 × 3 → actions 2 × 2" in out
    file = tmp_path / "r.onnx"
    status, _, err = call("export", tmp_path / "plain", file, "--temperature", 0.25)
    assert (status, err.count("\n")) == (1, 1)
    assert "temperature is 0.25, but a GaussianMLP has none" in err
    assert not file.exists()


def test_export_from_the_command_line(
    tiny: Demonstrations,
    quick: Callable[..., Policies],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    run, file = tmp_path / "run", tmp_path / "p.onnx"
    policies = quick(tiny, "bc", seeds=2)
    policies.save(run)
    assert main(["export", str(run), str(file), "--member", "1", "--json"]) == 0
    reply = json.loads(capsys.readouterr().out)
    assert (reply["file"], reply["member"], reply["bytes"]) == (str(file), 1, file.stat().st_size)
    assert 0 <= reply["difference"] < 1e-5
    obs = tiny.obs[0]
    assert Session(file, 1).act(obs)[0] == pytest.approx(policies[1].actor().act(obs), abs=1e-6)
    assert main(["export", str(run), str(tmp_path / "q.onnx")]) == 0
    assert re.search(
        r"Largest difference to torch: \S+ in the units of the action, on \d+ inputs",
        capsys.readouterr().out,
    )
    for arguments, words in (
        ((run, file), "already exists"),
        ((tmp_path, tmp_path / "r.onnx"), "config.json"),
        ((run, tmp_path / "r.onnx", "--member", 7), "member 7 does not exist"),
    ):
        assert main(["export", *map(str, arguments)]) == 1
        out, err = capsys.readouterr()
        assert out == ""
        assert words in err
        assert err.count("\n") == 1
