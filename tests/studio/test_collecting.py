"""What is recorded: the observation before the action, and the device's action at the tick."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from counterbc.envs import make_vec
from counterbc.errors import FormatError, OptionError
from counterbc.formats import load
from counterbc.studio.collecting import Input
from counterbc.studio.journal import read_session
from counterbc.studio.study_folder import StudyFolder
from tests.studio.clients import WORLDS, Desk, dataset_of, load_recording, wait_for


@pytest.fixture
def desks(study: StudyFolder) -> Iterator[Any]:
    desk_list: list[Desk] = []

    def open_desk(world: str, **protocol: Any) -> Desk:
        desk_list.append(Desk(study, world, **protocol))
        return desk_list[-1]

    yield open_desk
    for desk in desk_list:
        desk.session.close()


@pytest.mark.parametrize("world", WORLDS)
def test_a_recording_is_the_observation_before_each_action_and_the_action_at_its_tick(
    desks: Any, study: StudyFolder, world: str
) -> None:
    desk = desks(world)
    desk.session.record()
    desk.session.start()
    actions = [desk.feasible_action(t) for t in range(8)]
    for action in actions:
        desk.step(*action.tolist())
    desk.session.finish()
    desk.session.recorder.wait()
    demos = load_recording(study)
    np.testing.assert_array_equal(demos.action, np.stack(actions))
    # The world, replayed from its seed with these actions, shows the same observations before them.
    (journal,) = read_session(study.journal(desk.status["session"]))
    env = make_vec(world, 1)
    obs, _ = env.reset(seed=[journal.header["seed"]])  # type: ignore[arg-type]  # lists are taken
    for t, action in enumerate(actions):
        np.testing.assert_array_equal(demos.obs[t], obs[0])
        obs, reward, *_ = env.step(action[None])
        rewards = demos.episodes[0].reward
        assert rewards is not None
        assert rewards[t] == np.float32(reward[0])


def test_the_newest_of_several_inputs_counts(desks: Any) -> None:
    desk = desks("cartpole")
    desk.session.start()
    with desk.session._lock:  # no tick can happen meanwhile
        desk.session.give(Input((0.25,), "keyboard"))
        desk.session.give(Input((-0.75,), "pointer"))
    wait_for(lambda: len(desk.frames) >= 2)
    assert desk.frames[1].facts["action"] == [-0.75]


def test_practice_leaves_no_trace_and_ends_after_its_time(desks: Any, study: StudyFolder) -> None:
    desk = desks("cartpole", practice=0.1)  # five steps of 0.02 s
    desk.session.start()
    for _ in range(5):
        desk.step(0.0)
    wait_for(lambda: desk.status["mode"] == "record")
    assert desk.status["phase"] == "ready"
    assert list((study.path / "journal").iterdir()) == []


def test_what_is_left_of_the_practice_is_sent_once_a_second(desks: Any) -> None:
    desk = desks("intersection", practice=100.0)  # ten steps a second
    desk.session.start()
    for _ in range(15):
        desk.step(0.0, 0.0)
    with desk.session._lock:  # the tick is complete
        left = [m["practice_left"] for m in desk.messages if m["type"] == "status"]
    assert left == pytest.approx([100, 99], abs=0.11)


def test_a_protocol_ends_after_its_pairs_and_its_episodes(desks: Any) -> None:
    desk = desks("cartpole", pairs=7)
    desk.session.record()
    desk.session.start()
    for _ in range(7):
        desk.step(0.0)
    wait_for(lambda: desk.status["phase"] == "finished")
    assert (desk.status["episodes"], desk.status["pairs"]) == (1, 7)
    desk = desks("intersection", episodes=2)
    desk.session.record()
    for _ in range(2):
        desk.session.start()
        for _ in range(20):
            desk.step(1.0, 0.0)
    wait_for(lambda: desk.status["phase"] == "finished")
    assert (desk.status["episodes"], desk.status["pairs"]) == (2, 40)
    desk.session.discard()
    assert (desk.status["episodes"], desk.status["phase"]) == (1, "ready")


def test_a_pause_stops_the_world_and_a_start_continues_it(desks: Any) -> None:
    desk = desks("intersection")
    desk.session.record()
    desk.session.start()
    desk.step(1.0, 0.0)
    desk.session.pause("a reason")
    assert (desk.status["phase"], desk.status["reason"]) == ("paused", "a reason")
    before = desk.session.stage.obs
    desk.session.give(Input((0.0, 1.0), "keyboard"))
    desk.session.start()
    desk.step(0.0, 1.0)
    wait_for(lambda: desk.session.step >= 2)
    assert desk.session.step <= 3
    assert not np.array_equal(before, desk.session.stage.obs)
    assert desk.status["episodes"] == 0  # still the first episode


def test_success_and_failure_end_an_episode_or_mark_the_last(
    desks: Any, study: StudyFolder
) -> None:
    desk = desks("intersection")
    desk.session.record()
    for success in (True, None):
        desk.session.start()
        desk.step(1.0, 0.0)
        desk.session.end(success)
    desk.session.end(False)
    desk.session.recorder.wait()
    assert [e.success for e in load(dataset_of(study.path)).episodes] == [True, False]


def test_discarding_an_episode_without_a_step_keeps_the_one_before(
    desks: Any, study: StudyFolder
) -> None:
    desk = desks("intersection")
    desk.session.record()
    desk.session.start()
    desk.step(1.0, 0.0)
    desk.session.end(True)
    desk.session.start()
    desk.session.discard()  # before its first tick
    assert (desk.status["episodes"], desk.status["pairs"], desk.status["phase"]) == (1, 1, "ready")
    desk.session.recorder.wait()
    assert [e.success for e in load(dataset_of(study.path)).episodes] == [True]
    desk.session.discard()
    assert desk.status["episodes"] == 0


def test_a_session_whose_disk_failed_stays_finished(desks: Any) -> None:
    desk = desks("intersection")
    desk.session.record()
    desk.session.start()
    desk.step(1.0, 0.0)
    journal = desk.session.recorder.journal
    journal._fail(FormatError("the disk is full"))
    assert desk.status["phase"] == "finished"
    desk.session.discard()  # a session that is complete would continue
    desk.session.start()
    assert (desk.status["episodes"], desk.status["phase"]) == (0, "finished")


def test_latency_is_the_age_of_a_new_input_at_its_tick(desks: Any, study: StudyFolder) -> None:
    desk = desks("cartpole")
    desk.session.record()
    desk.session.start()
    due = [desk.clock.time + 0.02 * (i + 1) for i in range(4)]
    desk.step(0.1, at=1000 * due[0] - 7.5)
    desk.step(0.1)  # a device that does not know the server's clock
    desk.step(0.1, at=1000 * due[2] + 50)  # in the future: a wrong clock
    desk.step(0.1, at=1000 * due[3] - 1)
    desk.session.finish()
    desk.session.recorder.wait()
    (journal,) = read_session(study.journal(desk.status["session"]))
    assert [s["latency"] for s in journal.steps] == [pytest.approx(7.5), None, None, 1.0]
    assert [s["device"] for s in journal.steps] == ["keyboard"] * 4


def test_an_untouched_device_asks_for_rest(desks: Any) -> None:
    desk = desks("air-hockey")
    desk.session.start()
    desk.clock.notify()
    wait_for(lambda: len(desk.frames) >= 2)
    assert desk.frames[1].facts["action"] == [0.0, 0.0]


@pytest.mark.parametrize("pause", [True, False])
def test_an_old_input_does_not_act_after_a_pause_or_in_the_next_episode(
    desks: Any, pause: bool
) -> None:
    desk = desks("cartpole")
    desk.session.record()
    desk.session.start()
    desk.step(1.0)
    assert desk.frames[-1].facts["action"] == [1.0]
    if pause:
        desk.session.pause()
    else:
        desk.session.end(None)
    desk.session.start()
    count = len(desk.frames)
    desk.clock.notify()
    wait_for(lambda: len(desk.frames) > count)
    assert desk.frames[-1].facts["action"] == [0.0]


def test_an_old_input_does_not_act_after_the_practice(desks: Any) -> None:
    desk = desks("cartpole", practice=0.02)  # one step
    desk.session.start()
    desk.step(1.0)
    wait_for(lambda: desk.status["mode"] == "record")
    assert desk.session._input is None


@pytest.mark.parametrize("failure", ["nan", "error"])
def test_a_world_that_fails_interrupts_the_episode_and_keeps_what_was_recorded(
    desks: Any, study: StudyFolder, monkeypatch: pytest.MonkeyPatch, failure: str
) -> None:
    desk = desks("cartpole")
    desk.session.record()
    desk.session.start()
    for _ in range(3):
        desk.step(0.0)
    if failure == "nan":  # the journal refuses it
        desk.session.stage.obs = np.full_like(desk.session.stage.obs, np.nan)
    else:
        monkeypatch.setattr(desk.session.stage, "step", lambda action: 1 / 0)
    desk.session.give(Input((0.0,), "keyboard"))
    wait_for(lambda: desk.status["phase"] == "ready")
    (problem,) = [m for m in desk.messages if m["type"] == "problem"]
    assert "interrupted" in problem["text"]
    assert (desk.status["episodes"], desk.status["pairs"]) == (1, 3)
    desk.session.recorder.wait()
    assert load(dataset_of(study.path)).pairs == 3
    monkeypatch.undo()
    desk.session.start()  # the next episode runs
    desk.step(0.0)
    assert desk.status["phase"] == "running"


def test_inputs_of_another_size_are_refused(desks: Any) -> None:
    with pytest.raises(OptionError, match="has 2 numbers; this world takes 1"):
        desks("cartpole").session.give(Input((0.0, 0.0), "keyboard"))


def test_what_the_page_is_sent_is_json(desks: Any) -> None:
    desk = desks("intersection")
    desk.session.start()
    desk.step(1.0, 0.0)
    for message in desk.messages:
        json.dumps(message, allow_nan=False)
    assert desk.frames[0].step == 0


@pytest.mark.needs("gym_pusht")
def test_push_t_rests_where_the_disc_is(desks: Any) -> None:
    desk = desks("push-t")
    desk.session.start()
    place = desk.session.stage.obs[:2].tolist()
    desk.clock.notify()
    wait_for(lambda: len(desk.frames) >= 2)
    assert desk.frames[1].facts["action"] == pytest.approx(place, rel=1e-5)
