"""Damage a run folder on purpose."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from counterbc.acting.policies import Policies
from counterbc.errors import CounterBCError

Change = Callable[[Path], Any]


def check_refused(folder: Path, change: Change, sentence: str) -> None:
    """Check that a changed run is refused in one sentence."""
    change(folder)
    with pytest.raises(CounterBCError, match=sentence) as error:
        Policies.load(folder)
    assert "\n" not in str(error.value)


def reconfigured(change: Callable[[dict[str, Any]], Any]) -> Change:
    def apply(folder: Path) -> None:
        config = json.loads((folder / "config.json").read_text())
        change(config)
        (folder / "config.json").write_text(json.dumps(config))

    return apply


def retensored(change: Callable[[dict[str, torch.Tensor]], Any]) -> Change:
    def apply(folder: Path) -> None:
        tensors = load_file(folder / "model.safetensors")
        change(tensors)
        save_file(tensors, folder / "model.safetensors")

    return apply
