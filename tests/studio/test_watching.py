"""Policies side by side: the same start, their own actions, and a person who takes over."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from counterbc.acting.policies import Policies
from counterbc.demonstrators import demonstrate, find_teacher
from counterbc.envs import make_vec
from counterbc.errors import FormatError, OptionError
from counterbc.formats import load
from counterbc.studio.collecting import Input
from counterbc.studio.frames import Frame
from counterbc.studio.study_folder import StudyFolder
from counterbc.studio.watching import FIRST_SLOT, Watching
from tests.fixture_types import Train
from tests.full_disk import largest_file
from tests.studio.clients import WORLDS, Desk, Lockstep, dataset_of, load_recording, wait_for


@pytest.fixture(scope="module")
def runs(quick: Train, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("runs")
    paths = {}
    for world, method in (
        ("intersection", "bc"),
        ("intersection", "counter-bc"),
        ("cartpole", "bc"),
    ):
        teacher = find_teacher(None, "uniform", 0.1, world=world)
        recorded_demos = demonstrate(world, teacher, 100, 0, actions_are="taken")
        demos = replace(recorded_demos, actions_are="asked")
        name = f"{world}-{method}"
        quick(demos, method).save(folder / name)
        paths[name] = folder / name
    return paths


def _is_beyond(watching: Watching, step: int) -> bool:
    return watching.panels[1].step > step


class Theatre:
    """A `Watching` whose worlds step once for each notice."""

    def __init__(self, study: StudyFolder, runs: dict[str, Path], *names: str) -> None:
        self.messages: list[dict[str, Any]] = []
        self.frames: list[Frame] = []
        self.clock = Lockstep()
        self.watching = Watching(
            study, {name: runs[name] for name in names}, self.clock,
            send=self.messages.append, draw=self.frames.append,
        )  # fmt: skip

    def step(self) -> None:
        count = sum(panel.step for panel in self.watching.panels)
        self.clock.notify()
        wait_for(lambda: sum(panel.step for panel in self.watching.panels) > count)
        with self.watching._lock:  # the tick is complete
            return


def test_policies_start_from_the_same_state_and_act_as_they_do_alone(
    study: StudyFolder, runs: dict[str, Path]
) -> None:
    names = ("intersection-bc", "intersection-counter-bc")
    theatre = Theatre(study, runs, *names)
    theatre.watching.start(seed=5)
    first = theatre.frames[:2]
    np.testing.assert_array_equal(first[0].obs, first[1].obs)
    assert [frame.slot for frame in first] == [FIRST_SLOT, FIRST_SLOT + 1]
    for _ in range(20):
        theatre.step()
    wait_for(lambda: not theatre.watching.is_running)
    for panel, name in zip(theatre.watching.panels, names, strict=True):
        env, actor = make_vec("intersection", 1), Policies.load(runs[name])[0].actor()
        obs, _ = env.reset(seed=[5])  # type: ignore[arg-type]  # lists are taken
        total = 0.0
        for _ in range(20):
            obs, reward, *_ = env.step(panel.stage.feasible(actor.act(obs[0]))[None])
            total += float(reward[0])
        assert panel.total == pytest.approx(total, rel=1e-6)
        assert (panel.step, panel.over) == (20, True)
    theatre.watching.close()


@pytest.mark.parametrize("world", WORLDS)
def test_a_policy_trained_on_a_recording_acts_as_it_does_alone(
    study: StudyFolder, quick: Train, world: str
) -> None:
    desk = Desk(study, world)
    desk.session.record()
    desk.session.start()
    for t in range(12):
        desk.step(*desk.feasible_action(t).tolist())
    desk.session.close()
    path = study.path / "runs" / "bc"
    quick(load_recording(study), "bc", lag=0).save(path)
    theatre = Theatre(study, {"runs/bc": path}, "runs/bc")
    watching, (panel,) = theatre.watching, theatre.watching.panels
    watching.start(seed=5)
    env, actor = make_vec(world, 1), Policies.load(path)[0].actor()
    obs, _ = env.reset(seed=[5])  # type: ignore[arg-type]  # lists are taken
    for _ in range(5):
        np.testing.assert_array_equal(panel.stage.obs, obs[0])
        obs, *_ = env.step(panel.stage.feasible(actor.act(obs[0]))[None])
        theatre.step()
    assert panel.step == 5
    np.testing.assert_array_equal(panel.stage.obs, obs[0])
    assert not np.array_equal(panel.stage.obs, theatre.frames[0].obs)
    watching.close()


def test_a_person_takes_over_and_the_correction_is_recorded(
    study: StudyFolder, runs: dict[str, Path]
) -> None:
    theatre = Theatre(study, runs, "intersection-bc", "intersection-counter-bc")
    watching = theatre.watching
    watching.start(seed=5)
    theatre.step()
    watching.take_over(1, "Grace")
    corrections = [(0.5, 0.5), (0.25, -0.5), (0.0, 1.0)]
    states = []
    for action in corrections:
        states.append(watching.panels[1].stage.obs.copy())
        before = watching.panels[1].step
        watching.give(Input(action, "gamepad"))
        wait_for(partial(_is_beyond, watching, before))
    watching.release()
    assert watching.recorder is not None
    watching.recorder.wait()
    demos = load(dataset_of(study.path))
    np.testing.assert_allclose(demos.action, corrections)
    np.testing.assert_array_equal(demos.obs, states)
    assert demos.operators == ("Grace",)
    step = watching.panels[1].step
    theatre.step()  # the policy acts again
    assert watching.panels[1].step == step + 1
    watching.close()
    assert load(dataset_of(study.path)).pairs == 3


def test_a_correction_after_a_full_disk_is_recorded_in_a_new_session(
    study: StudyFolder, runs: dict[str, Path]
) -> None:
    theatre = Theatre(study, runs, "intersection-bc")
    watching = theatre.watching
    watching.start(seed=5)
    with largest_file(100):  # the journal's first line is longer
        watching.take_over(0, "Grace")
        wait_for(lambda: any(m["type"] == "problem" for m in theatre.messages))
        wait_for(lambda: watching.driven is None)
    theatre.step()  # the policy acts
    watching.take_over(0, "Grace")  # there is space again
    before = watching.panels[0].step
    watching.give(Input((0.5, 0.5), "gamepad"))
    wait_for(lambda: watching.panels[0].step > before)
    watching.release()
    watching.close()
    np.testing.assert_allclose(load(dataset_of(study.path)).action, [(0.5, 0.5)])
    assert dataset_of(study.path).stem == "intersection-002"


def test_a_full_disk_of_an_earlier_operator_does_not_stop_the_next(
    study: StudyFolder, runs: dict[str, Path]
) -> None:
    theatre = Theatre(study, runs, "intersection-bc")
    watching = theatre.watching
    watching.start(seed=5)
    watching.take_over(0, "Grace")
    first = watching.recorder
    assert first is not None
    watching.take_over(0, "Ada")
    second = watching.recorder
    first.on_error(FormatError("the disk is full"))
    assert (watching.driven, watching.recorder) == (0, second)
    assert theatre.messages[-2]["text"] == "Recording stopped: the disk is full."
    watching.close()


def test_an_old_input_does_not_act_after_a_pause(study: StudyFolder, runs: dict[str, Path]) -> None:
    theatre = Theatre(study, runs, "intersection-bc")
    watching = theatre.watching
    watching.start(seed=5)
    watching.take_over(0, "Grace")
    theatre.step()  # the policy acts until the person touches a device
    assert watching.panels[0].step == 1
    for action in ((0.5, 0.5), None, None, (0.0, 1.0)):
        if action is None:
            watching.pause()
            watching.pause()
            theatre.step()
        else:
            before = watching.panels[0].step
            watching.give(Input(action, "gamepad"))
            wait_for(lambda before=before: watching.panels[0].step > before)  # type: ignore[misc]
    watching.release()
    assert watching.recorder is not None
    watching.recorder.wait()
    demos = load(dataset_of(study.path))  # without a gap: the device that was let go asks for rest
    np.testing.assert_allclose(demos.action, [(0.5, 0.5), (0, 0), (0, 0), (0, 1)])
    watching.close()


def test_a_panel_that_is_taken_again_waits_for_a_new_input(
    study: StudyFolder, runs: dict[str, Path]
) -> None:
    theatre = Theatre(study, runs, "intersection-bc")
    watching = theatre.watching
    watching.start(seed=5)
    for _ in range(2):
        watching.take_over(0, "Grace")
        theatre.step()
        pairs = 0 if watching.recorder is None else watching.recorder.pairs_so_far
        before = watching.panels[0].step
        watching.give(Input((0.5, 0.5), "gamepad"))
        wait_for(lambda before=before: watching.panels[0].step > before)  # type: ignore[misc]
        with watching._lock:  # the tick is complete
            assert watching.recorder is not None
            assert watching.recorder.pairs_so_far == pairs + 1
        watching.release()
    watching.close()
    assert load(dataset_of(study.path)).pairs == 2


def test_a_world_that_fails_stops_the_panels_with_a_problem(
    study: StudyFolder, runs: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    theatre = Theatre(study, runs, "cartpole-bc")
    theatre.watching.start(seed=5)
    theatre.step()
    monkeypatch.setattr(theatre.watching.panels[0].stage, "step", lambda action: 1 / 0)
    theatre.clock.notify()
    wait_for(lambda: any(m["type"] == "problem" for m in theatre.messages))
    assert not theatre.watching.is_running
    monkeypatch.undo()
    theatre.watching.start(seed=5)
    theatre.step()
    theatre.watching.close()


def test_runs_of_different_worlds_are_not_put_side_by_side(
    study: StudyFolder, runs: dict[str, Path]
) -> None:
    with pytest.raises(OptionError, match="cartpole, intersection; choose one world"):
        Theatre(study, runs, "intersection-bc", "cartpole-bc")


def test_an_episode_that_is_over_cannot_be_taken_over(
    study: StudyFolder, runs: dict[str, Path]
) -> None:
    theatre = Theatre(study, runs, "intersection-bc")
    theatre.watching.start(seed=1)
    for _ in range(20):
        theatre.step()
    with pytest.raises(OptionError, match="over"):
        theatre.watching.take_over(0, "Grace")
    with pytest.raises(OptionError, match="over"):
        theatre.watching.take_over(3, "Grace")
    theatre.watching.close()


def test_a_run_for_no_known_world_is_refused(
    study: StudyFolder, quick: Train, tiny: Any, tmp_path: Path
) -> None:
    quick(tiny, "bc").save(tmp_path / "run")
    with pytest.raises(OptionError, match="cannot be watched"):
        Theatre(study, {"run": tmp_path / "run"}, "run")
