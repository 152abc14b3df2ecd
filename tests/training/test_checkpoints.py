"""Trainings that are not finished yet."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from counterbc.acting import run_folder
from counterbc.acting.policies import Policies
from counterbc.data.demonstrations import Demonstrations
from counterbc.errors import CounterBCError, FormatError
from counterbc.methods import METHODS, Method
from counterbc.policies import GaussianMLP
from counterbc.training import checkpoints
from tests.equality import same
from tests.fixture_types import Train
from tests.full_disk import full, full_in_rust

Change = Callable[[Path], Any]


def test_a_training_that_never_saved_is_called_unfinished(tmp_path: Path) -> None:
    checkpoints.begin(tmp_path / "run", {"unfinished": {"method": "bc"}})
    with pytest.raises(
        FormatError,
        match=r"a training that was stopped before its first checkpoint; finish it .* --resume",
    ):
        Policies.load(tmp_path / "run")
    assert checkpoints.load_state(tmp_path / "run", {"method": "bc"}) is None


def test_a_damaged_state_is_not_resumed(tmp_path: Path) -> None:
    checkpoints.begin(tmp_path / "run", {"unfinished": {}})
    (tmp_path / "run" / "training.safetensors").write_bytes(b"half")
    with pytest.raises(FormatError, match=r"training.safetensors is damaged"):
        checkpoints.load_state(tmp_path / "run", {})


def test_an_unfinished_run_of_version_1_is_neither_resumed_nor_loaded(
    tiny: Demonstrations, quick: Train, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "run"
    out.mkdir()
    config = {"format": "counterbc-policies", "version": 1, "unfinished": {"method": "bc"}}
    (out / "config.json").write_text(json.dumps(config))
    sentence = (
        r"run holds a training that was started by version 0\.1\.0 and cannot be finished by this "
        r"one; finish it with 0\.1\.0, or train again in another folder$"
    )
    with pytest.raises(FormatError, match=sentence):
        Policies.load(out)
    with pytest.raises(FormatError, match=sentence):
        checkpoints.load_state(out, {"method": "bc"})
    monkeypatch.setattr("counterbc.trainer.tune_datasets", None)  # refused before any work
    with pytest.raises(FormatError, match=sentence):
        quick(tiny, "counter-bc", out=out, resume=True, radius="auto")
    assert [p.name for p in out.iterdir()] == ["config.json"]


CONFIG: dict[str, Any] = {
    "method": "bc",
    "definition": "Method()",
    "settings": {"steps": 200, "batch": None, "learning_rate": None, "kernel": "auto"},
    "learning_rate": 0.001,
    "members": ["seed 0, radius 0.4"],
    "data": [{"source": "a.hdf5", "fingerprint": "12", "pairs": 60}],
    "kernel": "triton",
    "versions": {"torch": "2.11.0", "kernel": "triton"},
}


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        (
            {"settings": {**CONFIG["settings"], "steps": 400, "batch": 64}},
            "batch was not given, here it is 64; resume it with the same data, options and "
            "versions",
        ),
        (
            {
                "settings": {**CONFIG["settings"], "learning_rate": 0.01},
                "definition": "Method(…)",
                "learning_rate": 0.01,
            },
            "learning_rate was 0.001, here it is 0.01; resume it with the same data, options "
            "and versions",
        ),
        (
            {"settings": {**CONFIG["settings"], "kernel": "triton"}},
            "kernel was auto, here it is triton; resume it with the same data, options and "
            "versions",
        ),
        (
            {"kernel": "torch", "versions": {"torch": "2.11.0", "kernel": "torch"}},
            "kernel was triton, here it would be torch; install a CUDA build of torch, which "
            "brings triton",
        ),
        (
            {"kernel": "torch", "versions": {"torch": "2.13.0", "kernel": "torch"}},
            "kernel was triton, here it would be torch; version of torch was 2.11.0, here it is "
            "2.13.0; resume it with the same data, options and versions",
        ),
        (
            {"data": [{"source": "a b.hdf5", "fingerprint": "12", "pairs": 61}], "members": []},
            "other members; source of the data was a.hdf5, here it is 'a b.hdf5'; pairs of the "
            "data was 60, here it is 61; resume it with the same data, options and versions",
        ),
        (
            {"data": CONFIG["data"] * 2, "definition": "x" * 99},
            "other data; resume it with the same data, options and versions",
        ),
        (
            {"definition": "x" * 99},
            "other definition; resume it with the same data, options and versions",
        ),
        (
            {"later": None},
            "other fields in config.json; resume it with the same data, options and versions",
        ),
    ],
)
def test_a_run_of_another_configuration_is_refused_by_what_differs(
    changes: dict[str, Any], sentence: str, tmp_path: Path
) -> None:
    checkpoints.begin(tmp_path / "run", {"unfinished": CONFIG})
    with pytest.raises(FormatError) as error:
        checkpoints.load_state(tmp_path / "run", {**CONFIG, **changes})
    reason = f"was started differently: {sentence}, or choose another folder"
    assert str(error.value) == f"{tmp_path / 'run'} {reason}"


def test_a_run_from_before_a_new_setting_is_refused_by_its_version(
    tiny: Demonstrations, quick: Train, tmp_path: Path
) -> None:
    config = quick(tiny, "bc").config
    settings = {**config["settings"], "averages": False}
    del settings["average_chunks"], settings["ema_share"]
    checkpoints.begin(
        tmp_path / "run", {"unfinished": {**config, "settings": settings, "definition": "Method()"}}
    )
    sentence = (
        r"run holds a training that was started by another version of counterbc, with other "
        r"settings than this one \(average_chunks, averages, ema_share\); finish it with that "
        r"version, or train again in another folder$"
    )
    with pytest.raises(FormatError, match=sentence):
        quick(tiny, "bc", out=tmp_path / "run", resume=True)


@pytest.mark.parametrize("failure", [full, full_in_rust])
def test_a_disk_that_fills_up_during_a_training_leaves_a_run_to_resume(
    failure: Callable[..., None],
    tiny: Demonstrations,
    quick: Train,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    out = tmp_path / "run"
    with monkeypatch.context() as patch:
        patch.setattr(run_folder, "save_file", failure)
        with pytest.raises(FormatError, match="could not be written"):
            quick(tiny, "bc", out=out)
    assert [p.name for p in out.iterdir()] == ["config.json"]
    assert same(quick(tiny, "bc", out=out, resume=True), quick(tiny, "bc"))


@dataclass(frozen=True)
class OwnPolicy(GaussianMLP):
    """A policy of the user's own, which no other program could load."""


def test_a_policy_that_cannot_be_saved_is_refused_before_any_work(
    tiny: Demonstrations, quick: Train, tmp_path: Path
) -> None:
    method: Method = replace(METHODS["bc"], policy=OwnPolicy())
    with pytest.raises(CounterBCError, match="Own"):
        quick(tiny, method, out=tmp_path / "run")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "previous", [[], 1, {"settings": 3}, {"settings": {"kernel": {}}, "data": "x"}]
)
def test_a_configuration_of_another_kind_is_not_resumed(previous: Any, tmp_path: Path) -> None:
    checkpoints.begin(tmp_path / "run", {"unfinished": previous})
    with pytest.raises(FormatError, match=r"started differently|config.json cannot be read"):
        checkpoints.load_state(tmp_path / "run", {"settings": {"kernel": "torch"}, "data": []})
