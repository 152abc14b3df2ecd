"""The numbers of acting that commands change, and those they refuse."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from counterbc.data.demonstrations import Demonstrations
from tests.fixture_types import Call, Train

REFUSED: dict[str, tuple[str, str, str]] = {
    "temperature of a network": ("plain", "--temperature=1", "a GaussianMLP has none, only flows"),
    "Euler steps of a network": ("plain", "--euler=5", "a GaussianMLP has none, only flows"),
    "more than a chunk": ("flow", "--execute=5", "horizon is 4 and execute 5"),
    "no action": ("flow", "--execute=0", "executes at least 1 and at most all"),
    "several of one action": ("plain", "--execute=2", "horizon is 1 and execute 2"),
    "negative noise": ("flow", "--temperature=-1", "it must be 0 or more"),
    "no Euler step": ("flow", "--euler=0", "euler is 0; acting takes 1 or more Euler steps"),
    "parts of averaged chunks": ("average", "--execute=2", "averages its chunks; leave execute"),
}
OPTIONS: dict[str, dict[str, Any]] = {
    "plain": {},
    "flow": {"policy": "flow", "horizon": 4},
    "average": {"horizon": 4, "average_chunks": True},
}


@pytest.mark.parametrize("case", REFUSED)
@pytest.mark.parametrize("command", ["evaluate", "export"])
def test_numbers_that_a_policy_does_not_have_are_refused_in_a_sentence(
    command: str, case: str, tiny: Demonstrations, quick: Train, tmp_path: Path, call: Call
) -> None:  # fmt: skip
    run, option, words = REFUSED[case]
    quick(tiny, "bc", **OPTIONS[run]).save(tmp_path / "run")
    file = tmp_path / "policy.onnx"
    status, _, err = call(
        command, tmp_path / "run", *([file] if command == "export" else ()), option
    )
    assert (status, err.count("\n")) == (1, 1)
    assert words in err
    assert not file.exists()
