"""Progress bars of a training."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeAlias

from rich.progress import BarColumn, MofNCompleteColumn, Task, TimeRemainingColumn
from torch import Tensor

from counterbc.printing import WorkBars, printable, text_column, time_left


class Progress(Protocol):
    """A display of how far a training is."""

    def start(self, step: int, total: int, kernel: str) -> None: ...

    def update(self, step: float, loss: Tensor) -> None:
        """Show a step, or a part of one, and its loss of each network: (N,); N is 0 for work
        without a loss."""

    def announce(self, text: str) -> None:
        """Print a line beside the display."""

    def stop(self) -> None: ...


class Quiet:
    """A progress that is not displayed."""

    def start(self, step: int, total: int, kernel: str) -> None: ...

    def update(self, step: float, loss: Tensor) -> None: ...

    def announce(self, text: str) -> None: ...

    def stop(self) -> None: ...


def bars() -> WorkBars:
    """Return bars on stderr, each with steps, loss and time left."""
    columns: tuple[Any, ...] = (
        text_column("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        text_column("loss {task.fields[loss]}"),
        TimeRemainingColumn(),
    )
    return WorkBars(*columns, line=progress_line)


def progress_line(task: Task) -> str:
    """Return steps, loss and time left as a line; nothing for a task that has not begun."""
    if task.total is None:
        return ""
    steps = f"{int(task.completed):,} of {task.total:,.0f}"
    return f"{task.description}: {steps}, loss {task.fields['loss']}{time_left(task)}"


def loss_text(loss: Tensor) -> str:
    """Return the mean loss of the networks that have not diverged; … if there is none."""
    if not len(loss):
        return "…"
    finite = loss[loss.isfinite()]
    return f"{float(finite.mean()):.3f}" if len(finite) else "not finite"


class Bar:
    """A bar for each of one or several trainings; where there is no terminal, lines of text."""

    def __init__(self, title: str) -> None:
        self.bars, self.title, self.is_running = bars(), title, False

    def start(self, step: int, total: int, kernel: str) -> None:
        self.bars, self.is_running = bars(), True
        title = f"{self.title} ({kernel})"
        self.task = self.bars.add_task(printable(title), total=total, completed=step, loss="…")
        self.bars.start()

    def update(self, step: float, loss: Tensor) -> None:
        self.bars.update(self.task, completed=step, loss=loss_text(loss))

    def stop(self) -> None:
        self.bars.stop()
        if self.is_running and not self.bars.console.is_terminal:
            self.announce(progress_line(self.bars.tasks[-1]))
        self.is_running = False

    def announce(self, text: str) -> None:
        """Print a line above the bar."""
        self.bars.say(text)


Displays: TypeAlias = Callable[[str], Progress]
"""Makes the display of a phase, such as "choosing" or "training bc"."""


def displays_of(progress: bool | Progress | Displays) -> Displays:
    """Return what makes the display of each phase: bars, nothing, or what was given."""
    if progress is True:
        return Bar
    if progress is False:
        return lambda phase: Quiet()
    if callable(progress):
        return progress
    return lambda phase: progress
