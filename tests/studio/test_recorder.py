"""The recorder counts episodes and pairs, and takes marks and discards."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from counterbc.formats import load
from counterbc.studio.protocol import Plan, Protocol
from counterbc.studio.recorder import Recorder, Timing
from counterbc.studio.stage import Stage
from counterbc.studio.study_folder import StudyFolder
from tests.studio.clients import dataset_of, f32


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


def test_an_episode_without_a_step_does_not_count(recorder: Recorder, study: StudyFolder) -> None:
    record(recorder, 0)
    recorder.wait()
    assert (recorder.episodes, recorder.last) == (0, None)
    assert study.list_datasets() == {}


def test_enough_pairs_complete_a_protocol(recorder: Recorder) -> None:
    record(recorder, 50)
    assert recorder.is_complete()
