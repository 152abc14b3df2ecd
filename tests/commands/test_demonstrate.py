"""counterbc demonstrate, with teachers by name, which counterbc demo takes too."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from counterbc.cli import main
from counterbc.demonstrators import DEFAULT_TEACHER, NO_ERROR, NOISES, TEACHERS, returns
from counterbc.envs import WORLDS
from counterbc.formats import load
from tests.fixture_types import Call, CallJson


@pytest.mark.parametrize(("teacher", "operators"), [("typical", 1), ("crowd", 20)])
def test_demonstrate_counts_the_operators_and_gives_both_returns(
    teacher: str, operators: int, tmp_path: Path, call: Call, call_json: CallJson
) -> None:
    out = tmp_path / "demos.hdf5"
    answer = call_json("demonstrate", "intersection", "--teacher", teacher, "--out", out)
    assert answer["operators"] == operators
    assert answer["rate"] == load(out).rate == 10
    assert len(load(out).operators) == (20 if teacher == "crowd" else 0)
    assert answer["mean_return"] == pytest.approx(load(out).mean_return)
    _, text, _ = call(
        "demonstrate", "intersection", "--teacher", teacher, "--out", tmp_path / "again.hdf5"
    )
    people = "1 operator" if operators == 1 else f"{operators} operators"
    assert (
        f"Mean return of whole episodes by {people}: {answer['mean_return']:.2f}. The expert "
        f"without errors earns {answer['expert_return']:.2f} from the same starts: the difference "
        f"is {answer['difference']:+.2f} ± {answer['difference_se']:.2f} (standard error over "
        "episodes)."
    ) in " ".join(text.split())


def test_the_difference_from_the_expert_is_paired_by_start(
    tmp_path: Path, call_json: CallJson
) -> None:
    answer = call_json("demonstrate", "intersection", "--out", tmp_path / "demos.hdf5")
    by_teacher, by_expert = (
        returns("intersection", teacher, answer["episodes"], 0)
        for teacher in (DEFAULT_TEACHER, NO_ERROR)
    )
    difference = by_teacher - by_expert
    se = np.std(difference, ddof=1) / np.sqrt(len(difference))
    assert answer["difference"] == pytest.approx(difference.mean())
    assert answer["difference_se"] == pytest.approx(se)
    unpaired = np.hypot(answer["mean_return_se"], answer["expert_return_se"])
    assert answer["difference_se"] != pytest.approx(unpaired, rel=0.01)


def test_one_episode_has_a_difference_without_an_error(tmp_path: Path, call: Call) -> None:
    out = tmp_path / "demos.hdf5"
    _, text, _ = call("demonstrate", "intersection", "--pairs", 5, "--out", out)
    assert len(load(out)) == 1
    assert re.search(r"the difference is [+-]\d+\.\d\d\.\n", text)


@pytest.mark.parametrize("command", [("demonstrate", "intersection"), ("demo",)])
@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--teacher", "guru"), "unknown teacher 'guru'; allowed: novice, typical, skilled, crowd"),
        (("--teacher", "novice", "--noise", "uniform"), "give a teacher, or a noise and a sigma"),
        (("--teacher", "novice", "--sigma", "0.5"), "give a teacher, or a noise and a sigma"),
        (("--noise", "pink"), "unknown noise 'pink'; allowed: uniform, gaussian, epsilon-greedy"),
    ],
)
def test_what_cannot_be_taught_is_refused_in_one_sentence(
    command: tuple[str, ...],
    options: tuple[str, ...],
    words: str,
    tmp_path: Path,
    call: Call,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    status, out, err = call(*command, *options)
    assert (status, out) == (1, "")
    assert words in err
    assert len(err.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_help_names_every_world_noise_and_teacher(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["demonstrate", "--help"])
    words = set(re.findall(r"[\w-]+", capsys.readouterr().out))
    assert {*WORLDS, *NOISES, *TEACHERS} <= words


def test_the_return_is_that_of_whole_episodes(tmp_path: Path, call_json: CallJson) -> None:
    out = tmp_path / "d.hdf5"
    payload = call_json("demonstrate", "cartpole", "--pairs", 300, "--out", out)
    assert (
        payload["mean_return"] == payload["expert_return"] == 200
    )  # nobody falls from gentle starts
    assert load(out).mean_return == 150  # of 200 and the 100 that were kept of the second


def test_without_a_terminal_lines_show_that_recording_continues(
    tmp_path: Path, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("counterbc.printing.LINE_EVERY", 0.001)
    status, _, err = call("demonstrate", "intersection", "--out", tmp_path / "demos.hdf5")
    assert status == 0
    assert "recording 400 pairs in intersection, about" in err
    assert "comparing the teacher's returns with the expert's, about" in err
