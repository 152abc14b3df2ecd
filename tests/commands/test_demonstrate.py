"""counterbc demonstrate, with teachers by name, which counterbc demo takes too."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from counterbc.cli import main
from counterbc.demonstrators import NOISES, TEACHERS
from counterbc.envs import WORLDS
from counterbc.formats import load

Call = Callable[..., tuple[int, str, str]]
CallJson = Callable[..., dict[str, Any]]


@pytest.mark.parametrize(("teacher", "operators"), [("typical", 1), ("crowd", 20)])
def test_demonstrate_counts_the_operators_and_gives_both_returns(
    teacher: str, operators: int, tmp_path: Path, call: Call, call_json: CallJson
) -> None:
    out = tmp_path / "demos.hdf5"
    answer = call_json("demonstrate", "intersection", "--teacher", teacher, "--out", out)
    assert answer["operators"] == operators
    assert len(load(out).operators) == (20 if teacher == "crowd" else 0)
    assert answer["mean_return"] == pytest.approx(load(out).mean_return)
    _, text, _ = call("demonstrate", "intersection", "--teacher", teacher, "--out", f"{out}2")
    line = next(x for x in text.splitlines() if x.startswith("Mean return"))
    assert re.match(rf"Mean return of whole episodes by {operators} operators?:", line)
    assert f"{answer['mean_return']:.2f}" in line
    assert f"{answer['expert_return']:.2f}" in line


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
