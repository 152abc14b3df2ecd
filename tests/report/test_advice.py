"""What to do next can be pasted."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from counterbc.cli import parse
from counterbc.commands import Command
from counterbc.commands.clean import Clean
from counterbc.commands.intents import IntentsCommand
from counterbc.commands.score import ScoreCommand
from counterbc.commands.train import Train
from counterbc.diagnosis.intents import Intents
from counterbc.formats.lerobot.episode_list import episodes_option
from counterbc.report import Findings, ReportOptions, find
from counterbc.report.advice import Inputs, Step, advice, last_commands
from counterbc.report.findings import Source
from counterbc.selection.held_out import HeldOut

ODD = Path("my demos.hdf5")


@pytest.fixture(scope="module")
def findings(make_demos: Any) -> Findings:
    demos = make_demos(episodes=8)
    return find(
        [replace(demos.subset(range(5)), source="a"), replace(demos.subset([5, 6, 7]), source="b")],
        ReportOptions(radius=0.25, held_out=HeldOut(repeats=1, steps=20), intents=False),
    )


def with_outliers(findings: Findings) -> Findings:
    """Return findings in which an episode of each file stands out."""
    return replace(findings, outliers=(2, 6))


def parse_steps(steps: Sequence[Step]) -> list[Command]:
    """Every line that is a command, read as the command line reads it."""
    lines = [line for step in steps for line in step.commands if line.startswith("counterbc ")]
    return [parse(shlex.split(line)[1:]) for line in lines]


def test_every_line_is_a_command_that_we_have(findings: Findings) -> None:
    inputs = Inputs((ODD,), ("robomimic",), ("--obs", "state", "--obs", "goal"))
    one_source = replace(with_outliers(findings), sources=(Source("a", tuple(map(str, range(8)))),))
    commands = parse_steps(advice(one_source, inputs))
    assert [type(c).__name__ for c in commands] == ["Train", "ScoreCommand", "Train", "Clean"]
    without, score, train, clean = commands
    assert isinstance(without, Train)
    names = (one_source.demos.episodes[2].name, one_source.demos.episodes[6].name)
    assert (without.demos, without.exclude, without.obs) == ((ODD,), names, ("state", "goal"))
    assert isinstance(score, ScoreCommand)
    assert (score.demos, score.worst, score.radius) == ((ODD,), None, 0.25)
    assert score.write_mask == "good"
    assert score.given_options("held_out") == {"steps": 20, "repeats": 1}
    assert isinstance(train, Train)
    assert train.obs == ("state", "goal")
    assert train.given_options("settings") == {"radius": 0.25}
    assert isinstance(clean, Clean)
    assert clean.copy == Path("my demos-meant.hdf5")


@pytest.mark.parametrize("format", ["robomimic", "npz", "lerobot"])
def test_the_last_line_trains_without_the_outliers(findings: Findings, format: str) -> None:
    one_source = replace(with_outliers(findings), sources=(Source("a", tuple(map(str, range(8)))),))
    steps = advice(one_source, Inputs((ODD,), (format,)))
    (line,) = last_commands(steps)
    cleaning = next(step for step in steps if step.title == "Or use another trainer")
    assert "an estimate of the one that was meant" in cleaning.why
    assert "not always better" in cleaning.why
    train = parse(shlex.split(line)[1:])
    assert isinstance(train, Train)
    assert train.exclude == tuple(one_source.demos.episodes[i].name for i in (2, 6))


def test_excluded_episodes_are_numbered_within_their_files(findings: Findings) -> None:
    outlier_findings = with_outliers(findings)
    inputs = Inputs((Path("a"), Path("b")), ("lerobot", "lerobot"))
    (step,) = [s for s in advice(outlier_findings, inputs) if s.title.startswith("Exclude")]
    options = [c for c in step.commands if c.startswith("--dataset")]
    counts = [len(source.episodes) for source in outlier_findings.sources]
    assert options == [episodes_option(n, [i]) for n, i in zip(counts, (2, 1), strict=True)]
    (train,) = parse_steps([step])
    assert isinstance(train, Train)
    names = [outlier_findings.demos.episodes[i].name for i in outlier_findings.outliers]
    assert train.exclude == tuple(names)
    chosen_inputs = replace(inputs, is_all=False)
    steps = advice(outlier_findings, chosen_inputs)
    assert not any("--dataset" in command for s in steps for command in s.commands)


def test_several_goals_are_kept_apart_before_anything_is_trained(findings: Findings) -> None:
    names = tuple(e.name for e in findings.demos.episodes)
    two = Intents(names, np.eye(2)[np.arange(8) % 2], {})
    inputs = Inputs((ODD,), ("npz",), ("--angle", "state[1]"))
    commands = parse_steps(advice(replace(findings, intents=two), inputs))
    first = commands[0]
    assert isinstance(first, IntentsCommand)
    assert first.angle == ("state[1]",)
    assert first.condition
    trained_files = [c.demos for c in commands if isinstance(c, Train)]
    assert trained_files == [(Path("my demos-goals.hdf5"),)]


def test_no_radius_means_plain_bc_and_nothing_to_clean(make_demos: Any) -> None:
    bare = find(
        [make_demos()], ReportOptions(radius=0.0, intents=False, held_out=HeldOut(steps=400))
    )
    (train,) = parse_steps(advice(bare, Inputs((ODD,), ("robomimic",))))
    assert isinstance(train, Train)
    assert train.method == "bc"
