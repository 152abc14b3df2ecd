"""Progress bars of a training."""

from __future__ import annotations

import time
from typing import Any, Protocol

from rich.progress import BarColumn, MofNCompleteColumn, TimeRemainingColumn
from rich.progress import Progress as Bars
from torch import Tensor

from counterbc.printing import console, printable, text_column
from counterbc.training.session import duration

LINE_EVERY = 10.0
"""Seconds between two lines of progress where there is no terminal."""


class Progress(Protocol):
    """A display of how far a training is."""

    def start(self, step: int, total: int, kernel: str) -> None: ...

    def update(self, step: float, loss: Tensor) -> None:
        """Show a step, or a part of one, and its loss of each network: (N,); N is 0 for work
        without a loss."""

    def stop(self) -> None: ...


class Quiet:
    """A progress that is not displayed."""

    def start(self, step: int, total: int, kernel: str) -> None: ...

    def update(self, step: float, loss: Tensor) -> None: ...

    def stop(self) -> None: ...


def bars() -> Bars:
    """Return bars on stderr, each with steps, loss and time left."""
    columns: tuple[Any, ...] = (
        text_column("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        text_column("loss {task.fields[loss]}"),
        TimeRemainingColumn(),
    )
    return Bars(*columns, console=console(stderr=True))


def loss_text(loss: Tensor) -> str:
    """Return the mean loss of the networks that have not diverged; … if there is none."""
    if not len(loss):
        return "…"
    finite = loss[loss.isfinite()]
    return f"{float(finite.mean()):.3f}" if len(finite) else "not finite"


class Bar:
    """A bar for each of one or several trainings; where there is no terminal, lines of text."""

    def __init__(self, title: str) -> None:
        self.bars, self.title, self.shown_at, self.is_running = bars(), title, 0.0, False

    def start(self, step: int, total: int, kernel: str) -> None:
        self.bars, self.shown_at, self.is_running = bars(), time.monotonic(), True
        if self._is_terminal:
            self.bars.start()
        title = f"{self.title} ({kernel})"
        self.task = self.bars.add_task(printable(title), total=total, completed=step, loss="…")

    def update(self, step: float, loss: Tensor) -> None:
        self.bars.update(self.task, completed=step, loss=loss_text(loss))
        if not self._is_terminal and time.monotonic() - self.shown_at >= LINE_EVERY:
            self._print_line()

    def stop(self) -> None:
        if self._is_terminal:
            self.bars.stop()
        elif self.is_running:
            self._print_line()
        self.is_running = False

    def announce(self, text: str) -> None:
        """Print a line above the bar."""
        self.bars.console.print(printable(text), soft_wrap=True)

    @property
    def _is_terminal(self) -> bool:
        return self.bars.console.is_terminal

    def _print_line(self) -> None:
        self.shown_at, task = time.monotonic(), self.bars.tasks[-1]
        total = task.total or 0
        seconds = task.time_remaining if task.completed < total else None
        left = "" if seconds is None else f", {duration(seconds)} left"
        steps, loss = f"{int(task.completed):,} of {total:,.0f}", task.fields["loss"]
        self.announce(f"{task.description}: {steps}, loss {loss}{left}")
