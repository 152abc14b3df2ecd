"""Runs that exist get more steps, or are kept as they were stopped."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from counterbc.acting.policies import Policies
from counterbc.data.demonstrations import Demonstrations
from counterbc.errors import FormatError, StoppedTraining
from tests.equality import same, same_params
from tests.fixture_types import Make, Train
from tests.training.interruption import interrupted


@pytest.mark.parametrize(
    ("method", "options"),
    [
        ("bc", {}),
        ("counter-bc", {"held_out": 0.25}),
        ("counter-bc", {"kernel": "torch"}),
        ("weighted-bc", {}),
        ("bc", {"policy": "chunk", "ema_share": 0.1}),
        ("bc-rnn", {}),
    ],
)
@pytest.mark.parametrize("first", ["finished", "stopped", "stopped twice"])
def test_a_training_that_gets_more_steps_ends_with_the_bits_of_one_that_had_them(
    first: str,
    method: str,
    options: dict[str, Any],
    make_demos: Make,
    quick: Train,
    tmp_path: Path,
) -> None:
    demos, out = make_demos(episodes=8), tmp_path / "run"
    whole = quick(demos, method, seeds=2, steps=50, **options)
    if first == "finished":
        quick(demos, method, seeds=2, steps=20, out=out, **options)
    else:
        with interrupted(9):
            quick(demos, method, seeds=2, steps=20, out=out, **options)
    if first == "stopped twice":
        with interrupted(5, begin=9):
            quick(demos, method, seeds=2, steps=50, out=out, resume=True, **options)
    longer = quick(demos, method, seeds=2, steps=50, out=out, resume=True, **options)
    for policies in (longer, Policies.load(out)):
        assert same_params(policies, whole)
        assert policies.config["settings"]["steps"] == 50
    assert longer.curve is not None
    assert longer.curve.steps[-1] == 50


def test_a_stopped_training_is_kept_as_it_is_by_its_number_of_steps(
    tiny: Demonstrations, quick: Train, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    with interrupted(9):
        quick(tiny, "counter-bc", out=out)
    sentence = "run was trained for 9 steps already; to keep it as it is, give --steps 9, or more"
    with pytest.raises(FormatError, match=sentence):
        quick(tiny, "counter-bc", out=out, resume=True, steps=5)
    shorter = quick(tiny, "counter-bc", out=out, resume=True, steps=9)
    assert same_params(shorter, quick(tiny, "counter-bc", steps=9))
    assert Policies.load(out).run_config.stopped_after is None


def test_what_was_chosen_is_not_searched_again(
    tiny: Demonstrations, quick: Train, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, options = tmp_path / "run", {"radius": "auto", "lag": "auto", "ensemble": 2}
    whole = quick(tiny, "counter-bc", steps=20, out=tmp_path / "whole", **options)
    quick(tiny, "counter-bc", steps=10, out=out, radius=whole.members[0].radius[0], ensemble=2)
    monkeypatch.setattr("counterbc.trainer.tune_datasets", None)
    longer = quick(tiny, "counter-bc", steps=40, out=tmp_path / "whole", resume=True, **options)
    assert [m.radius for m in longer.members] == [m.radius for m in whole.members]
    assert longer.config["choices"] == json.loads(json.dumps(whole.config["choices"]))
    assert longer.shards == 2


def test_a_finished_run_without_a_state_cannot_be_continued(
    tiny: Demonstrations, quick: Train, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    quick(tiny, "bc", out=out)
    (out / "training.safetensors").unlink()
    sentence = "run is finished and has no training.safetensors to continue from; train again with "
    with pytest.raises(FormatError, match=f"{sentence}--steps 30 in another folder$"):
        quick(tiny, "bc", out=out, resume=True, steps=30)
    assert same(Policies.load(out), quick(tiny, "bc")), "nothing was lost"


def test_rounds_cannot_get_other_steps(tiny: Demonstrations, quick: Train, tmp_path: Path) -> None:
    out = tmp_path / "run"
    quick(tiny, "bcnd", out=out)
    with pytest.raises(FormatError, match="20 steps in each of 3 rounds, which cannot become 30"):
        quick(tiny, "bcnd", out=out, resume=True, steps=30)


def test_a_continued_run_that_is_stopped_is_used_as_it_is(
    tiny: Demonstrations, quick: Train, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    quick(tiny, "counter-bc", out=out)
    with interrupted(9, begin=20):
        quick(tiny, "counter-bc", out=out, resume=True, steps=40)
    with pytest.warns(StoppedTraining, match="stopped after 29 of 40 steps"):
        policies = Policies.load(out)
    assert same_params(policies, quick(tiny, "counter-bc", steps=29))
