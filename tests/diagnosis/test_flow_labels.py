"""Labels from flows that did not learn from an episode."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import counterbc as cb
from counterbc.data.arrays import Array
from counterbc.data.demonstrations import Demonstrations, Episode
from counterbc.diagnosis.flow_labels import FLOW_HELD_OUT, SAMPLES, flow_samples, mean_within
from counterbc.diagnosis.meaning import Meaning
from counterbc.errors import CounterBCError, DataError, OptionError
from counterbc.methods import find_method
from counterbc.selection.held_out import HeldOut, Training
from counterbc.settings import settings_for
from counterbc.training.progress import Progress, Quiet
from tests.fixture_types import CallJson, Make

FLOW: dict[str, Any] = {
    "policy": "flow", "hidden": (32, 32), "horizon": 2, "history": 1, "learning_rate": 0.01,
    "lag": 0.0, "offsets": "none", "angles": "none", "progress": False,
}  # fmt: skip
FOLDS = HeldOut(folds=3, repeats=1, rounds=1, steps=10)


def _two_ways(episodes: int = 24, length: int = 20) -> tuple[Demonstrations, Array]:
    """Return episodes that all go up or all go down, with errors that last; and their meaning."""
    rng, recordings, meant = np.random.default_rng(0), [], []
    for i in range(episodes):
        obs = np.linspace(0, 1, length)[:, None]
        meant.append((0.25 + 0.25 * obs) * (-1) ** i)
        error = rng.normal(0, 0.12, (length, 1))
        for t in range(1, length):
            error[t] = 0.9 * error[t - 1] + np.sqrt(1 - 0.9**2) * error[t]
        recordings.append(Episode(obs, meant[-1] + error, name=f"demo_{i}"))
    demos = Demonstrations(tuple(recordings), action_low=np.full(1, -1.0), action_high=np.ones(1))
    return demos, np.concatenate(meant)


def _clean(demos: Demonstrations, radius: Any = 0.3, **options: Any) -> Meaning:
    return cb.meaning(demos, radius=radius, **(FLOW | {"held_out": FOLDS} | options))


class _Interrupted(Quiet):
    """Ctrl-C at the first update of the sampling, after that of the training."""

    is_sampling = is_stopped = False

    def start(self, step: int, total: int, kernel: str) -> None:
        self.is_sampling = kernel == "samples"

    def update(self, step: float, loss: torch.Tensor) -> None:
        if self.is_sampling:
            raise KeyboardInterrupt

    def stop(self) -> None:
        self.is_stopped = self.is_sampling


def _samples(demos: Demonstrations, bar: Progress | None = None, **changes: Any) -> Array:
    fields = {name: value for name, value in (FLOW | changes).items() if name != "progress"}
    settings = settings_for("default", **fields)
    name, method = find_method("bc")
    method = settings.apply(method, demos.obs_shape)
    training = Training(
        name=name, method=method, settings=settings, device=torch.device("cpu"),
        progress=bar or Quiet(),
    )  # fmt: skip
    return flow_samples(demos, method, FOLDS, training, (0.0,))


def _with_episode(demos: Demonstrations, number: int, action: Array) -> Demonstrations:
    episodes = list(demos.episodes)
    episodes[number] = replace(episodes[number], action=action)
    return replace(demos, episodes=tuple(episodes))


def test_of_two_ways_with_errors_that_last_cleaned_actions_are_nearer_to_the_meant_ones() -> None:
    demos, truth = _two_ways()
    meaning = _clean(demos, held_out=replace(FOLDS, steps=300))
    rms = [np.sqrt(((x - truth) ** 2).mean()) for x in (meaning.shown, meaning.meant)]
    assert rms[1] < 0.85 * rms[0]
    assert meaning.moved.max() <= 0.3 + 1e-6
    assert (np.sign(meaning.meant) == np.sign(truth)).mean() > 0.95, "no way becomes the other"


def test_every_cleaned_action_is_within_the_radius_and_feasible(make_demos: Make) -> None:
    meaning = _clean(make_demos(episodes=6, noise=0.3), 0.1)
    assert meaning.moved.max() == pytest.approx(0.1, rel=1e-4), "some flow samples none nearer"
    assert np.abs(meaning.meant).max() <= 1
    assert meaning.limited.any()
    assert np.array_equal(meaning.cleaned.action, meaning.meant.astype(np.float32))


def test_a_radius_of_zero_changes_nothing_and_one_of_a_dimension_keeps_it(make_demos: Make) -> None:
    demos = make_demos(episodes=6)
    assert _clean(demos, 0.0).meant == pytest.approx(demos.action, rel=1e-6)
    meaning = _clean(demos, (0.2, 0.0))
    assert meaning.meant[:, 1] == pytest.approx(demos.action[:, 1], rel=1e-6)
    assert not np.allclose(meaning.meant[:, 0], demos.action[:, 0])


def test_samples_for_an_episode_do_not_depend_on_its_actions(make_demos: Make) -> None:
    demos = make_demos(episodes=6)
    other = _with_episode(demos, 2, -demos.episodes[2].action)
    before, after = _samples(demos), _samples(other)
    assert before.shape == (SAMPLES, 60, 2)
    assert np.array_equal(before[:, 20:30], after[:, 20:30])
    assert not np.array_equal(before, after), "other flows learn from them"


def test_samples_at_a_state_differ_and_more_repeats_pool_them(make_demos: Make) -> None:
    demos = make_demos(episodes=6)
    assert _samples(demos).std(axis=0).min() > 0
    pooled = _clean(demos, held_out=replace(FOLDS, repeats=2)).meant
    assert not np.array_equal(pooled, _clean(demos).meant)


def test_the_mean_of_samples_inside_or_the_nearest_one_by_hand(make_demos: Make) -> None:
    demos = make_demos(episodes=1, length=2, action_size=1)
    demos = _with_episode(demos, 0, np.array([[0.0], [0.5]]))
    samples = np.array([[[0.1], [0.0]], [[-0.2], [-0.4]], [[0.9], [0.1]]])  # (3, 2, 1)
    mean = mean_within(demos, samples, (0.2,), "ball", (0.0,))
    assert mean[:, 0].tolist() == pytest.approx([-0.05, 0.1], rel=1e-6)


def test_a_lag_moves_the_answer_that_the_samples_are_compared_with(make_demos: Make) -> None:
    meaning = _clean(make_demos(episodes=6), 0.1, lag=2)
    left = np.tile(np.arange(10)[::-1], 6)
    assert np.array_equal(meaning.has_answer, left >= 2)
    assert np.array_equal(meaning.meant[left < 2], meaning.shown[left < 2])
    answer = np.roll(meaning.shown, -2, axis=0)[left >= 2]
    near = np.linalg.norm(meaning.meant[left >= 2] - answer, axis=1)
    assert near.max() <= 0.1 + 1e-5
    assert meaning.moved[left >= 2].max() > 0


def test_nobody_of_three_is_explained_by_a_flow_that_saw_another_episode_of_theirs(
    make_demos: Make,
) -> None:
    demos = make_demos(episodes=6)
    people = ("ann", "ben", "cy") * 2
    named = [replace(e, operator=o) for e, o in zip(demos.episodes, people, strict=True)]
    demos = replace(demos, episodes=tuple(named))
    other = _with_episode(demos, 1, -demos.episodes[1].action)
    assert np.array_equal(_samples(demos)[:, 40:50], _samples(other)[:, 40:50])


def test_relative_actions_are_sampled_in_the_units_of_the_user(make_demos: Make) -> None:
    demos = make_demos(episodes=6, obs_size=2)
    shifted = [replace(e, action=np.clip(e.obs, -1, 1)) for e in demos.episodes]
    demos = replace(demos, episodes=tuple(shifted))  # each action is the observed place
    samples = _samples(demos, relative="state")
    far = np.abs(demos.action) > 0.2
    assert samples.mean(0)[far] == pytest.approx(demos.action[far], rel=0.02)


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"radius": "auto"}, OptionError, "radius is auto, but .* give the size of the errors"),
        ({"radius": None}, OptionError, "radius is auto"),
        ({"held_out": HeldOut(folds=3)}, OptionError, "rounds is 3, but held-out flows are"),
        ({"held_out": replace(FOLDS, folds=9)}, DataError, "there are 6 for 9 folds"),
        ({"learning_rate": 1e30}, CounterBCError, "diverged; lower the learning rate"),
    ],
)
@pytest.mark.filterwarnings("ignore::counterbc.errors.Diverged")
def test_what_flows_cannot_do_is_refused_in_a_sentence(
    options: dict[str, Any], error: type[Exception], text: str, make_demos: Make
) -> None:
    with pytest.raises(error, match=text):
        _clean(make_demos(episodes=6), **options)


def test_single_pairs_are_refused(make_demos: Make) -> None:
    with pytest.raises(DataError, match="give whole episodes"):
        _clean(make_demos(episodes=6, selected=np.arange(0, 60, 2)))


def test_an_interrupt_while_actions_are_sampled_ends_the_progress_bar(make_demos: Make) -> None:
    bar = _Interrupted()
    with pytest.raises(KeyboardInterrupt):
        _samples(make_demos(episodes=6), bar)
    assert bar.is_stopped


def test_the_default_is_one_repeat_and_one_round() -> None:
    assert (FLOW_HELD_OUT.folds, FLOW_HELD_OUT.repeats, FLOW_HELD_OUT.rounds) == (5, 1, 1)


def test_the_command_writes_a_file_that_train_reads(
    demo_file: Path, tmp_path: Path, call_json: CallJson
) -> None:
    out, run = tmp_path / "cleaned.hdf5", tmp_path / "run"
    words = ("--policy", "flow", "--hidden", 8, "--folds", 2, "--steps", 5, "--radius", 0.2)
    payload = call_json("clean", demo_file, "--out", out, *words)
    assert (payload["policy"], payload["pairs"]) == ("flow", 40)
    assert 0 < payload["moved_most"] <= 0.2 + 1e-6
    moved = np.linalg.norm(cb.load(out).action - cb.load(demo_file).action, axis=1)
    assert moved.max() == pytest.approx(payload["moved_most"], rel=1e-4)
    call_json("train", out, "--method", "bc", "--steps", 2, "--out", run)
    assert len(cb.Policies.load(run)) == 1
