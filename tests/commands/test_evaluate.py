"""counterbc evaluate, as people type it."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from tests.fixture_types import Call, CallJson

pytestmark = pytest.mark.filterwarnings("ignore::counterbc.errors.InfeasibleActions")


def test_from_demonstrations_to_a_paired_comparison(
    intersection_file: Path, tmp_path: Path, call: Call, call_json: CallJson
) -> None:
    common = ("--steps", 30, "--seeds", 2)
    bc, counter = tmp_path / "bc", tmp_path / "counter"
    payload = call_json("train", intersection_file, "--method", "bc", "--out", bc, *common)
    assert len(payload["members"]) == 2
    payload = call_json("train", intersection_file, "--radius", 0.3, "--out", counter, *common)
    assert payload["settings"]["radius"] == 0.3
    film = tmp_path / "film.gif"
    payload = call_json("evaluate", bc, counter, "--episodes", 5, "--video", film)
    first, second = payload["runs"]
    assert np.shape(first["returns"]) == np.shape(second["returns"]) == (2, 5)
    difference = np.mean(second["returns"]) - np.mean(first["returns"])
    assert second["above_first"]["mean"] == pytest.approx(difference)
    assert film.read_bytes().startswith(b"GIF8")
    status, out, _ = call("evaluate", bc, "--episodes", 5, "--act", "sample")
    assert status == 0
    assert "act=sample" in out


def test_evaluate_shows_and_writes_what_a_world_measures(
    tmp_path: Path, call: Call, call_json: CallJson
) -> None:
    shown, run = tmp_path / "shown.hdf5", tmp_path / "run"
    call_json("demonstrate", "air-hockey", "--pairs", 60, "--out", shown)
    call_json("train", shown, "--method", "bc", "--steps", 2, "--seeds", 2, "--out", run)
    (entry,) = call_json("evaluate", run, "--episodes", 3)["runs"]
    assert list(entry["measures"]) == ["hits", "distance_per_hit", "time_per_hit"]
    assert entry["measures"]["hits"]["values"] == entry["returns"]
    times = entry["measures"]["time_per_hit"]
    np.testing.assert_allclose(
        np.array(times["values"]) * np.maximum(entry["returns"], 1), np.array(entry["lengths"]) / 20
    )
    assert times["interval"]["mean"] == pytest.approx(np.mean(times["values"]))
    header, row = call("evaluate", run, "--episodes", 3)[1].splitlines()[1:3]
    assert header.split("return [95 %]")[1].split("  ")[-1].strip() == "time per hit"
    assert f"{times['interval']['mean']:.2f} [" in row


def test_runs_with_other_seeds_are_not_compared(
    intersection_file: Path, tmp_path: Path, call: Call, call_json: CallJson
) -> None:
    for seeds in (1, 2):
        call_json(
            "train",
            intersection_file,
            "--steps",
            2,
            "--seeds",
            seeds,
            "--out",
            tmp_path / f"{seeds}",
        )
    status, _, err = call("evaluate", tmp_path / "1", tmp_path / "2")
    assert status == 1
    assert "same seeds" in err


def test_an_unknown_environment_is_refused(
    intersection_file: Path, tmp_path: Path, call: Call, call_json: CallJson
) -> None:
    run = tmp_path / "run"
    call_json("train", intersection_file, "--method", "bc", "--steps", 2, "--out", run)
    status, _, err = call("evaluate", run, "--env", "mars")
    assert status == 1
    assert "unknown environment 'mars'" in err
    status, _, err = call("evaluate", run, "--env", "Pendulum-v1")
    assert status == 1
    assert "4 numbers" in err


def test_flows_are_evaluated_and_filmed_with_other_numbers_of_acting(
    intersection_file: Path, tmp_path: Path, call: Call, call_json: CallJson
) -> None:
    flow, film = tmp_path / "flow", tmp_path / "film.gif"
    small = ("--method", "bc", "--steps", 20, "--hidden", 8, "--hidden", 8)
    call_json("train", intersection_file, *small, "--policy", "flow", "--out", flow)
    common = ("evaluate", flow, "--episodes", 4)
    cold = call_json(*common, "--temperature", 0, "--video", film)
    assert cold["temperature"] == 0
    assert film.read_bytes().startswith(b"GIF8")
    usual = call_json(*common)
    changes = (("temperature", 2), ("execute", 1), ("euler", 1))
    payloads = [call_json(*common, f"--{name}", value) for name, value in changes]
    assert [x[name] for x, (name, _) in zip(payloads, changes, strict=True)] == [2, 1, 1]
    assert len({str(x["runs"][0]["returns"]) for x in (cold, usual, *payloads)}) == 5
    same = ("--temperature", 0.5, "--execute", 4, "--euler", 10)
    assert call_json(*common, *same)["runs"] == usual["runs"]
    _, out, _ = call("evaluate", flow, "--episodes", 1, *same)
    assert "act=mean, execute 4, temperature 0.5, euler 10, 1 episode per policy" in out


def test_without_a_terminal_lines_show_episodes_and_the_step(
    intersection_file: Path, tmp_path: Path, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = tmp_path / "run"
    call("train", intersection_file, "--method", "bc", "--steps", 2, "--lag", 0, "--out", run)
    monkeypatch.setattr("counterbc.printing.LINE_EVERY", 0.001)
    status, _, err = call("evaluate", run, "--episodes", 200, "--video", tmp_path / "film.gif")
    assert status == 0
    film = r"^filming bc in counterbc/Intersection-v0, about \S+ seconds? so far$"
    assert re.search(film, err, re.M)
    assert re.search(r"^evaluating bc: \d+ of 200 episodes, step \d+(, about .* left)?$", err, re.M)
