"""Compiling is announced where it happens, and only there."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import pytest

from counterbc.kernels.compiling import MESSAGE, announce_compiling, hear_compiling

CODE = """
from counterbc.kernels.numba_gaussian import cached_njit

@cached_njit()
def twice(x):
    return x + x
"""


def load(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location("compiled_here", path)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules["compiled_here"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_code_is_announced_when_it_is_compiled_and_not_when_it_is_loaded(tmp_path: Path) -> None:
    pytest.importorskip("numba", reason="it compiles")
    path = tmp_path / "compiled_here.py"
    path.write_text(CODE)
    sentences: list[str] = []
    with hear_compiling(sentences.append):
        module = load(path)
        assert module.twice(2) == 4
        assert sentences == [MESSAGE]
        assert module.twice(3) == 6
        assert load(path).twice(2) == 4, "another process would load what this one stored"
    assert sentences == [MESSAGE]


def test_nobody_needs_to_listen() -> None:
    announce_compiling()
