"""Sentences about the time of a flow, from made-up times."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from reproduction import flow_speed


def _clocks(milliseconds: float) -> dict[str, Any]:
    return {clock: {"p99": 1000 * milliseconds * k} for clock, k in (("own", 1), ("wall", 2))}


TIMES: dict[str, Any] = {
    "training, cuda": {
        "gpu": "NVIDIA H200", "policies": 5, flow_speed.STEP: 150.2, flow_speed.PLAIN: 3004.0,
        flow_speed.FUSED: 1502.0, flow_speed.WHOLE: 12.34,
    },
    "training, 1 CPU core": {flow_speed.WHOLE: 300.2},
    "training, 2 CPU cores": {flow_speed.WHOLE: 170.0},
    "acting, µs": {
        "flow": {"numpy": _clocks(3.9), "torch": _clocks(4.8), "ONNX": _clocks(2)},
        "flow-cnn": {"numpy": _clocks(4.2), "torch": _clocks(8.9)},
    },
}  # fmt: skip


def test_the_sentences_hold_the_times_and_their_ratios(tmp_path: Path) -> None:
    (tmp_path / "flow.json").write_text(json.dumps(TIMES))
    pages = flow_speed.sections(tmp_path / "flow.json")
    trained = pages["push-t"]["flow-training-time"]
    assert "On an H200, 5 flows of 15,000 steps take 12.3 s" in trained
    assert "takes 150 µs per policy." in trained
    assert "takes 3004 µs in the same run, 20.0 times as long, and 1502 µs with fused" in trained
    assert "one flow of 15,000 steps takes 300 s, and on two cores 170 s" in trained
    acting = pages["policies/flow"]["flow-acting-time"]
    assert (
        "at most 3.9 ms of CPU time on one core in numpy, 2.0 ms in the ONNX file and 4.8" in acting
    )
    assert "they take 4.2 ms in numpy and 8.9 ms in torch." in acting


def test_what_was_not_measured_is_left_out(tmp_path: Path) -> None:
    assert flow_speed.sections(tmp_path / "none.json") == {
        "push-t": {"flow-training-time": flow_speed.NONE},
        "policies/flow": {"flow-acting-time": flow_speed.NONE},
    }
    only_gpu = {"training, cuda": TIMES["training, cuda"]}
    assert flow_speed.training(only_gpu).endswith("no `torch.compile`.")
