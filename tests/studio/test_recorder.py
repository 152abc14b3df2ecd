"""The recorder counts episodes and pairs, takes marks and discards, and survives a full disk."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from counterbc.errors import FormatError
from counterbc.formats import load
from counterbc.studio import dataset_writer
from counterbc.studio.datasets import write_dataset
from counterbc.studio.journal import read_session
from counterbc.studio.protocol import Plan, Protocol
from counterbc.studio.recorder import Recorder, Timing
from counterbc.studio.stage import Stage
from counterbc.studio.study_folder import StudyFolder
from tests.studio.clients import Page, dataset_of, f32
from tests.studio.processes import StudioProcess, small_disk

SIZE = 120_000  # bytes of a disk, room for two short episodes and their dataset
LARGEST = 40_000  # bytes of a file, where no disk can be mounted


@pytest.fixture
def recorder(study: StudyFolder) -> Iterator[Recorder]:
    plan = Plan(
        world="cartpole", operator="Ada", protocol_name="x", protocol=Protocol(episodes=2, pairs=50)
    )
    recorder = Recorder(study, plan, send=lambda m: None, on_error=lambda e: None)
    yield recorder
    recorder.close()


def record(recorder: Recorder, steps: int) -> None:
    stage = Stage("cartpole")
    stage.begin(0)
    recorder.begin(stage, 0, 50.0)
    for t in range(steps):
        recorder.step(stage.obs, f32([0.5]), 1.0, Timing(t, 0.0, None, "gamepad"))
    recorder.end("over", None)


def test_episodes_and_pairs_are_counted_without_those_discarded(recorder: Recorder) -> None:
    record(recorder, 3)
    assert (recorder.episodes, recorder.pairs, recorder.last) == (1, 3, 0)
    record(recorder, 4)
    assert recorder.discard()
    assert (recorder.episodes, recorder.pairs, recorder.last) == (1, 3, None)
    assert not recorder.discard()
    assert not recorder.is_complete()
    record(recorder, 5)
    assert recorder.is_complete()


def test_the_dataset_follows_marks_and_discards(recorder: Recorder, study: StudyFolder) -> None:
    record(recorder, 3)
    record(recorder, 4)
    recorder.mark(False)
    recorder.wait()
    demos = load(dataset_of(study.path))
    assert [(len(e), e.success) for e in demos.episodes] == [(3, None), (4, False)]
    recorder.discard()
    recorder.wait()
    assert [len(e) for e in load(dataset_of(study.path)).episodes] == [3]


def test_changes_while_a_dataset_is_written_are_written_together(
    recorder: Recorder, study: StudyFolder
) -> None:
    gate, begun, calls = threading.Event(), threading.Event(), list[str]()

    def write_slowly(study: StudyFolder, session: str) -> Any:
        calls.append(session)
        begun.set()
        assert gate.wait(60)
        return write_dataset(study, session)

    recorder._write_dataset = write_slowly
    record(recorder, 1)
    assert begun.wait(60)
    for steps in (2, 3, 4):
        record(recorder, steps)
    recorder.mark(True)
    gate.set()
    recorder.wait()
    assert len(calls) == 2
    episodes = load(dataset_of(study.path)).episodes
    assert [(len(e), e.success) for e in episodes] == [(1, None), (2, None), (3, None), (4, True)]


def test_an_episode_without_a_step_does_not_count(recorder: Recorder, study: StudyFolder) -> None:
    record(recorder, 0)
    recorder.wait()
    assert (recorder.episodes, recorder.last) == (0, None)
    assert study.list_datasets() == {}


def test_enough_pairs_complete_a_protocol(recorder: Recorder) -> None:
    record(recorder, 50)
    assert recorder.is_complete()


def test_a_folder_that_cannot_be_replaced_is_reported_and_the_journal_kept(
    study: StudyFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(source: object, target: object) -> None:
        raise PermissionError(13, "Permission denied", str(target))

    def write_here(study: StudyFolder, session: str) -> Any:
        answer = dataset_writer._write(study, session)
        if answer.problem is not None:
            raise FormatError(answer.problem)
        return answer.path

    messages: list[dict[str, Any]] = []
    plan = Plan(
        world="cartpole", operator="Ada", protocol_name="x", protocol=Protocol(), format="minari"
    )
    recorder = Recorder(
        study, plan, send=messages.append, on_error=lambda e: None, write=write_here
    )
    record(recorder, 3)
    recorder.wait()
    monkeypatch.setattr("counterbc.files._exchange", refuse)
    record(recorder, 2)
    recorder.wait()
    recorder.close()
    assert [m["type"] for m in messages] == ["saved", "problem"]
    assert "Permission denied" in messages[1]["text"]
    assert [len(e.steps) for e in read_session(study.journal("cartpole-001"))] == [3, 2]


def record_until_full(page: Page) -> str:
    """Record two short episodes, and one until the recording stops; return what the page is told.

    Datasets may not be written any more before that.
    """
    page.begin("air-hockey")
    page.do("record")
    for _ in range(2):
        page.do("start")
        while page.receive().get("step", 0) < 5:
            pass
        page.do("end")
        page.wait("saved")
    page.do("start")
    text = ""
    while "Recording stopped" not in text:
        text = page.wait("problem")["text"]
    return text


@pytest.mark.slow
def test_a_disk_that_is_full_keeps_the_finished_episodes_of_the_same_session(
    tmp_path: Path,
) -> None:
    study = tmp_path / "study"
    with small_disk(study, SIZE) as enlarge:
        studio = StudioProcess(study, largest=None if enlarge else LARGEST)
        page = studio.page()
        problem = record_until_full(page)
        assert ("the disk is full" in problem) is (enlarge is not None)
        page.send(type="ping", sent=1)
        page.wait("pong")  # the server stays up
        before = load(dataset_of(study)).episodes
        page.close()
        assert studio.stop() == 143
        finished = [e for e in read_session(study / "journal" / "air-hockey-001") if e.steps][:2]
        assert [e.end for e in finished] == ["stopped", "stopped"]
        if enlarge:
            enlarge()
        again = StudioProcess(study)
        after = load(dataset_of(study)).episodes
        assert again.stop() == 143
        assert (len(before), len(after)) == (2, 3)  # with what was recorded of the last one
        for journal, *episodes in zip(finished, before, after, strict=False):
            for episode in episodes:
                np.testing.assert_array_equal(episode.obs, journal.obs)
