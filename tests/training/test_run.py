"""Runs: stopped and resumed ones end with the same bits."""

from __future__ import annotations

import gc
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from counterbc.acting.policies import Policies
from counterbc.data.demonstrations import Demonstrations
from counterbc.errors import CounterBCError, FormatError, OptionError, StoppedTraining
from counterbc.methods import METHODS
from counterbc.training.counterfactuals import Counterfactuals
from counterbc.training.loop import Loop
from counterbc.training.network_stack import NetworkStack
from tests.equality import assert_near, same
from tests.fixture_types import Make, Train
from tests.training.interruption import interrupted


@pytest.mark.parametrize(
    ("method", "after", "options"),
    [
        ("bc", 1, {}),
        ("counter-bc", 7, {}),
        ("counter-bc", 7, {"held_out": 0.25, "resample": True}),
        ("posterior", 7, {"held_out": 0.25}),
        ("epsilon-insensitive", 7, {"held_out": 0.25}),
        ("weighted-bc", 7, {}),
        ("bc-rnn", 7, {"held_out": 0.25}),
        ("bcnd", 7, {}),
        ("bcnd", 27, {}),
        ("bcnd", 47, {"held_out": 0.25}),
        ("ileed", 7, {"held_out": 0.25}),
        ("discriminator-bc", 7, {"held_out": 0.25}),
        ("advantage-bc", 7, {"held_out": 0.25}),
    ],
)
def test_a_training_that_was_stopped_ends_with_the_bits_of_one_that_was_not(
    method: str,
    after: int,
    options: dict[str, Any],
    make_demos: Make,
    quick: Train,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    demos, out = make_demos(episodes=8), tmp_path / "run"
    whole = quick(demos, method, seeds=2, **options)
    handler = signal.getsignal(signal.SIGINT)
    with interrupted(after):
        quick(demos, method, seeds=2, out=out, **options)
    assert signal.getsignal(signal.SIGINT) is handler
    files = {"config.json", "model.safetensors", "training.safetensors"}
    assert {p.name for p in out.iterdir()} == files
    total = 20 * METHODS[method].rounds
    with pytest.warns(StoppedTraining, match=f"stopped after {after} of {total} steps; it is used"):
        assert Policies.load(out).run_config.stopped_after == after
    steps_taken = []
    steps = NetworkStack.steps

    def count_step(
        self: NetworkStack, position: torch.Tensor, epoch: torch.Tensor, first: int
    ) -> None:
        steps_taken.append(len(position))
        steps(self, position, epoch, first)

    monkeypatch.setattr(NetworkStack, "steps", count_step)
    resumed_run = quick(demos, method, seeds=2, out=out, resume=True, **options)
    assert sum(steps_taken) == 20 * METHODS[method].rounds - after
    assert same(whole, resumed_run)
    assert same(whole, Policies.load(out))
    if METHODS[method].rounds > 1:
        files.remove("training.safetensors")  # it cannot be continued
    assert {p.name for p in out.iterdir()} == files


def test_a_training_stopped_twice_still_ends_the_same(
    tiny: Demonstrations, quick: Train, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    for begin in (0, 5):
        with interrupted(5, begin):
            quick(tiny, "counter-bc", out=out, resume=True)
    assert same(quick(tiny, "counter-bc"), quick(tiny, "counter-bc", out=out, resume=True))


def test_a_killed_training_goes_on_from_its_last_checkpoint(
    tiny: Demonstrations, quick: Train, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "run"
    with monkeypatch.context() as patch:
        patch.setattr("counterbc.training.loop._SAVE_EVERY", 0.0)
        record = Loop._record

        def killed(self: Loop, *args: Any, **kwargs: Any) -> None:
            record(self, *args, **kwargs)
            if len(self.points) == 9:
                raise MemoryError

        patch.setattr(Loop, "_record", killed)
        with pytest.raises(MemoryError):
            quick(tiny, "counter-bc", out=out)
    assert same(quick(tiny, "counter-bc"), quick(tiny, "counter-bc", out=out, resume=True))


def test_resume_with_nothing_there_begins(
    tiny: Demonstrations, quick: Train, tmp_path: Path
) -> None:
    resumed_run = quick(tiny, "bc", out=tmp_path / "run", resume=True)
    assert same(resumed_run, quick(tiny, "bc"))


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"learning_rate": 0.1}, "learning_rate was 0.001, here it is 0.1; resume"),
        ({"seeds": 2}, "other members; resume"),
        ({"method": "weighted-bc"}, "method was bc, here it is weighted-bc; "),
        ({"demos": "other"}, "fingerprint of the data was .*, here it is"),
    ],
)
def test_a_run_is_not_resumed_with_other_options(
    changes: dict[str, Any],
    sentence: str,
    make_demos: Make,
    quick: Train,
    tmp_path: Path,
) -> None:
    out = tmp_path / "run"
    with interrupted(3):
        quick(make_demos(), "bc", out=out)
    options = dict(changes)
    demos = make_demos(seed=1) if options.pop("demos", None) else make_demos()
    with pytest.raises(FormatError, match=f"was started differently: {sentence}"):
        quick(demos, options.pop("method", "bc"), out=out, resume=True, **options)
    assert same(quick(make_demos(), "bc"), quick(make_demos(), "bc", out=out, resume=True))


