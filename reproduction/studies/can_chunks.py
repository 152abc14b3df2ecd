"""Chunks and flow matching on Can, from the two worse synthetic operators.

`can-record` makes the demonstrations. What is tuned and reported is in `policy_choice.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from counterbc.data.demonstrations import Demonstrations
from counterbc.experiments.file_data import load_file
from reproduction.options import option
from reproduction.records import read_rows
from reproduction.studies import can, policy_choice
from reproduction.studies.policy_choice import PolicyChoice, PolicyChoiceOptions, run_choice

CHOICE = PolicyChoice(
    study="can-chunks", world=can.WORLD, measure="success", title="success (by seed)",
    steps=(5_000, 15_000),
)  # fmt: skip
KEY = policy_choice.KEY


@dataclass(frozen=True, kw_only=True)
class CanChunksOptions(PolicyChoiceOptions):
    """Compare policies of one action and of chunks on Can's worse operators."""

    data: Path = option(Path("can_synthetic_mh_300.hdf5"), "file of demonstrations")


def run(options: CanChunksOptions) -> None:
    """Compute the missing rows and print the table."""
    demos = demonstrations(options.data)
    run_choice(CHOICE, options, lambda seeds: demos)


def demonstrations(file: Path) -> Demonstrations:
    """Return what the two worse operators demonstrate, which all seeds learn from."""
    return can.WORSE.episodes(load_file(file, ()), 0)


def sections(results: Path) -> dict[str, dict[str, str]]:
    """Return the table and the sentence of the docs."""
    rows = read_rows(results / CHOICE.study)
    return {
        "can": {"chunks": policy_choice.markdown(CHOICE, rows)},
        "which-policy": {CHOICE.study: policy_choice.sentence(CHOICE, rows)},
    }
