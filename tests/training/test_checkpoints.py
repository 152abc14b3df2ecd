"""Trainings that are not finished yet."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors import SafetensorError

from counterbc.acting import run_folder
from counterbc.acting.policies import Policies
from counterbc.data.demonstrations import Demonstrations
from counterbc.errors import CounterBCError, FormatError
from counterbc.methods import METHODS, Method
from counterbc.policies import GaussianMLP
from counterbc.training import checkpoints

Train = Callable[..., Policies]
Change = Callable[[Path], Any]


def test_a_training_that_never_saved_is_called_unfinished(tmp_path: Path) -> None:
    checkpoints.begin(tmp_path / "run", {"method": "bc"})
    with pytest.raises(
        FormatError, match=r"a training that was interrupted; finish it .* --resume"
    ):
        Policies.load(tmp_path / "run")
    assert checkpoints.load_state(tmp_path / "run", {"method": "bc"}) is None


def test_a_damaged_state_is_not_resumed(tmp_path: Path) -> None:
    checkpoints.begin(tmp_path / "run", {})
    (tmp_path / "run" / "training.safetensors").write_bytes(b"half")
    with pytest.raises(FormatError, match=r"training.safetensors is damaged"):
        checkpoints.load_state(tmp_path / "run", {})


def full(*_: Any, **__: Any) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def full_in_rust(*_: Any, **__: Any) -> None:
    """What safetensors raises when a write fails."""
    raise SafetensorError(
        "Error while serializing: I/O error: No space left on device (os error 28)"
    )


@pytest.mark.parametrize("failure", [full, full_in_rust])
def test_a_disk_that_fills_up_during_a_training_leaves_a_run_to_resume(
    failure: Callable[..., None],
    tiny: Demonstrations,
    quick: Train,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    out = tmp_path / "run"
    with monkeypatch.context() as patch:
        patch.setattr(run_folder, "save_file", failure)
        with pytest.raises(FormatError, match="could not be written"):
            quick(tiny, "bc", out=out)
    assert [p.name for p in out.iterdir()] == ["config.json"]
    again = quick(tiny, "bc", out=out, resume=True)
    assert torch.equal(again.params["head.bias"], quick(tiny, "bc").params["head.bias"])


@dataclass(frozen=True)
class Own(GaussianMLP):
    """A policy of the user's own, which no other program could load."""


def test_a_policy_that_cannot_be_saved_is_refused_before_any_work(
    tiny: Demonstrations, quick: Train, tmp_path: Path
) -> None:
    method: Method = replace(METHODS["bc"], policy=Own())
    with pytest.raises(CounterBCError, match="Own"):
        quick(tiny, method, out=tmp_path / "run")
    assert list(tmp_path.iterdir()) == []
