"""Datasets come from another process, whatever happens to it."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Iterator

import pytest

from counterbc.errors import FormatError
from counterbc.formats import load
from counterbc.studio.dataset_writer import DatasetWriter
from counterbc.studio.protocol import Plan, Protocol
from counterbc.studio.recorder import Recorder, Timing
from counterbc.studio.stage import Stage
from counterbc.studio.study_folder import StudyFolder
from tests.studio.clients import f32, wait_for


@pytest.fixture
def session(study: StudyFolder) -> str:
    """A session with one episode of three steps in its journal, and no dataset."""
    plan = Plan(world="cartpole", operator="Ada", protocol_name="x", protocol=Protocol())
    recorder = Recorder(
        study, plan, send=lambda m: None, on_error=lambda e: None, write=lambda *names: None
    )
    stage = Stage("cartpole")
    stage.begin(0)
    recorder.begin(stage, 0, 50.0)
    for t in range(3):
        recorder.step(stage.obs, f32([0.5]), 1.0, Timing(t, 0.0, None, "gamepad"))
    recorder.end("over", None)
    recorder.close()
    assert recorder.session is not None
    return recorder.session


@pytest.fixture
def writer() -> Iterator[DatasetWriter]:
    writer = DatasetWriter()
    yield writer
    if writer._pipe is not None:
        writer._pipe.close()  # its process ends with the pipe
        pid = writer.process_id
        wait_for(lambda: pid is None or is_gone(pid))


def is_gone(pid: int) -> bool:
    """Return whether a child of this process has ended."""
    try:
        return os.waitpid(pid, os.WNOHANG)[0] == pid
    except ChildProcessError:
        return True


def test_a_dataset_is_written_by_another_process(
    writer: DatasetWriter, study: StudyFolder, session: str
) -> None:
    path = writer.write(study, session)
    assert path == study.path / f"{session}.hdf5"
    assert load(path).pairs == 3
    assert writer.process_id not in (None, os.getpid())
    shutil.rmtree(study.journal(session))
    study.journal(session).mkdir()
    assert writer.write(study, session) is None
    assert not path.exists()


def test_a_dataset_that_cannot_be_written_is_an_error_with_its_reason(
    writer: DatasetWriter, study: StudyFolder, session: str
) -> None:
    journal = study.journal(session) / "0000.jsonl"
    content = journal.read_text()
    journal.write_text(content.replace('"format":"robomimic"', '"format":"tapes"'))
    with pytest.raises(FormatError, match="KeyError: tapes"):
        writer.write(study, session)
    journal.write_text(content)
    assert writer.write(study, session) is not None  # the process is still there


def test_a_process_that_was_killed_loses_nothing(
    writer: DatasetWriter, study: StudyFolder, session: str
) -> None:
    writer.write(study, session)
    first = writer.process_id
    assert first is not None
    os.kill(first, signal.SIGKILL)
    (study.path / f"{session}.hdf5").unlink()
    assert writer.write(study, session) == study.path / f"{session}.hdf5"
    writer.write(study, session)
    assert writer.process_id != first  # a new process for the next one
