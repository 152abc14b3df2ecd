"""The worker speaks records of fixed size, imports no torch and ends with its input."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from counterbc.robots.decider import PolicyFile
from counterbc.robots.policy_worker import ANSWER, QUESTION, failure, serve
from tests.robots.doubles import write_policy

pytestmark = pytest.mark.needs("onnx", "onnxruntime")


def question(tick: int, obs: list[float]) -> bytes:
    return QUESTION.pack(tick, tick == 0) + np.array(obs, "<f8").tobytes()


def test_each_question_gets_one_answer_of_its_number(tmp_path: Path) -> None:
    policy = PolicyFile(write_policy(tmp_path / "p.onnx"))
    answers = io.BytesIO()
    questions = question(7, [1, 2, 0, 0, 0, 0]) + question(9, [3, 4, 0, 0, 0, 0]) + b"torn"
    serve(policy, io.BytesIO(questions), answers)
    size = ANSWER.size + 16
    contents = [answers.getvalue()[i : i + size] for i in (0, size)]
    assert [ANSWER.unpack_from(c)[0] for c in contents] == [7, 9]
    assert np.frombuffer(contents[1], "<f8", offset=ANSWER.size).tolist() == [3, 4]


def test_the_process_of_a_policy_needs_no_torch_and_no_pickle(tmp_path: Path) -> None:
    code = (
        "import sys, runpy; sys.argv = ['worker', sys.argv[1]]\n"
        "runpy.run_module('counterbc.robots.policy_worker', run_name='__main__')\n"
        "print('torch' in sys.modules, file=sys.stderr)"
    )
    path = write_policy(tmp_path / "p.onnx")
    result = subprocess.run([sys.executable, "-c", code, path], input=b"", capture_output=True)
    assert json.loads(result.stdout)["obs"] == 6
    assert result.stderr.decode().splitlines()[-1] == "False"
    source = Path(sys.modules["counterbc.robots.policy_worker"].__file__ or "").parent
    assert not [p for p in source.rglob("*.py") if "import pickle" in p.read_text("utf-8")]


def test_only_a_missing_onnxruntime_counts_as_not_installed() -> None:
    missing = ModuleNotFoundError("No module named 'onnxruntime'", name="onnxruntime")
    assert failure(missing) == {"missing": "onnxruntime"}
    assert failure(ValueError("[onnxruntime] damaged")) == {"error": "[onnxruntime] damaged"}


def test_a_file_that_is_no_policy_is_explained(tmp_path: Path) -> None:
    (tmp_path / "p.onnx").write_bytes(b"nonsense")
    command = [sys.executable, "-m", "counterbc.robots.policy_worker", str(tmp_path / "p.onnx")]
    result = subprocess.run(command, input=b"", capture_output=True)
    assert result.returncode == 1
    assert "error" in json.loads(result.stdout)
