"""What is registered through the Python API is on the command line without further edits."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

import counterbc as cb

PROGRAM = '''
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import counterbc as cb
from counterbc.cli import main


@dataclass(frozen=True)
class HalfWeight(cb.Uniform):
    """Every pair counts half."""

    def weights(self, params, batch, log_pi):
        return 0.5 * super().weights(params, batch, log_pi)


@dataclass(frozen=True)
class SmallMLP(cb.GaussianMLP):
    """A small network."""

    hidden: tuple[int, ...] = (4,)


@dataclass(frozen=True)
class Pill(cb.Box):
    """A box by another name."""


class Lines:
    """A text file whose lines are one number for the state and one for the action."""

    def recognizes(self, path):
        return path.is_file() and path.read_text().startswith("lines")

    def stream(self, path, obs):
        rows = np.loadtxt(path, skiprows=1, dtype=np.float32)
        episodes = [cb.RawEpisode(rows[i::2, :1], rows[i::2, 1:], name=f"e{i}") for i in range(2)]
        return cb.Stream(cb.Header(source=str(path)), iter(episodes))


cb.METHODS["half-bc"] = cb.Method(support=cb.Ball(), weighting=HalfWeight())
cb.POLICIES["small-mlp"] = SmallMLP
cb.SUPPORTS["pill"] = Pill
cb.FORMATS["lines"] = cb.Format(Lines(), content="a text file that begins with lines")
sys.exit(main(sys.argv[1:]))
'''


def command(*words: str | Path) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-c", PROGRAM, *map(str, words)]
    return subprocess.run(line, capture_output=True, text=True)


@pytest.fixture
def demos(tmp_path: Path) -> Path:
    path = tmp_path / "demos.txt"
    rows = [f"{x / 20:.3f} {(x * 7 % 20) / 20 - 0.5:.3f}" for x in range(20)]
    path.write_text("\n".join(["lines", *rows]) + "\n")
    return path


@pytest.mark.slow
def test_a_new_method_policy_support_and_format_train_from_the_command_line(
    demos: Path, tmp_path: Path
) -> None:
    result = command(
        "train", demos, "--method", "half-bc", "--policy", "small-mlp", "--shape", "pill",
        "--radius", "0.1", "--steps", "5", "--out", tmp_path / "run", "--json",
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    payload = json.loads(result.stdout)
    assert payload["method"] == "half-bc"
    assert (payload["settings"]["policy"], payload["settings"]["shape"]) == ("small-mlp", "pill")
    config = json.loads((tmp_path / "run" / "config.json").read_text())
    assert config["policy"]["hidden"] == [4]


def test_the_help_lists_the_new_names() -> None:
    result = command("train", "--help")
    for name in ("half-bc", "small-mlp", "pill", "lines"):
        assert name in result.stdout
    assert "lines" in command("inspect", "--help").stdout


@pytest.mark.slow
def test_the_new_format_is_detected_and_can_be_named(demos: Path) -> None:
    for options in ((), ("--format", "lines")):
        result = command("inspect", demos, "--json", *options)
        assert json.loads(result.stdout)["pairs"] == 20


NEW_SETTING = '''
import sys
from dataclasses import asdict, dataclass

import counterbc.settings as library


@dataclass(frozen=True)
class Settings(library.Settings):
    """How to train, with one more field."""

    slowdown: float = 1.0
    """What the learning rate is divided by."""

    def rate(self, policy):
        return super().rate(policy) / self.slowdown


for name, preset in library.PRESETS.items():
    library.PRESETS[name] = Settings(**asdict(preset))
library.PRESETS["paper"] = Settings(slowdown=8)
library.Settings = Settings

from counterbc.cli import main

if __name__ == "__main__":
    sys.exit(main())
'''
"""Stands in for editing the library: the field of the subclass is the one a contributor adds."""


@pytest.mark.slow
def test_a_new_setting_is_an_option_with_its_help_and_reaches_the_training(
    demo_file: Path, tmp_path: Path
) -> None:
    program = tmp_path / "program.py"
    program.write_text(NEW_SETTING)

    def run(name: str, *options: str) -> tuple[dict[str, Any], dict[str, torch.Tensor]]:
        line = [
            program,
            "train",
            demo_file,
            "--method",
            "bc",
            "--steps",
            20,
            "--out",
            tmp_path / name,
        ]
        subprocess.run([sys.executable, *map(str, line), *options], check=True, capture_output=True)
        policies = cb.Policies.load(tmp_path / name)
        return policies.config["settings"], policies.params

    line = [sys.executable, str(program), "train", "--help"]
    text = subprocess.run(line, capture_output=True, text=True).stdout.replace("│", " ")
    words = "--slowdown FLOAT What the learning rate is divided by. (default: 1; paper: 8)"
    assert words in " ".join(text.split())
    settings, params = run("slow", "--slowdown", "4")
    assert settings["slowdown"] == 4
    rate = cb.METHODS["bc"].policy.learning_rate / 4
    _, same_rate = run("rate", "--learning-rate", str(rate))
    _, fast = run("fast")
    for key, value in params.items():
        torch.testing.assert_close(value, same_rate[key], rtol=1e-6, atol=0)
        assert not torch.allclose(value, fast[key], rtol=1e-3)
