"""Studies at tiny sizes, and where the rows that they write come from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import ModuleType
from typing import Any

import pytest
import torch

from counterbc.settings import PRESETS

CheckOrigin = Callable[..., None]
RunHere = Callable[[ModuleType], None]


@pytest.fixture
def few_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the default preset take two gradient steps."""
    monkeypatch.setitem(PRESETS, "default", replace(PRESETS["default"], steps=2))


@pytest.fixture
def run_here(monkeypatch: pytest.MonkeyPatch) -> RunHere:
    """A function that lets a study run its jobs in this process, where they can be shortened."""

    def run(
        jobs: dict[str, Callable[[], Any]], keep: Callable[..., None], *_: Any, **__: Any
    ) -> None:
        for name, job in jobs.items():
            keep(name, job())

    return lambda study: monkeypatch.setattr(study, "run_all", run)


@pytest.fixture
def check_origin() -> CheckOrigin:
    """A function that checks that rows name the device, the kernel and the versions."""

    def check(*rows: dict[str, Any], trained: bool = False) -> None:
        assert rows
        for row in rows:
            assert row["device"] == "cpu"
            if trained:
                assert row["kernel"] in ("torch", "numba", "torch, numba loss")
            else:
                assert row["kernel_setting"] == "auto"
            assert row["versions"]["torch"] == str(torch.__version__)

    return check
