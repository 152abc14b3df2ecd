"""A study that is killed goes on where it was, and comes to the same rows."""

from __future__ import annotations

import multiprocessing
import random
import signal
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from counterbc.experiments.cell import PASSING
from counterbc.experiments.study import Study
from reproduction.grid import PaperGrid

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL there")
POPULATIONS = PaperGrid(
    worlds=["intersection"], teachers=["uniform", "gaussian"], pairs=[20, 40],
    methods=["bc", "counter-bc", "bc-rnn"], seeds=2, episodes=2, steps=4,
).cells()  # fmt: skip


def lasting(study: Study) -> list[dict[str, Any]]:
    return list(study.table().drop_columns(list(PASSING)).to_pylist())


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """The rows of a study that nobody stopped."""
    study = Study(POPULATIONS, tmp_path_factory.mktemp("whole"))
    study.run("cpu", workers=1)
    return lasting(study)


def start(study: Study, workers: int) -> Any:
    """The study in a process of its own, which starts its workers itself."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(
        ["counterbc.experiments.study", "counterbc.experiments.simulated_cell"]
    )
    process = context.Process(target=study.run, args=("cpu",), kwargs={"workers": workers})
    process.start()
    return process


def killed(process: Any, moment: float) -> bool:
    """Whether it was, or had ended well before: its exit code alone can tell."""
    process.join(moment)
    process.kill()
    process.join()
    assert process.exitcode in (0, -signal.SIGKILL)
    return bool(process.exitcode)


@pytest.mark.parametrize(("workers", "kills"), [(1, 6), (2, 4)])
def test_a_study_killed_at_random_moments_has_the_rows_of_an_uninterrupted_one(
    workers: int, kills: int, expected: list[dict[str, Any]], tmp_path: Path
) -> None:
    moments, studies, halfway = random.Random(0), [Study(POPULATIONS, tmp_path / "0")], 0
    while kills > 0:  # a study that gets through before is checked, and another one begun
        study = studies[-1]
        before, process = len(study.missing()), start(study, workers)
        while kills % 2 and process.is_alive() and len(study.missing()) == before:
            time.sleep(0.01)  # every other one is stopped between its rows, not while it starts
        stopped = killed(process, moments.uniform(0, 0.5 if kills % 2 else 3))
        assert stopped or not study.missing()
        kills -= stopped
        halfway += 0 < len(study.missing()) < before
        if not study.missing():
            studies.append(Study(POPULATIONS, tmp_path / str(len(studies))))
    assert halfway > 0
    studies[-1].run("cpu", workers=1)
    assert all(lasting(study) == expected for study in studies)
