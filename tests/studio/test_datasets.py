"""Demonstrations are made of journals, in each format, with timing and devices."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from counterbc.errors import FormatError
from counterbc.formats import load
from counterbc.studio.datasets import SUFFIXES, Recovery, recover, write_dataset
from counterbc.studio.journal import JournalWriter
from counterbc.studio.protocol import FREE, Plan
from counterbc.studio.recorder import Recorder, Timing
from counterbc.studio.stage import Stage
from counterbc.studio.study_folder import StudyFolder


def record(study: StudyFolder, format: str, lengths: tuple[int, ...]) -> tuple[str, list[Any]]:
    """Record episodes of Intersection by a recorder; return the session and what was recorded."""
    plan = Plan(
        world="intersection", operator="Zoë <b>", protocol_name="free", protocol=FREE, format=format
    )
    problems: list[dict[str, Any]] = []
    recorder = Recorder(study, plan, send=problems.append, on_error=lambda e: None)
    stage, pairs = Stage("intersection"), []
    for k, length in enumerate(lengths):
        stage.begin(k)
        recorder.begin(stage, k, 10.0)
        for t in range(length):
            action = stage.feasible([np.cos(t + k), 0.3])
            obs, reward = stage.obs, stage.step(action).reward
            latency = 3.5 if t % 2 else None
            recorder.step(obs, action, reward, Timing(t / 10, 0.001, latency, "keyboard"))
            pairs.append((obs, action, np.float32(reward)))
        recorder.end("over", k == 0)
    recorder.close()
    assert [p for p in problems if p["type"] == "problem"] == []
    assert recorder.session is not None
    return recorder.session, pairs


@pytest.mark.parametrize("format", sorted(SUFFIXES))
def test_a_dataset_equals_what_was_recorded_in_every_format(
    study: StudyFolder, format: str
) -> None:
    session, pairs = record(study, format, (4, 6))
    demos = load(study.path / f"{session}{SUFFIXES[format]}")
    obs, action, reward = (np.stack(column) for column in zip(*pairs, strict=True))
    np.testing.assert_array_equal(demos.obs, obs)
    np.testing.assert_array_equal(demos.action, action)
    np.testing.assert_array_equal(np.concatenate([e.reward for e in demos.episodes]), reward)
    assert [e.operator for e in demos.episodes] == ["Zoë <b>"] * 2
    assert [e.success for e in demos.episodes] == [True, False]
    assert (demos.rate, demos.actions_are) == (10.0, "asked")
    assert demos.env_args["env_name"] == "counterbc/Intersection-v0"
    assert demos.action_set == "ball"


def test_hdf5_holds_timing_and_device(study: StudyFolder) -> None:
    session, _ = record(study, "robomimic", (3,))
    with h5py.File(study.path / f"{session}.hdf5") as file:
        demo = file["data/demo_0"]
        np.testing.assert_allclose(demo["timing/time"][:], [0.0, 0.1, 0.2])
        np.testing.assert_array_equal(demo["timing/latency"][:], [np.nan, 3.5, np.nan])
        recording = json.loads(demo.attrs["recording"])
    assert (recording["device"], recording["end"], recording["seed"]) == ("keyboard", "over", 0)


def test_other_formats_have_the_timing_beside_them(study: StudyFolder) -> None:
    session, _ = record(study, "lerobot", (3, 2))
    path = study.path / f"{session}.lerobot.timing.csv"
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["episode"] for row in rows] == ["demo_0"] * 3 + ["demo_1"] * 2
    assert [row["latency"] for row in rows[:3]] == ["nan", "3.5", "nan"]
    assert {row["device"] for row in rows} == {"keyboard"}
    assert list(study.list_datasets()) == [f"{session}.lerobot"]


@pytest.mark.parametrize("format", ["lerobot", "minari"])
def test_a_dataset_is_there_at_every_moment_while_it_is_written_again(
    study: StudyFolder, format: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    session, pairs = record(study, format, (3, 2))
    path = study.path / f"{session}{SUFFIXES[format]}"
    remove, is_there = shutil.rmtree, []

    def note(*arguments: Any, **options: Any) -> None:
        remove(*arguments, **options)
        is_there.append(path.exists())

    monkeypatch.setattr("shutil.rmtree", note)
    assert write_dataset(study, session) == path
    assert is_there
    assert all(is_there)
    assert load(path).pairs == len(pairs)
    assert sorted(p.name for p in study.path.glob(f"*{session}*")) == [
        path.name, f"{path.name}.timing.csv",
    ]  # fmt: skip


@pytest.mark.parametrize("format", sorted(SUFFIXES))
def test_a_session_whose_episodes_are_all_discarded_has_no_dataset(
    study: StudyFolder, format: str
) -> None:
    session, _ = record(study, format, (3,))
    journal = JournalWriter(study.journal(session), lambda e: None)
    journal.line(0, {"discard": True})
    journal.close()
    assert write_dataset(study, session) is None
    assert study.list_datasets() == {}
    assert not list(study.path.glob(f"*{session}*"))  # nor its timing


def test_recovery_writes_what_a_killed_server_had_recorded(study: StudyFolder) -> None:
    session, pairs = record(study, "robomimic", (4, 6))
    path = study.path / f"{session}.hdf5"
    path.unlink()
    journal = study.journal(session) / "0001.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(lines[:4]) + lines[4][:10])  # three steps and a bit
    assert recover(study) == [Recovery(session)]
    demos = load(path)
    assert [len(e) for e in demos.episodes] == [4, 3]
    np.testing.assert_array_equal(demos.obs, np.stack([obs for obs, _, _ in pairs[:7]]))
    assert recover(study) == []


def test_a_session_without_a_step_is_not_recovered(study: StudyFolder) -> None:
    (study.journal("cartpole-001")).mkdir()
    (study.journal("cartpole-001") / "0000.jsonl").write_text("{")
    (study.path / "journal" / "file").touch()
    assert recover(study) == []
    assert not list(Path(study.path).glob("*.hdf5"))


def test_a_damaged_journal_keeps_no_other_session_back(study: StudyFolder) -> None:
    damaged, _ = record(study, "robomimic", (3,))
    whole, _ = record(study, "robomimic", (4,))
    for session in (damaged, whole):
        (study.path / f"{session}.hdf5").unlink()
    journal = study.journal(damaged) / "0000.jsonl"
    journal.write_bytes(journal.read_bytes().replace(b'"robomimic"', b'"tapes"'))
    assert recover(study) == [Recovery(damaged, "KeyError: tapes"), Recovery(whole)]
    assert load(study.path / f"{whole}.hdf5").pairs == 4
    assert sorted(p.name for p in study.path.glob("*-00*")) == [f"{whole}.hdf5"]
    (recovery,) = recover(study)  # the next start tries again
    assert str(recovery).startswith(f"{damaged} could not be recovered (KeyError: tapes). ")


def test_a_disk_that_is_still_full_is_named_and_the_studio_starts(
    study: StudyFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    session, _ = record(study, "robomimic", (3,))
    (study.path / f"{session}.hdf5").unlink()
    error = FormatError("the disk is full; free some space")

    def fail(*arguments: Any, **options: Any) -> None:
        raise error

    monkeypatch.setattr("counterbc.studio.datasets.save", fail)
    assert recover(study) == [Recovery(session, str(error))]
