"""Records the six synthetic operators of the world `can`.

About 65,000 steps of 4 ms on one core. The file depends on the simulator's arithmetic alone, not on
the number of cores. A summary, the lengths of each operator's demonstrations, is written beside it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import track

import counterbc as cb
from counterbc.demonstrators import (
    CAN_OPERATORS,
    CanOperator,
    Control,
    Demonstrator,
    EpisodeBatch,
    record,
)
from counterbc.demonstrators.can_operators import Performance, control_of
from counterbc.files import check_free
from reproduction.options import option
from reproduction.records import computed_with, write
from reproduction.studies.can_file import join

Array = NDArray[Any]
ATTEMPTS = 50


@dataclass(frozen=True, kw_only=True)
class CanRecordOptions:
    """Record demonstrations of Can's synthetic operators."""

    out: Path = option(Path("can_synthetic_mh_300.hdf5"), "file to write")
    each: int = option(50, "demonstrations of each operator")


def run(options: CanRecordOptions) -> None:
    """Record, write the file and print a summary."""
    check_free(options.out)
    operators = track(CAN_OPERATORS.values(), "operators", console=Console(stderr=True))
    demos = join({person.name: perform(person, options.each) for person in operators})
    demos.save(options.out)
    rows = summary(demos)
    write([row | computed_with("cpu") for row in rows], options.out.with_suffix(".json"))
    print(json.dumps(rows, indent=1))


@dataclass(frozen=True, eq=False)
class Attempts(Demonstrator):
    """Attempts of an operator at some demonstrations of the file.

    Seed and start of each are functions of operator, demonstration and attempt alone. They differ
    from those of `counterbc demonstrate`, so that the file stays the one of the results.
    """

    person: CanOperator
    number: Array
    """(N,), of each demonstration."""
    attempt: int

    world: ClassVar[str | None] = "can"

    @property
    def seeds(self) -> list[list[int]]:
        index = list(CAN_OPERATORS).index(self.person.name)
        return [[index, number, self.attempt] for number in self.number.tolist()]

    @property
    def starts(self) -> list[int]:
        """The simulator's seeds."""
        states = (np.random.SeedSequence(s).generate_state(1, np.uint64) for s in self.seeds)
        return [int(state[0]) for state in states]

    def control(self, batch: EpisodeBatch) -> Control:
        return control_of([Performance(self.person, self.seeds[k]) for k in batch.number])

    def operator(self, number: int) -> str:
        return self.person.name


def perform(person: CanOperator, each: int) -> list[cb.Episode]:
    """Record an operator's demonstrations: of each, the first attempt that succeeds."""
    successes: dict[int, cb.Episode] = {}
    for attempt in range(ATTEMPTS):
        missing = np.array([k for k in range(each) if k not in successes])
        if not len(missing):
            return [successes[k] for k in range(each)]
        attempts = Attempts(person, missing, attempt)
        takes = record("can", attempts, len(missing), seed=0, starts=attempts.starts)
        for number, take in zip(missing.tolist(), takes, strict=True):
            if take.episode.reward is not None and take.episode.reward[-1] > 0:
                successes[number] = replace(take.episode, success=True)
    raise RuntimeError(f"{person} failed {ATTEMPTS} times at a demonstration")


def summary(demos: cb.Demonstrations) -> list[dict[str, Any]]:
    """Return a row per operator, and one for all."""
    rows = []
    for name in (*CAN_OPERATORS, "all"):
        lengths = [len(e) for e in demos.episodes if name in (e.operator, "all")]
        row = {"operator": name, "demonstrations": len(lengths), "pairs": sum(lengths)}
        row |= {"mean": round(float(np.mean(lengths)), 1)}
        row |= {"shortest": min(lengths), "longest": max(lengths)}
        rows.append(row)
    return rows
