"""A policy file decides for one arm; in the loop's own process it is for virtual clocks."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from counterbc.acting.onnx import export
from counterbc.data.demonstrations import Demonstrations
from counterbc.robots.decider import DirectPolicy, PolicyFile
from tests.fixture_types import Train
from tests.robots.doubles import write_policy

pytestmark = pytest.mark.needs("onnx", "onnxruntime")


def test_a_file_knows_its_sizes_and_acts(tmp_path: Path) -> None:
    policy = PolicyFile(write_policy(tmp_path / "p.onnx", divide_by=2.0))
    assert (policy.obs_size, policy.action_size) == (6, 2)
    assert policy.act(np.arange(6.0) + 1, True).tolist() == [0.5, 1.0]


def test_a_file_whose_lag_is_no_number_is_refused(tmp_path: Path) -> None:
    path = write_policy(tmp_path / "p.onnx", facts={"lag": "3.0"})
    with pytest.raises(ValueError, match=r"lag 3\.0 is no number"):
        PolicyFile(path)


@pytest.mark.parametrize("kind", ["gru", "flow", "chunk"])
def test_policies_with_memory_noise_or_chunks_act_and_start_again(
    kind: str, tiny: Demonstrations, quick: Train, tmp_path: Path
) -> None:
    method, options = ("bc-rnn", {}) if kind == "gru" else ("bc", {"policy": kind, "horizon": 4})
    policies = quick(tiny, method, **options)
    export(policies, tmp_path / "p.onnx")
    policy, again = PolicyFile(tmp_path / "p.onnx"), PolicyFile(tmp_path / "p.onnx")
    obs = np.random.default_rng(0).normal(size=(6, 3))
    actions = [policy.act(row, i == 0) for i, row in enumerate(obs)]
    assert np.isfinite(actions).all()
    if kind != "flow":  # a flow draws new noise
        policy.act(obs[0], True)
        assert [again.act(row, i == 0).tolist() for i, row in enumerate(obs)] == [
            a.tolist() for a in actions
        ]


def test_a_policy_in_the_same_process_answers_at_once(tmp_path: Path) -> None:
    policy = DirectPolicy(write_policy(tmp_path / "p.onnx"))
    policy.ask(0, np.arange(6.0), True)
    decision = policy.answer(0, 0.0)
    assert decision is not None
    assert decision.action.tolist() == [0.0, 1.0]
    policy.close()
