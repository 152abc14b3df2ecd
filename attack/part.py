"""What a part of the attack provides: cases by name, a function that runs one, and limits."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from attack import causes
from attack.rows import Row

MAX_SENTENCE = 1500  # characters
_BAR = "━"  # of a bar of progress
_NO_MEMORY = re.compile(r"Unable to allocate|MemoryError|bad_alloc|malloc of size|out of memory")


@dataclass(frozen=True)
class Limits:
    """Bounds on one case. Processor time does not depend on what else the machine does."""

    cpu_seconds: float = 20.0
    clock_seconds: float = 300.0
    """For a case that waits, such as for a pipe; longer, since the machine may be busy."""
    memory: int = 2 * 2**30
    """Bytes of resident memory, Python and torch included."""


COMMAND_LIMITS = Limits(cpu_seconds=120.0, clock_seconds=1200.0)
"""Bounds on a case that runs whole commands, some of which train."""


@dataclass(frozen=True)
class Part:
    """A part of the attack."""

    name: str
    about: str
    """What a case is, in a few words."""
    cases: Callable[[int, int], list[str]]
    """Return the keys of `count` cases for a seed."""
    run: Callable[[str, Path], Row]
    """Run one case in an empty folder; the folder of bases is beside it."""
    quick: int
    """Cases of `make attack`."""
    full: int
    """Cases of `make attack-full`."""
    batch: int = 50
    """Cases per process."""
    limits: Limits = Limits()
    needs_bases: bool = True


def is_sentence(text: str) -> bool:
    """Return whether a message is one line of a readable length."""
    return "\n" not in text.strip() and len(text) < MAX_SENTENCE


def hides_memory(text: str) -> bool:
    """Return whether a message says that memory ran out, which a bound should have prevented."""
    return bool(_NO_MEMORY.search(text))


class Finding(Exception):
    """A promise that did not hold."""

    def __init__(self, outcome: str, cause: str, text: str = "") -> None:
        super().__init__(f"{outcome}: {cause}")
        self.outcome, self.cause, self.text = outcome, cause, text

    def row(self, key: str) -> Row:
        return Row(key, self.outcome, self.cause, self.text[-2500:])


def explain(err: str) -> str:
    """Return the last line of stderr, which must be one sentence, after warnings and bars."""
    lines = [line for line in err.splitlines() if line.strip()]
    if "Traceback (most recent call last)" in err:
        raise Finding("traceback", causes.of_traceback(err), err)
    if not lines or not lines[-1].startswith("error:"):
        raise Finding("bad message", f"no sentence: {(lines or [''])[-1][:60]}", err)
    if not is_sentence(lines[-1]):
        raise Finding("bad message", f"too long: {lines[-1][:60]}", err)
    others = [x for x in lines[:-1] if not x.startswith("warning:") and _BAR not in x]
    if others:
        raise Finding("bad message", f"more than a sentence: {others[0][:60]}", err)
    return lines[-1]
