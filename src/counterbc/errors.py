"""What the library says when it cannot go on: one sentence each, and the next step in it."""

from __future__ import annotations

from collections.abc import Iterable


class CounterBCError(Exception):
    """Base of every error raised on purpose; the command line prints it and exits with 1."""


class DataError(CounterBCError):
    """Demonstrations that are not what they claim to be: lengths, shapes, values."""


class FormatError(CounterBCError):
    """A file or folder that cannot be read as what it should be."""


class OptionError(CounterBCError):
    """A name or number outside what is allowed."""


class MissingExtra(CounterBCError):
    """An optional library that is not installed."""

    def __init__(self, library: str, extra: str, purpose: str) -> None:
        super().__init__(
            f"{purpose} needs {library}, which is not installed; "
            f"install it with: pip install 'counterbc[{extra}]'"
        )


class InfeasibleActions(UserWarning):
    """Recorded actions lie outside the declared bounds; training goes on."""


class AbsentEpisodes(UserWarning):
    """Masks of a file name episodes that it does not hold; they are passed over."""


class SlowSimulator(UserWarning):
    """A world runs in the slower one of its simulators."""


class Diverged(UserWarning):
    """Members of a population whose loss is no longer finite."""


def unknown(what: str, got: object, allowed: Iterable[str]) -> OptionError:
    """The error for a name that is not in a list of names."""
    return OptionError(f"unknown {what} {str(got)!r}; allowed: {', '.join(allowed)}")
