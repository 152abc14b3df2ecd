"""Errors and warnings: one sentence each, which ends with the next step."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class CounterBCError(Exception):
    """Base of every error raised on purpose; the command line prints it and exits with 1."""


class DataError(CounterBCError):
    """Demonstrations with wrong lengths, shapes or values."""


class FormatError(CounterBCError):
    """A file or folder that cannot be read or written."""


class OptionError(CounterBCError):
    """A name or number outside what is allowed."""


class SlowWork(CounterBCError):
    """Work that would take long, and that nobody agreed to wait for."""


class MissingExtra(CounterBCError):
    """An optional library that is not installed."""

    def __init__(self, library: str, extra: str, purpose: str) -> None:
        super().__init__(
            f"{purpose} needs {library}, which is not installed; "
            f"install it with: pip install 'counterbc[{extra}]'"
        )


class InfeasibleActions(UserWarning):
    """Recorded actions that lie outside the declared bounds; training continues."""


class UncensoredActions(UserWarning):
    """Actions that were cut at a bound and cannot be treated as censored."""


class CannotTell(UserWarning):
    """Data in which nothing tells a good demonstration from a bad one; they are used as asked."""


class DominatedValues(UserWarning):
    """Dimensions in which one value or an offset hides all others; training continues."""


class AbsentEpisodes(UserWarning):
    """Masks that name episodes which are not in the file; these are ignored."""


class StoppedTraining(UserWarning):
    """A run whose training was stopped, and which is used as it is."""


class NotKept(UserWarning):
    """A search that could not be written to disk, and cannot be resumed; it continues."""


class SlowSimulator(UserWarning):
    """A world that runs in the slower of its simulators."""


class SpinningThreads(UserWarning):
    """Threads of torch that spin as they wait, on a busy machine; training continues."""


class Diverged(UserWarning):
    """Members of a population whose loss is no longer finite."""


def unknown(kind: str, name: object, names: Iterable[str]) -> OptionError:
    """Return the error for a name that is not one of `names`, with the nearest of them."""
    allowed = list(names)
    nearest = get_close_matches(str(name), allowed, 1)
    hint = f"; did you mean {nearest[0]}?" if nearest else ""
    if "," in str(name) and set(str(name).split(",")) <= set(allowed):
        hint = f"; separate names by spaces: {' '.join(str(name).split(','))}"
    return OptionError(f"unknown {kind} {str(name)!r}; allowed: {', '.join(allowed)}{hint}")
