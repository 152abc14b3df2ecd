"""Progress bars of a training."""

from __future__ import annotations

from typing import Any, Protocol

from rich.progress import BarColumn, MofNCompleteColumn, TimeRemainingColumn
from rich.progress import Progress as Bars
from torch import Tensor

from counterbc.printing import console, printable, text_column


class Progress(Protocol):
    """A display of how far a training is."""

    def start(self, step: int, total: int, kernel: str) -> None: ...

    def update(self, step: int, loss: Tensor) -> None:
        """Show a step and its loss of each network: (N,); N is 0 for work without a loss."""

    def stop(self) -> None: ...


class Quiet:
    """A progress that is not displayed."""

    def start(self, step: int, total: int, kernel: str) -> None: ...

    def update(self, step: int, loss: Tensor) -> None: ...

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
    """A bar for each of one or several trainings."""

    def __init__(self, title: str) -> None:
        self.bars, self.title = bars(), title

    def start(self, step: int, total: int, kernel: str) -> None:
        self.bars = bars()
        self.bars.start()
        title = f"{self.title} ({kernel})"
        self.task = self.bars.add_task(printable(title), total=total, completed=step, loss="…")

    def update(self, step: int, loss: Tensor) -> None:
        self.bars.update(self.task, completed=step, loss=loss_text(loss))

    def stop(self) -> None:
        self.bars.stop()
