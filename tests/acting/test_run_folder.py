"""A run is a folder of two files; anything else is refused in one sentence."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from counterbc.acting import run_folder
from counterbc.acting.policies import Policies
from counterbc.data.demonstrations import Demonstrations
from counterbc.demonstrators import UniformNoise, demonstrate
from counterbc.errors import FormatError
from counterbc.trainer import train
from tests.acting.editing import Change, check_refused, reconfigured, retensored
from tests.fixture_types import Train
from tests.full_disk import full, full_in_rust

VERSION_1 = Path(__file__).parent / "data" / "run-version-1"


def test_a_run_of_version_1_loads_and_acts() -> None:
    policies = Policies.load(VERSION_1)
    assert (policies.method, len(policies), policies.shards) == ("bcnd", 2, 4)
    action = policies[1].actor().act(np.zeros(policies.obs_shape))
    assert action.shape == (policies.action_size,)
    assert bool(np.isfinite(action).all())


@pytest.mark.filterwarnings("ignore::counterbc.errors.InfeasibleActions")
def test_a_run_of_version_1_is_trained_again_to_the_same_parameters() -> None:
    stored = Policies.load(VERSION_1)
    demos = demonstrate("intersection", UniformNoise(0.5), 60, seed=0)
    assert demos.fingerprint() == stored.members[0].fingerprint
    settings = {k: v for k, v in stored.run_config.settings.items() if v is not None}
    choices: dict[str, Any] = {"lag": 0.0, "ensemble": 1, "kernel": "torch"}  # the only ones then
    policies = train(demos, "bcnd", seeds=2, progress=False, device="cpu", **settings, **choices)
    for name, value in stored.params.items():
        torch.testing.assert_close(policies.params[name], value, rtol=1e-5, atol=1e-6)


def test_a_run_of_version_1_is_saved_as_version_2(tmp_path: Path) -> None:
    old = Policies.load(VERSION_1)
    old.save(tmp_path / "run")
    config = json.loads((tmp_path / "run" / "config.json").read_text())
    assert (config["version"], config["shards"], "parts" in config) == (2, 4, False)
    second_load = Policies.load(tmp_path / "run")
    assert all(torch.equal(v, second_load.params[k]) for k, v in old.params.items())


def test_a_run_with_the_old_name_of_a_policy_field_loads(
    tiny: Demonstrations, quick: Train, tmp_path: Path
) -> None:
    policies = quick(tiny, "bc", horizon=3, average_chunks=True)
    policies.save(tmp_path / "run")
    path = tmp_path / "run" / "config.json"
    config = json.loads(path.read_text())
    config["policy"]["averages"] = config["policy"].pop("average_chunks")
    path.write_text(json.dumps(config))
    assert Policies.load(tmp_path / "run").policy == policies.policy


def truncated(folder: Path) -> None:
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-100])


BAD: dict[str, tuple[Change, str]] = {
    "another version": (
        reconfigured(lambda c: c.update(version=0)),
        "has version 0, this .* reads 1 and 2",
    ),
    "no version": (reconfigured(lambda c: c.pop("version")), "has version None"),
    "a foreign folder": (lambda f: (f / "config.json").unlink(), "has no config.json; it was not"),
    "another format": (reconfigured(lambda c: c.update(format="lerobot")), "not a counterbc run"),
    "a list": (lambda f: (f / "config.json").write_text("[]"), "not a counterbc run"),
    "damaged json": (lambda f: (f / "config.json").write_text('{"format"'), "cannot be read"),
    "binary json": (lambda f: (f / "config.json").write_bytes(b"\xff\xfe\x00"), "cannot be read"),
    "no model": (lambda f: (f / "model.safetensors").unlink(), "has no model.safetensors"),
    "a truncated model": (truncated, "model.safetensors is damaged"),
    "an empty model": (
        lambda f: (f / "model.safetensors").write_bytes(b""),
        "model.safetensors is damaged",
    ),
    "no members": (reconfigured(lambda c: c.pop("members")), "is damaged: KeyError members"),
    "members of another kind": (reconfigured(lambda c: c.update(members=[1])), "is damaged"),
    "too few members": (
        reconfigured(lambda c: c["members"].pop()),
        "2 normalizations for 1 members",
    ),
    "an unknown policy": (
        reconfigured(lambda c: c["policy"].update(kind="transformer")),
        "unknown policy 'transformer'; allowed: gaussian-mlp, gaussian-gru",
    ),
    "other layers": (
        reconfigured(lambda c: c["policy"].update(hidden=[8, 9])),
        "the parameters do not fit the policy",
    ),
    "parameters of another shape": (
        retensored(lambda t: t.update({"policy/head.bias": torch.zeros(2, 5)})),
        "the parameters do not fit the policy",
    ),
    "a parameter too few": (
        retensored(lambda t: t.pop("policy/head.bias")),
        "the parameters do not fit the policy",
    ),
    "no normalization": (retensored(lambda t: t.pop("normalization/obs_mean")), "is damaged"),
    "a flat normalization": (
        retensored(lambda t: t.update({"normalization/action_low": torch.zeros(2)})),
        "is damaged",
    ),
    "bounds of another width": (
        retensored(lambda t: t.update({"normalization/action_high": torch.ones(2, 3)})),
        "is damaged",
    ),
    "observations of another width": (
        retensored(lambda t: t.update({"normalization/obs_scale": torch.ones(2, 7)})),
        "is damaged",
    ),
    "nested json": (
        lambda f: (f / "config.json").write_text("[" * 100_000),
        "config.json cannot be read.*train again",
    ),
    "thousands of digits": (
        lambda f: (f / "config.json").write_text("1" * 5000),
        "config.json cannot be read.*train again",
    ),
    "half a curve": (retensored(lambda t: t.pop("curve/loss")), "is damaged"),
}


@pytest.mark.parametrize("name", list(BAD))
def test_a_run_that_is_not_whole_is_refused_in_one_sentence(name: str, run: Path) -> None:
    check_refused(run, *BAD[name])


@pytest.mark.parametrize("name", ["config.json", "model.safetensors"])
def test_a_pipe_or_a_device_in_place_of_a_file_is_refused_at_once(name: str, run: Path) -> None:
    for make in (os.mkfifo, lambda path: path.symlink_to("/dev/zero")):
        (run / name).unlink()
        make(run / name)
        with pytest.raises(FormatError, match=f"{name} is not a file"):
            Policies.load(run)


def test_a_file_or_nothing_is_no_run(run: Path) -> None:
    for path in (run / "config.json", run / "absent"):
        with pytest.raises(FormatError, match="is not a folder; give the folder that counterbc"):
            Policies.load(path)


def test_a_folder_holds_two_files_or_three_and_no_pickle(run: Path, tmp_path: Path) -> None:
    Policies.load(run).save(tmp_path / "copy")
    files = ["config.json", "model.safetensors"]
    assert sorted(p.name for p in (tmp_path / "copy").iterdir()) == files
    assert sorted(p.name for p in run.iterdir()) == [*files, "training.safetensors"]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["copy", "run"]
    tensors = load_file(run / "model.safetensors")
    assert {"normalization/obs_mean", "normalization/action_high", "policy/head.bias"} <= set(
        tensors
    )
    text = (run / "config.json").read_text()
    assert json.loads(text)["members"][1]["seed"] == 1


def test_a_loaded_run_is_what_was_saved(run: Path, tmp_path: Path) -> None:
    loaded_run = Policies.load(run)
    loaded_run[1].save(tmp_path / "one")
    first_member = Policies.load(tmp_path / "one")
    assert [m.seed for m in first_member.members] == [1]
    assert torch.equal(first_member.params["head.bias"], loaded_run.params["head.bias"][1:])
    assert first_member.config == loaded_run.config
    assert first_member.curve is not None
    assert first_member.curve.loss.shape == (2, 1)


@pytest.mark.parametrize("failure", [full, full_in_rust])
def test_a_full_disk_leaves_nothing_behind(
    failure: Callable[..., None], run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    policies = Policies.load(run)
    monkeypatch.setattr(run_folder, "save_file", failure)
    with pytest.raises(FormatError, match=r"copy could not be written .*(full|No space left)"):
        policies.save(tmp_path / "copy")
    assert [p.name for p in tmp_path.iterdir()] == ["run"]


def test_safetensors_raises_what_the_simulated_failure_raises(tmp_path: Path) -> None:
    with pytest.raises(SafetensorError, match="I/O error"):
        save_file({"a": torch.zeros(1)}, tmp_path / "absent" / "model.safetensors")


def test_a_folder_that_exists_is_not_overwritten(run: Path) -> None:
    policies = Policies.load(run)
    before = (run / "config.json").read_bytes()
    with pytest.raises(FormatError, match="exists"):
        policies.save(run)
    assert (run / "config.json").read_bytes() == before


def test_a_run_is_overwritten_when_asked_and_other_files_stay(run: Path, tmp_path: Path) -> None:
    (run / "notes.txt").write_text("mine")
    (run / "plots").mkdir()
    (run / "plots" / "loss.png").write_bytes(b"png")
    policies = Policies.load(run)
    policies[1].save(run, overwrite=True)
    assert Policies.load(run).seeds == (1,)
    assert (run / "notes.txt").read_text() == "mine"
    assert (run / "plots" / "loss.png").read_bytes() == b"png"
    assert [p.name for p in tmp_path.iterdir()] == ["run"]
    policies.save(tmp_path / "new", overwrite=True)
    assert Policies.load(tmp_path / "new").seeds == policies.seeds


def test_a_run_that_cannot_be_replaced_stays(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    policies = Policies.load(run)
    monkeypatch.setattr(run_folder, "save_file", full)
    with pytest.raises(FormatError, match="could not be written"):
        policies[1].save(run, overwrite=True)
    assert Policies.load(run).seeds == policies.seeds
    assert [p.name for p in tmp_path.iterdir()] == ["run"]


def test_a_folder_that_is_no_run_is_never_overwritten(run: Path, tmp_path: Path) -> None:
    mine = tmp_path / "photos"
    mine.mkdir()
    (mine / "cat.png").write_bytes(b"png")
    with pytest.raises(FormatError, match=r"photos has no config.json; it was not written by"):
        Policies.load(run).save(mine, overwrite=True)
    assert (mine / "cat.png").exists()
