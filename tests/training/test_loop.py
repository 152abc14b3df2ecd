"""The training loop: a clean stop, the kernel of a resumed run, and the points of the curve."""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from counterbc.acting import run_folder
from counterbc.acting.member import Member
from counterbc.acting.policies import Policies
from counterbc.data.demonstrations import Demonstrations
from counterbc.errors import FormatError, StoppedTraining
from counterbc.kernels.dispatch import choose_kernel
from counterbc.methods import METHODS, Method
from counterbc.policies import encoder, pieces
from counterbc.settings import settings_for
from counterbc.trainer import train
from counterbc.training import checkpoints, loop
from counterbc.training.loop import Loop
from counterbc.training.network_stack import NetworkStack
from counterbc.training.plan import TrainingPlan, plan_training
from counterbc.training.progress import Quiet
from counterbc.training.run import run
from counterbc.training.snapshots import run_snapshots
from tests.equality import assert_near, same
from tests.fixture_types import Train
from tests.identities.test_cameras import scenes
from tests.training.interruption import interrupted

NO_NUMBA = (
    r"differently: kernel was numba, here it would be torch; pip install 'counterbc\[fast\]', "
    "or choose another folder$"
)


def test_a_run_is_resumed_by_the_kernel_that_started_it_or_refused(
    tiny: Demonstrations, quick: Train, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("numba", reason="auto chooses numba")
    out = tmp_path / "run"
    with interrupted():
        quick(tiny, "bc", out=out)
    assert json.loads((out / "config.json").read_text())["unfinished"]["kernel"] == "numba"
    with pytest.raises(FormatError, match="kernel was numba, here it is torch; resume it with"):
        quick(tiny, "bc", out=out, resume=True, kernel="torch")
    with monkeypatch.context() as patch:  # the same settings where numba is not installed
        patch.setitem(sys.modules, "counterbc.kernels.numba_kernel", None)
        patch.setitem(sys.modules, "counterbc.kernels.numba_loss", None)
        with pytest.raises(FormatError, match=NO_NUMBA):
            quick(tiny, "bc", out=out, resume=True)
    resumed_run, whole = quick(tiny, "bc", out=out, resume=True), quick(tiny, "bc")
    assert resumed_run.config["kernel"] == "numba"
    assert same(resumed_run, whole)


def test_the_curve_has_a_point_per_interval_and_the_mean_over_shards(
    tiny: Demonstrations, quick: Train
) -> None:
    curve = quick(tiny, "bcnd", steps=250, seeds=2).curve
    assert curve is not None
    assert curve.steps[:3].tolist() == [2, 4, 6]
    assert len(curve.steps) == 3 * 125  # three rounds
    assert curve.loss.shape == (375, 2)


CPU = torch.device("cpu")


def plan_of(
    demos: Demonstrations, stops: list[int | None], steps: int, method: str = "counter-bc"
) -> TrainingPlan:
    """One member per stop, on the torch kernel."""
    settings = settings_for("default", hidden=(8, 8), steps=steps, kernel="torch")
    members = [Member(i, (0.4, 0.4), steps=stop) for i, stop in enumerate(stops)]
    return plan_training([demos], settings.apply(METHODS[method]), settings, members)


@pytest.mark.parametrize("method", ["bc", "counter-bc", "bcnd"])
def test_a_member_that_stops_early_has_the_bits_of_a_shorter_training(
    method: str, tiny: Demonstrations
) -> None:
    # Each round of BCND has all steps; a member stops in the last of them.
    together = run(plan_of(tiny, [7, 20, None], 20, method), device=CPU)
    whole = run(plan_of(tiny, [None] * 3, 20, method), device=CPU)
    shorter = run(plan_of(tiny, [None] * 3, 7, method), device=CPU)
    shards = METHODS[method].shards
    for name, value in together.params.items():
        if METHODS[method].rounds == 1:
            assert torch.equal(value[:shards], shorter.params[name][:shards])
        assert torch.equal(value[shards:], whole.params[name][shards:])
        assert not torch.equal(value[:shards], whole.params[name][:shards])


def test_a_member_that_stops_early_agrees_with_itself_alone(tiny: Demonstrations) -> None:
    together = run(plan_of(tiny, [7, 20], 20), device=CPU, dtype=torch.float64)
    solo = run(plan_of(tiny, [None], 7), device=CPU, dtype=torch.float64)
    assert_near(together[0], solo, within=1e-6)


@pytest.mark.parametrize("steps", [(3, 11, 20), (20,), (11, 3)])
def test_snapshots_have_the_bits_of_separate_trainings(
    steps: tuple[int, ...], tiny: Demonstrations
) -> None:
    plan = plan_of(tiny, [None, None], 20)
    snapshots = run_snapshots(plan, steps, device=CPU, progress=Quiet())
    for count, policies in zip(steps, snapshots, strict=True):
        separate = run(plan_of(tiny, [None, None], count), device=CPU)
        for name, value in policies.params.items():
            assert torch.equal(value, separate.params[name])


def test_snapshots_have_the_held_out_curve_of_their_training(tiny: Demonstrations) -> None:
    plan = replace(plan_of(tiny, [None], 20), held_out=(tiny.subset([0, 1]),))
    (policies,) = run_snapshots(plan, [20], device=CPU, progress=Quiet())
    curve, whole = policies.curve, run(plan, device=CPU).curve
    assert curve is not None
    assert whole is not None
    assert curve.held_out is not None
    assert whole.held_out is not None
    assert torch.equal(curve.held_out, whole.held_out)


@pytest.mark.parametrize("after", [1, 9])
def test_a_stopped_training_of_members_with_different_steps_ends_with_the_same_bits(
    after: int, tiny: Demonstrations, tmp_path: Path
) -> None:
    plan, out = plan_of(tiny, [5, 12, None], 20), tmp_path / "run"
    whole = run(plan, device=CPU)
    with interrupted(after):
        run(plan, device=CPU, out=out)
    resumed_run = run(plan, device=CPU, out=out, resume=True)
    assert [m.steps for m in resumed_run.members] == [5, 12, None]
    assert same(resumed_run, whole)


def test_a_long_training_has_a_hundred_points_and_every_round_as_many(
    tiny: Demonstrations, quick: Train
) -> None:
    bcnd = quick(tiny, "bcnd", steps=205, hidden=(4,))
    assert bcnd.curve is not None
    per_round = torch.bincount((bcnd.curve.steps - 1) // 205).tolist()
    assert per_round == [103, 103, 103]


@pytest.fixture
def _small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read each pair as a piece, as it is with few large images."""
    monkeypatch.setattr(encoder, "_LARGE", 1)
    monkeypatch.setattr(encoder, "_PIECE", 1)


SCENES: dict[str, Any] = {
    "radius": 0, "lag": 0, "hidden": (8,), "batch": 4, "steps": 3, "progress": False
}  # fmt: skip


@pytest.mark.usefixtures("_small_pieces")
def test_a_round_that_is_stopped_before_its_first_step_begins_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, out = train(scenes(), "bcnd", **SCENES), tmp_path / "run"
    start = Loop._start_round

    def start_and_stop(self: Loop, round_: int, *args: Any) -> Any:
        networks = start(self, round_, *args)
        if round_ == 1:
            signal.raise_signal(signal.SIGINT)
        return networks

    with monkeypatch.context() as patch:
        patch.setattr(Loop, "_start_round", start_and_stop)
        with pytest.raises(KeyboardInterrupt, match="stopped at step 3 of 9"):
            train(scenes(), "bcnd", out=out, **SCENES)
    with pytest.warns(StoppedTraining):
        acting = Policies.load(out)  # as trained by the first round
    assert_near(acting, train(scenes(), Method(shards=4), **SCENES), within=1e-6)
    assert same(train(scenes(), "bcnd", out=out, resume=True, **SCENES), whole)


@pytest.mark.usefixtures("_small_pieces")
@pytest.mark.parametrize("read_count", [20, 68, 77])  # while testing, forwards, backwards
def test_a_step_on_large_images_is_stopped_between_its_pieces_and_taken_again(
    read_count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = SCENES | {"held_out": 0.5}
    whole, out = train(scenes(), "bc", **options), tmp_path / "run"
    read, reads = pieces._read_after_pause, list[int]()

    def read_until_ctrl_c(*args: Any) -> Any:
        reads.append(len(reads))
        if len(reads) == read_count:
            signal.raise_signal(signal.SIGINT)
        return read(*args)

    with monkeypatch.context() as patch:
        patch.setattr(pieces, "_read_after_pause", read_until_ctrl_c)
        with pytest.raises(KeyboardInterrupt, match="stopped at step"):
            train(scenes(), "bc", out=out, **options)
    assert len(reads) == read_count  # nothing more was read
    resumed_run = train(scenes(), "bc", out=out, resume=True, **options)
    assert same(resumed_run, whole)
    curves = [policies.curve for policies in (resumed_run, whole)]
    steps, errors = zip(*((c.steps, c.held_out) for c in curves if c is not None), strict=True)
    assert steps[0].tolist() == steps[1].tolist() == [1, 2, 3]
    assert torch.equal(*errors)


def test_a_large_state_that_is_saved_after_ctrl_c_is_announced(
    tiny: Demonstrations, quick: Train, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = list[str]()
    monkeypatch.setattr(Quiet, "announce", lambda self, text: texts.append(text))
    with interrupted():
        quick(tiny, "bc", out=tmp_path / "small")
    assert not texts
    monkeypatch.setattr(loop, "_LARGE", 1e3)
    with interrupted():
        quick(tiny, "bc", out=tmp_path / "large")
    assert texts == [f"saving 0.0 GB in {tmp_path / 'large'}"]


DAMAGE: dict[str, tuple[Callable[[dict[str, Any]], Any], str]] = {
    "no step": (lambda s: s.pop("done"), "done"),
    "a step before the first": (lambda s: s.update(done=torch.tensor(0)), "stopped at step 0 of"),
    "half the parameters": (lambda s: s.pop("params/policy.head.bias"), "params/policy.head.bias"),
    "parameters of one network": (
        lambda s: s.update({"params/policy.head.bias": s["params/policy.head.bias"][0]}),
        "has shape",
    ),
    "another entry": (lambda s: s.update({"x/y": torch.zeros(3)}), "x/y with shape .* does not"),
    "half the curve": (lambda s: s.pop(min(k for k in s if k.startswith("loss/"))), "loss/"),
    "a column of other pairs": (
        lambda s: s.update({"columns/new": torch.zeros(3, 2)}),
        "columns/new with shape",
    ),
}


@pytest.mark.parametrize("name", list(DAMAGE))
def test_a_state_that_is_not_whole_is_not_resumed(
    name: str,
    tiny: Demonstrations,
    quick: Train,
    tmp_path: Path,
) -> None:
    out = tmp_path / "run"
    with interrupted():
        quick(tiny, "bc", out=out)
    state = run_folder.load_tensors(out / checkpoints.TRAINING)
    change, sentence = DAMAGE[name]
    change(state)
    run_folder.save_tensors(state, out / checkpoints.TRAINING)
    step = "delete that file to start from the first step"
    with pytest.raises(FormatError, match=f"training.safetensors .*{sentence}.*; {step}$"):
        quick(tiny, "bc", out=out, resume=True)
    (out / checkpoints.TRAINING).unlink()
    assert same(quick(tiny, "bc", out=out, resume=True), quick(tiny, "bc"))


def test_kernels_are_chosen_and_run_while_their_device_is_the_current_one(
    tiny: Demonstrations, quick: Train, monkeypatch: pytest.MonkeyPatch
) -> None:
    entered: list[torch.device] = []
    log: list[tuple[str, list[torch.device]]] = []

    @contextmanager
    def enter(device: torch.device) -> Iterator[None]:
        entered.append(device)
        yield
        entered.pop()

    def noting(name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def noted(*args: Any) -> Any:
            log.append((name, list(entered)))
            return call(*args)

        return noted

    monkeypatch.setattr(loop, "enter_device", enter)
    monkeypatch.setattr(loop, "choose_kernel", noting("choose", choose_kernel))
    monkeypatch.setattr(NetworkStack, "steps", noting("steps", NetworkStack.steps))
    quick(tiny, "bc", steps=20, device="cpu")
    assert {name for name, _ in log} == {"choose", "steps"}
    assert all(devices == [torch.device("cpu")] for _, devices in log)
