"""report, as people type it."""

from __future__ import annotations

import shlex
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

import counterbc.report
from counterbc.data.merge import merge
from counterbc.errors import OptionError
from counterbc.formats import load
from counterbc.report import ReportOptions
from tests.fixture_types import Call, CallJson

pytestmark = pytest.mark.filterwarnings("ignore::counterbc.errors.InfeasibleActions")
QUICK = ("--steps", 20, "--repeats", 1, "--force")


@pytest.fixture
def demos(make_demos: Any, tmp_path: Path) -> Path:
    make_demos(episodes=8).save(tmp_path / "demos.hdf5")
    return tmp_path / "demos.hdf5"


def test_the_page_says_what_score_and_radius_say(
    demos: Path, tmp_path: Path, call_json: CallJson
) -> None:
    out = tmp_path / "page.html"
    payload = call_json("report", demos, *QUICK, "--out", out)
    scored = call_json("score", demos, *QUICK)
    radius_payload = call_json("radius", demos, "--steps", 20)
    assert payload["operators"] == scored["operators"]
    assert payload["radius"] == scored["radius"]
    assert payload["radius_choice"]["error"] == radius_payload["error"]
    text = out.read_text(encoding="utf-8")
    assert len(text.encode()) == payload["bytes"]
    for sentence in payload["headline"]:
        assert sentence in text
    for operator in scored["operators"]:
        assert f"<td>{operator['distance']:.3f}</td>" in text


@pytest.mark.slow
def test_the_line_that_leaves_episodes_out_leaves_out_those_that_stand_out(
    make_demos: Any, tmp_path: Path, call_json: CallJson,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    demos = make_demos(episodes=10, length=20)
    bad = replace(demos.episodes[4], action=-demos.episodes[4].action)
    monkeypatch.chdir(tmp_path)
    replace(demos, episodes=(*demos.episodes[:4], bad, *demos.episodes[5:])).save("demos.hdf5")
    payload = call_json("report", "demos.hdf5", "--radius", 0.2, "--steps", 200, "--repeats", 1,
        "--no-intents", "--kernel", "torch", "--force",
    )  # fmt: skip
    assert payload["stand_out"] == [4]
    lines = [line for step in payload["advice"] for line in step["commands"]]
    (score,) = [line for line in lines if line.startswith("counterbc score")]
    scored = call_json(*shlex.split(score)[1:])
    assert scored["kernel"] == payload["kernel"] == "torch"
    assert scored["worst"] == payload["stand_out"]
    assert Path("demos-good.hdf5").exists()


def test_people_are_told_the_headline_and_the_file(demos: Path, tmp_path: Path, call: Call) -> None:
    out = tmp_path / "page.html"
    status, text, _ = call(
        "report", demos, "--radius", 0.2, "--no-scores", "--no-intents", "--out", out
    )
    assert status == 0
    assert text.splitlines()[0] == "8 episodes by 2 operators, 80 pairs."
    assert f"The page is {out}" in text


def test_a_page_that_exists_is_kept(demos: Path, tmp_path: Path, call: Call) -> None:
    out = tmp_path / "page.html"
    out.write_text("mine")
    status, _, err = call("report", demos, *QUICK, "--out", out)
    assert status == 1
    assert "already exists" in err
    assert out.read_text() == "mine"


def test_a_kernel_that_cannot_train_here_is_refused(
    demos: Path, tmp_path: Path, call: Call
) -> None:
    options = ("--kernel", "triton", "--device", "cpu", "--out", tmp_path / "page.html")
    for radius in ((), ("--radius", 0.2)):  # the search for Δ trains, and so do the scores
        status, _, err = call("report", demos, *QUICK, *options, *radius)
        assert status == 1
        assert "error: kernel is 'triton', but it runs on cuda" in err
    assert not (tmp_path / "page.html").exists()


def test_several_files_are_one_page(make_demos: Any, tmp_path: Path, call_json: CallJson) -> None:
    paths = [tmp_path / "a.hdf5", tmp_path / "b.hdf5"]
    for seed, path in enumerate(paths):
        make_demos(seed=seed).save(path)
    out = tmp_path / "page.html"
    payload = call_json(
        "report", *paths, "--radius", 0.2, "--no-scores", "--no-intents", "--out", out
    )
    assert (payload["episodes"], payload["pairs"]) == (8, 80)
    assert "<h1>a.hdf5 + b.hdf5</h1>" in out.read_text(encoding="utf-8")
    few = ("--operator", "ada", "--exclude", "demo_1", "--no-scores", "--no-intents")
    payload = call_json("report", *paths, "--radius", 0.2, *few, "--out", tmp_path / "few.html")
    episodes = merge([load(path) for path in paths]).subset(operator="ada").episodes
    assert payload["episodes"] == len([e for e in episodes if e.name != "demo_1"]) > 0


def test_bad_data_give_one_sentence_and_no_page(demos: Path, tmp_path: Path, call: Call) -> None:
    with h5py.File(demos, "a") as file:
        file["data/demo_1/actions"][3, 0] = np.nan
    status, _, err = call("report", demos, *QUICK, "--out", tmp_path / "page.html")
    assert status == 1
    assert len(err.strip().splitlines()) == 1
    assert "'demo_1' has 1 values that are NaN" in err
    assert list(tmp_path.iterdir()) == [demos]


def test_fields_of_the_report_options_are_options_and_reach_the_report(
    demos: Path, tmp_path: Path, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    @dataclass(frozen=True, kw_only=True)
    class MoreOptions(ReportOptions):
        title: str = "none"

        def __post_init__(self) -> None:
            raise OptionError(f"{self.title}, {self.scores}, {self.intents}")

    monkeypatch.setattr(counterbc.report, "ReportOptions", MoreOptions)
    typed = ("--title", "mine", "--no-scores")
    status, _, err = call("report", demos, *typed, "--out", tmp_path / "page.html")
    assert (status, err) == (1, "error: mine, False, True\n")


def test_auto_and_a_number_are_refused(demos: Path, tmp_path: Path, call: Call) -> None:
    status, _, err = call(
        "report", demos, "--radius", "auto", "--radius", 0.2, "--out", tmp_path / "p.html"
    )
    assert status == 1
    assert "give auto alone, or numbers" in err


@pytest.mark.slow
def test_ctrl_c_leaves_no_half_page(demos: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "counterbc", "report", str(demos), "--steps", "1000000"]
    process = subprocess.Popen(
        [*command, "--radius", "0.2"], cwd=tmp_path, stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    assert process.stderr.readline()  # it is at work
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=300)
    assert process.returncode == 130
    assert "Traceback" not in err
    # What was trained is kept, so that the same command continues.
    assert {p.name for p in tmp_path.iterdir()} <= {demos.name, "counterbc.search"}
