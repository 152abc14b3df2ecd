"""How far a study is: cells that are finished and running, and how long the others will take."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol

from rich.progress import BarColumn, ProgressColumn, Task
from rich.text import Text

from counterbc.experiments.cell import Cell
from counterbc.printing import WorkBars, duration, text_column
from counterbc.training.session import current_session

NAME_COUNT = 2
"""Running cells that a line names; the others are counted."""
LONG = 60.0
"""Seconds of a job beside which imports and compiling, 5 to 20 seconds, are little."""


class Job(Protocol):
    """Cells that are computed together, or one of them alone."""

    @property
    def name(self) -> str: ...

    @property
    def stack(self) -> Sequence[Cell]: ...


class Forecast:
    """How long jobs take, from the work of their cells and the seconds of those that ended.

    Workers take the jobs in their order, so the first ones that have not ended are running.
    """

    def __init__(
        self, works: Mapping[str, float], workers: int | None, clock: Callable[[], float]
    ) -> None:
        """`works` are approximate seconds of the unfinished cells, by name; `workers` is the number
        of jobs that run at a time, None where it is unknown."""
        self.works, self.workers, self.clock = works, workers, clock
        self.began, self.jobs = clock(), dict[str, list[str]]()
        self.starts: dict[str, float] = {}
        """When each job began that is running; without a number of workers, of all jobs."""
        self.first = set[str]()
        """The first job of each worker, which includes imports and compiling."""
        self.samples: list[tuple[float, float, bool]] = []
        """Work and seconds of each job that was computed here, and whether it was a first one."""

    def begin(self, jobs: Sequence[Job]) -> None:
        """Begin to run these jobs, in this order."""
        is_first, self.starts = not self.jobs and not self.first, {}
        self.jobs = {job.name: [cell.name for cell in job.stack] for job in jobs}
        self._start()
        self.first |= set(self.starts) if is_first else set()

    def end(self, name: str, computed_cells: Sequence[str]) -> None:
        """Count a job that ended and the cells that it computed here; then the next one runs."""
        del self.jobs[name]
        start, others = self.starts.pop(name, None), set(self.starts)
        work, is_first = self._work(computed_cells), name in self.first
        if work and start is not None:
            self.samples.append((work, self.clock() - start, is_first))
        self._start()
        if is_first and not work:  # the worker's next job is the one that imports and compiles
            self.first |= set(self.starts) - others

    def _start(self) -> None:
        for name in list(self.jobs)[: self.workers]:
            self.starts.setdefault(name, self.clock())

    def _work(self, names: Iterable[str]) -> float:
        return sum(self.works.get(name, 0.0) for name in names)

    def running(self) -> list[str]:
        """Return the names of the jobs that are running; none where that is unknown."""
        return [] if self.workers is None else list(self.starts)

    def seconds_left(self, names: Sequence[str]) -> float | None:
        """Return how long the missing cells will take; None before that is known.

        A worker's first job counts only if it was long, and while nothing else is known. Cells of
        no job are computed elsewhere, by one worker as far as is known here.
        """
        if self.workers is None:
            work = sum(work for work, _, _ in self.samples)
            return (self.clock() - self.began) * self._work(names) / work if work else None
        samples = [sample for sample in self.samples if not sample[2]]
        samples = samples or [sample for sample in self.samples if sample[1] >= LONG]
        if not samples:
            return None
        rate = sum(seconds for _, seconds, _ in samples) / sum(work for work, _, _ in samples)
        missing_names, times = set(names), [0.0]
        for name, cells in self.jobs.items():
            elapsed = self.clock() - self.starts.get(name, self.clock())
            times.append(max(rate * self._work(missing_names.intersection(cells)) - elapsed, 0.0))
        elsewhere = missing_names.difference(*self.jobs.values())
        return max(sum(times) / self.workers, *times, rate * self._work(elsewhere))


class StudyProgress(WorkBars):
    """A bar on stderr with the cells that are finished; where that is no terminal, lines of text.

    What is finished is read from the folder, so cells that other processes finish count as well.
    """

    def __init__(
        self, total: int, list_missing: Callable[[], Sequence[Cell]], workers: int | None
    ) -> None:
        """`list_missing` returns which of `total` cells are unfinished; `workers` is the number of
        jobs that run at a time, None where it is unknown."""
        columns: tuple[Any, ...] = (
            text_column("{task.description}"), BarColumn(), _TimeLeft(self._time_left),
        )  # fmt: skip
        super().__init__(*columns, line=self._line)
        cells = list_missing()
        self.total, self.list_missing = total, list_missing
        self.names = [cell.name for cell in cells]
        self.forecast = Forecast({c.name: c.work for c in cells}, workers, time.monotonic)
        self.session, self.lock = current_session(), threading.Lock()
        self.work = sum(self.forecast.works.values())
        self.task = self.add_task("", total=self.work)
        self._refresh()

    def begin(self, jobs: Sequence[Job]) -> None:
        """Show that these jobs run, in this order."""
        with self.lock:
            self.forecast.begin(jobs)

    def end(self, name: str, computed_cells: Sequence[str]) -> None:
        """Show that a job ended, and announce how long the others take if that was not known."""
        with self.lock:
            self.forecast.end(name, computed_cells)
        self._refresh()
        with self.lock:
            seconds = self.forecast.seconds_left(self.names)
        if seconds is not None and (text := self.session.announcement(seconds)):
            self.say(f"{text} Ctrl-C keeps finished cells, and the same command continues.")

    def stop(self) -> None:
        super().stop()
        if not self.console.is_terminal:
            self._refresh()
            self.say(self.tasks[self.task].description)

    def _refresh(self) -> None:
        """Read which cells are finished."""
        self.names = [cell.name for cell in self.list_missing()]
        work_left = sum(self.forecast.works.get(name, 0.0) for name in self.names)
        text = f"{self.total - len(self.names):,} of {self.total:,} cells"
        self.update(self.task, completed=self.work - work_left, description=text)

    def _line(self, task: Task) -> str:
        self._refresh()
        with self.lock:
            names = self.forecast.running()
        text = f"{task.description}{self._time_left()}"
        if not names:
            return text
        rest = f" and {len(names) - NAME_COUNT} more" if len(names) > NAME_COUNT else ""
        return f"{text}; running: {', '.join(names[:NAME_COUNT])}{rest}"

    def _time_left(self) -> str:
        """Return how long the missing cells will take, or, before that is known, took so far."""
        with self.lock:
            seconds = self.forecast.seconds_left(self.names)
            elapsed = self.forecast.clock() - self.forecast.began
        so_far = f", {duration(elapsed)} so far"
        return so_far if seconds is None else f", {duration(seconds)} left"


class _TimeLeft(ProgressColumn):
    """A column with the time that is left."""

    def __init__(self, text: Callable[[], str]) -> None:
        super().__init__()
        self.text = text

    def render(self, task: Task) -> Text:
        return Text(self.text().removeprefix(", "))
