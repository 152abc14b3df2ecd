"""What all trainings of a command share: who agrees to long ones, and where they are kept."""

from __future__ import annotations

import math
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path

from counterbc.errors import SlowWork
from counterbc.printing import duration

LIMIT = 20 * 60.0
"""Seconds of work without a GPU beyond which a command asks whether to continue."""
_WORTH_SAYING = 30.0  # seconds
_WRONG = 1.5  # times as much work left as the last estimate said, beyond which another is printed


@dataclass
class Session:
    """The trainings of one command, or of one call of the library."""

    limit: float = math.inf
    """Seconds of work without a GPU beyond which `ask` decides."""
    ask: Callable[[str], bool] = lambda text: True
    """Gets a sentence about long work; returns whether to continue."""
    quicker: Callable[[float], str] = lambda step_seconds: "give fewer steps"
    """Gets the seconds of a step of one network; returns what would take less time."""
    smaller_data: str = ""
    """The option that makes the data smaller, such as the size of large images; empty where there
    is none."""
    kept: Path | None = None
    """The folder in which searches that are stopped are kept; None keeps none."""
    populations: set[Path] = field(default_factory=set)
    """The folders in `kept` that this session uses."""
    announced_end: float | None = None
    """When the work ends by the last estimate that was printed, in seconds of `time.monotonic`."""
    leaves_out: str = ""
    """What comes after the work that estimates count, such as testing policies."""
    is_agreed: bool = False
    """Whether somebody agreed to wait."""
    timed: float = 0.0
    """Seconds for a state of the work that comes after a training, measured in a moment of it; 0
    where a state takes as long as in that training."""
    mean_action_errors: list[float] = field(default_factory=list)
    """What always taking the mean learned action errs on held-out pairs, for each member of the
    last training; empty without held-out pairs."""
    seconds_per_state: float = 0.0
    """What the last training took for a state, on average; on a CPU without the turns of other
    programs, so that methods can be compared after a moment of work."""

    def announcement(self, seconds: float) -> str:
        """Return what to print about the work left; empty where it is short, or about as long as
        was announced."""
        left = 0.0 if self.announced_end is None else self.announced_end - time.monotonic()
        if seconds < max(_WORTH_SAYING, _WRONG * left):
            return ""
        revised = "" if self.announced_end is None else ", longer than announced"
        self._announce_end(seconds)
        return (
            f"Estimated time left at the present load{self._without}: {duration(seconds)}{revised}."
        )

    @property
    def _without(self) -> str:
        return f", without {self.leaves_out}" if self.leaves_out else ""

    def begin(self, leaves_out: str) -> None:
        """Begin a part of the work, after which comes what estimates leave out."""
        self.announced_end, self.leaves_out = None, leaves_out

    def _announce_end(self, seconds: float) -> None:
        self.announced_end = time.monotonic() + seconds

    def needs_agreement(self, seconds: float, is_gpu: bool) -> bool:
        """Return whether the work left is so long that somebody must agree to it."""
        return seconds > self.limit and not is_gpu and not self.is_agreed

    def agree(self, seconds: float, step_seconds: float) -> None:
        """Ask whether to continue; raise a `SlowWork` if not."""
        amount = f"{duration(seconds)} at the present load{self._without}"
        advice = self.quicker(step_seconds)
        if self.smaller_data:
            advice = f"{self.smaller_data}, {advice}"
        if not self.ask(f"This takes {amount} without a GPU. Quicker: {advice}."):
            raise SlowWork(
                f"this would take {amount} without a GPU; quicker: {advice}; add --yes to continue"
            )
        self.is_agreed = True
        self._announce_end(seconds)

    def forget_searches(self) -> None:
        """Delete what was kept of searches, which are finished."""
        for folder in self.populations:
            shutil.rmtree(folder, ignore_errors=True)
        if self.kept is not None and self.populations:
            with suppress(OSError):  # not empty: another search, or a file of somebody else
                self.kept.rmdir()
        self.populations.clear()


_session: ContextVar[Session | None] = ContextVar("session", default=None)


def current_session() -> Session:
    """Return the session that this call belongs to, or one of its own."""
    return _session.get() or Session()


@contextmanager
def use_session(session: Session) -> Iterator[Session]:
    """Let all trainings of a block belong to a session; forget its searches at the end."""
    token = _session.set(session)
    try:
        yield session
        session.forget_searches()
    finally:
        _session.reset(token)


@contextmanager
def some_session(kept: Path | None) -> Iterator[Session]:
    """Use the session that this call belongs to, or one of its own that keeps searches there."""
    session = _session.get()
    if session is not None:
        yield session
        return
    with use_session(Session(kept=kept)) as session:
        yield session


def search_folder(out: Path | None) -> Path:
    """Return where the search of a command is kept: beside what it writes, or in this folder."""
    return Path("counterbc.search") if out is None else out.with_name(f"{out.name}.search")