def test_a_run_is_not_resumed_from_another_start(
    tiny: Demonstrations, quick: Train, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    first, second = quick(tiny, "bc", steps=5), quick(tiny, "bc", steps=9)
    with interrupted(3):
        quick(tiny, "bc", out=out, start=first)
    with pytest.raises(FormatError, match=r"differently: started_from was .{16}, here it is"):
        quick(tiny, "bc", out=out, start=second, resume=True)


def test_a_finished_run_is_not_resumed(tiny: Demonstrations, quick: Train, tmp_path: Path) -> None:
    quick(tiny, "bc", out=tmp_path / "run")
    with pytest.raises(FormatError, match="finished already, after 20 steps; give more --steps"):
        quick(tiny, "bc", out=tmp_path / "run", resume=True)


def test_a_folder_that_exists_is_refused_before_any_work(
    tiny: Demonstrations, quick: Train, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*_: Any) -> None:
        raise AssertionError("a step was taken")

    monkeypatch.setattr(NetworkStack, "steps", never)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("years of work")
    with pytest.raises(FormatError, match="exists"):
        quick(tiny, "bc", out=tmp_path / "mine")
    assert (tmp_path / "mine" / "thesis.tex").read_text() == "years of work"
    with pytest.raises(FormatError, match="create it first"):
        quick(tiny, "bc", out=tmp_path / "no" / "run")


@pytest.mark.parametrize(
    ("method", "options"),
    [
        ("bcnd", {}),
        ("counter-bc", {"scale_actions": False, "limited": True}),
        ("bc", {"start": "other"}),
    ],
)
def test_a_training_that_is_refused_leaves_no_folder_behind(
    method: str, options: dict[str, Any], make_demos: Make, quick: Train, tmp_path: Path
) -> None:
    brief = make_demos(
        episodes=1, length=3, action_low=np.full(2, -2.0), action_high=np.full(2, 2.0)
    )
    if options.get("start"):
        options = {"start": quick(make_demos(), "bc", hidden=(4,))}
    with pytest.raises(CounterBCError):
        quick(brief, method, out=tmp_path / "run", **options)
    assert list(tmp_path.iterdir()) == []


def test_the_configuration_says_what_decided_the_result(tiny: Demonstrations, quick: Train) -> None:
    config = quick(tiny, "counter-bc", radius=0.3).config
    assert config["settings"]["radius"] == 0.3
    assert config["data"] == [
        {"source": tiny.source, "fingerprint": tiny.fingerprint(), "pairs": 40}
    ]
    assert config["versions"]["torch"] == str(torch.__version__)
    assert config["dtype"] == "float32"


def test_a_finished_training_frees_its_memory_at_once(tiny: Demonstrations, quick: Train) -> None:
    quick(tiny, "counter-bc", steps=2)  # the first one may compile
    gc.collect()
    gc.disable()
    try:
        before = {id(x): x for x in _large_objects()}  # what earlier tests of the process left
        quick(tiny, "counter-bc", steps=2)
        assert [x for x in _large_objects() if id(x) not in before] == []
    finally:
        gc.enable()


def _large_objects() -> list[object]:
    """Return the objects of this process that hold the memory of trainings."""
    return [x for x in gc.get_objects() if type(x) in (NetworkStack, Counterfactuals)]


def test_limited_counterfactuals_need_a_box_of_one_or_scaled_actions(
    make_demos: Make, quick: Train
) -> None:
    wide = make_demos(action_low=np.full(2, -2.0), action_high=np.full(2, 2.0))
    raw = {"scale_actions": False, "limited": True}
    with pytest.raises(OptionError, match="or bounds of ±1; turn on scale_actions, or"):
        quick(wide, "counter-bc", **raw)
    assert not quick(wide, "counter-bc", scale_actions=False, limited=False).diverged.any()
    demos = make_demos()
    scaled_run = quick(demos, "counter-bc", limited=True)
    assert_near(quick(demos, "counter-bc", **raw), scaled_run, within=1e-4)


def test_limits_change_what_is_learned_only_where_they_are_reached(
    make_demos: Make, quick: Train
) -> None:
    demos = make_demos(action_low=np.full(2, -2.0), action_high=np.full(2, 2.0))
    near = {"radius": 0.01}  # no shown action is that near to a bound of ±2
    assert np.abs(demos.action).max() < 1.9
    for radius, is_same in ((near, True), ({"radius": 1.5}, False)):
        free = quick(demos, "counter-bc", shape="box", dtype=torch.float64, **radius)
        bound = quick(demos, "counter-bc", shape="box", dtype=torch.float64, limited=True, **radius)
        gap = (free.params["head.weight"] - bound.params["head.weight"]).abs().max().item()
        assert (gap < 1e-6) is is_same
