"""The check that an exported file acts as the policy does."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import onnx
import torch

import counterbc as cb
from counterbc.acting import parity
from counterbc.acting.onnx import to_onnx
from counterbc.acting.policies import Policies
from counterbc.data.demonstrations import Demonstrations
from tests.fixture_types import Train


def save_onnx(policies: Policies, path: Path, **options: Any) -> Path:
    cb.export(policies, path, **options)
    return path


def test_the_check_tells_another_policy_from_this_one(
    tiny: Demonstrations, quick: Train, tmp_path: Path
) -> None:
    policies = quick(tiny, "bc", seeds=2)
    path = save_onnx(policies, tmp_path / "p.onnx", member=0)
    assert parity.check_parity(path, policies[0], "mean").agrees
    other_parity = parity.check_parity(path, policies[1], "mean")
    assert not other_parity.agrees
    assert other_parity.difference > 0.01


def test_the_check_notices_a_number_that_is_missing(
    tiny: Demonstrations, quick: Train, tmp_path: Path
) -> None:
    policies = quick(tiny, "bc")
    params = {k: v.clone() for k, v in policies.params.items()}
    params["head.bias"][0, 0] = torch.nan
    faulty = to_onnx(replace(policies, params=params), "mean")
    onnx.save(faulty, tmp_path / "p.onnx")
    assert not parity.check_parity(tmp_path / "p.onnx", policies, "mean").agrees


def test_the_check_notices_one_step_of_a_flow_that_differs(
    tiny: Demonstrations, quick: Train, tmp_path: Path
) -> None:
    policies = quick(tiny, policy="flow", horizon=4)
    path = save_onnx(policies, tmp_path / "p.onnx")
    for change in ({"euler": 9}, {"temperature": 0.51}):
        policy: Any = replace(policies.policy, **change)
        assert not parity.check_parity(path, replace(policies, policy=policy), "mean").agrees
