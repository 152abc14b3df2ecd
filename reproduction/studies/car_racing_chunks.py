"""Chunks and flow matching in Car Racing, from frames.

Each seed records whole episodes of a teacher, since chunks need actions that follow each other.
The policy `chunk` reads no images. What is tuned and reported is in `policy_choice.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from counterbc.data.demonstrations import Demonstrations
from counterbc.demonstrators import demonstrate, find_teacher
from reproduction.options import option
from reproduction.records import read_rows
from reproduction.studies import policy_choice
from reproduction.studies.car_racing import WORLD
from reproduction.studies.policy_choice import PolicyChoice, PolicyChoiceOptions, run_choice

TEACHER = "quick-typical"
CHOICE = PolicyChoice(
    study="car-racing-chunks", world=WORLD, measure="lap", title="track visited (by seed)",
    steps=(2_000, 8_000),
    variants=(policy_choice.BASELINE, "chunk of the Gaussian", "flow"),
    settings={"batch": 64},
)  # fmt: skip
KEY = policy_choice.KEY


@dataclass(frozen=True, kw_only=True)
class CarRacingChunksOptions(PolicyChoiceOptions):
    """Compare policies of one action and of chunks that read frames."""

    pairs: int = 4000
    episodes: int = 20
    choice_episodes: int = option(5, "episodes of each run that the choice is made on")


def run(options: CarRacingChunksOptions) -> None:
    """Compute the missing rows and print the table."""
    run_choice(CHOICE, options, lambda seeds: [record(seed, options.pairs) for seed in seeds])


@cache
def record(seed: int, pairs: int) -> Demonstrations:
    """Return what the teacher demonstrates with this seed."""
    teacher = find_teacher(TEACHER, None, None, world=WORLD)
    return demonstrate(WORLD, teacher, pairs, seed)


def sections(results: Path) -> dict[str, dict[str, str]]:
    """Return the table and the sentence of the docs."""
    rows = read_rows(results / CHOICE.study)
    return {
        "car-racing": {"chunks": policy_choice.markdown(CHOICE, rows)},
        "which-policy": {CHOICE.study: policy_choice.sentence(CHOICE, rows)},
    }
