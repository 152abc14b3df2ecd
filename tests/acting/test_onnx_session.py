"""An exported policy acts through onnxruntime as its actor does, in a process without torch."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from counterbc.acting.onnx import export
from counterbc.acting.onnx_session import Session
from counterbc.data.demonstrations import Demonstrations
from tests.fixture_types import Train


def test_overlapping_chunks_are_averaged_as_by_the_actor(
    tiny: Demonstrations, quick: Train, tmp_path: Path
) -> None:
    policies = quick(tiny, policy="chunk", horizon=4, average_chunks=True)
    export(policies, tmp_path / "p.onnx")
    actor, file = policies.actor(), Session(tmp_path / "p.onnx", 1)
    for obs in np.random.default_rng(0).normal(size=(6, 3)).astype(np.float32):
        assert file.act(obs)[0] == pytest.approx(actor.act(obs), abs=1e-5)


def test_a_session_needs_no_torch() -> None:
    code = "import sys, counterbc.acting.onnx_session; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
