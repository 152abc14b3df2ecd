"""Text for terminals and values for JSON: names from files are text, never commands or markup."""

from __future__ import annotations

import math
import threading
import time
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import Progress, ProgressColumn, SpinnerColumn, Task, TextColumn

LINE_EVERY = 10.0
"""Seconds between two lines of progress where there is no terminal."""
_UNITS = ((86400.0, "day"), (3600.0, "hour"), (60.0, "minute"), (1.0, "second"))
_LONGEST = 1000  # characters of a sentence; a file may have a name that fills the screen


def without_nan(value: Any) -> Any:
    """Return the value with None for NaN and infinity, which JSON does not have."""
    if isinstance(value, dict):
        return {k: without_nan(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [without_nan(v) for v in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def printable(text: str) -> str:
    """Return text with control characters written out, such as \\x1b, except for line breaks.

    A terminal would obey them. Lone surrogates, which stand for bytes that are not UTF-8, are
    written out too.
    """
    if text.isprintable():
        return text
    return "".join(c if c == "\n" or _is_harmless(c) else _written_out(c) for c in text)


def sentence(text: str) -> str:
    """Return printable text on one line, cut to a readable length."""
    line = printable(text).replace("\n", "\\n")
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}…"


def console(*, stderr: bool = False, width: int | None = None) -> Console:
    """Return a console to which text is text: square brackets and colons are no markup."""
    return Console(stderr=stderr, width=width, markup=False, emoji=False, highlight=False)


def text_column(template: str) -> TextColumn:
    """Return a column of a progress bar in which names are text."""
    return TextColumn(template, markup=False)


def duration(seconds: float) -> str:
    """Return a number of seconds in words, with two digits at most."""
    size, unit = next((x for x in _UNITS if seconds >= 2 * x[0]), _UNITS[-1])
    count = float(f"{seconds / size:.2g}") if seconds >= 1 else round(seconds, 1)
    return f"about {count:g} {unit}{'' if count == 1 else 's'}"


def time_left(task: Task) -> str:
    """Return how long a task will take, as the end of a line; empty where that is unknown."""
    seconds = task.time_remaining if task.completed < (task.total or 0) else None
    return "" if seconds is None else f", {duration(seconds)} left"


class WorkBars(Progress):
    """Progress bars on stderr; where that is no terminal, lines of text.

    A thread prints the lines, so that they appear during a single long step as well.
    """

    def __init__(
        self,
        *columns: ProgressColumn,
        line: Callable[[Task], str],
        is_shown: bool = True,
        is_transient: bool = False,
    ) -> None:
        """`line` describes a task where there is no terminal; an empty text is not printed."""
        super().__init__(
            *columns, console=console(stderr=True), transient=is_transient, disable=not is_shown
        )
        self.line, self.is_over = line, threading.Event()
        self.thread: threading.Thread | None = None
        self.shown_at = 0.0

    def start(self) -> None:
        """Show the bars, or begin to print lines."""
        if self.disable or self.console.is_terminal:
            super().start()
        elif self.thread is None:
            self.shown_at = time.monotonic()
            self.is_over.clear()
            self.thread = threading.Thread(target=self._print_often, daemon=True)
            self.thread.start()

    def stop(self) -> None:
        """Show nothing more."""
        super().stop() if self.disable or self.console.is_terminal else self.is_over.set()
        self.thread = None

    def print_lines(self) -> None:
        """Print a line about each task that is not finished."""
        self.shown_at = time.monotonic()
        for text in (self.line(task) for task in self.tasks if not task.finished):
            if text:
                self.say(text)

    def say(self, text: str) -> None:
        """Print a line, above the bars if there are some."""
        self.console.print(printable(text), soft_wrap=True)

    def _print_often(self) -> None:
        while not self.is_over.wait(max(0.0, self.shown_at + LINE_EVERY - time.monotonic())):
            self.print_lines()


@contextmanager
def stage(title: str) -> Iterator[None]:
    """Show that work without a bar is under way, by a spinner or by lines."""
    columns = (SpinnerColumn(), text_column("{task.description}"))

    def line(task: Task) -> str:
        return f"{task.description}, {duration(task.elapsed or 0.0)} so far"

    with WorkBars(*columns, line=line, is_transient=True) as bars:
        bars.add_task(printable(title), total=None)
        yield


def _is_harmless(character: str) -> bool:
    return unicodedata.category(character) not in ("Cc", "Cf", "Cs")


def _written_out(character: str) -> str:
    return "    " if character == "\t" else character.encode("unicode_escape").decode()
