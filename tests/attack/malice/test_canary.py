"""Canaries notice code that runs and secrets that are read."""

from __future__ import annotations

import pickle
import runpy
from pathlib import Path

import pytest

from attack.malice.canary import MODULE, SECRET, Harm, harm, plant


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    plant(tmp_path)
    return tmp_path


def test_nothing_is_noticed_while_nothing_happens(folder: Path) -> None:
    assert harm(folder, "some output") == ""


def test_unpickling_and_importing_leave_a_trace(folder: Path) -> None:
    pickle.loads(pickle.dumps(Harm(folder)))
    assert harm(folder, "") == "code was run"


def test_the_module_leaves_a_trace(folder: Path) -> None:
    runpy.run_path(str(folder / f"{MODULE}.py"))
    assert harm(folder, "") == "code was run"


def test_a_printed_secret_is_noticed(folder: Path) -> None:
    assert harm(folder, f"mean {SECRET}") == "a secret was printed"
