"""Watch: the messages of a page on which policies act, are corrected, and learn more."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from counterbc.errors import OptionError
from counterbc.studio.collecting import DEVICES, Input
from counterbc.studio.control_loop import Clock, WallClock
from counterbc.studio.job import Job
from counterbc.studio.messages import (
    Message,
    read_choice,
    read_name,
    read_names,
    read_number,
    read_vector,
    read_whole,
)
from counterbc.studio.person import Person
from counterbc.studio.study_folder import StudyFolder
from counterbc.studio.train_job import METHODS_OFFERED, train_policies
from counterbc.studio.watching import Watching

PANELS = 4
"""Policies side by side, at most."""


class WatchRoom:
    """What one person watches."""

    def __init__(
        self, study: StudyFolder, person: Person, make_clock: Callable[[], Clock] = WallClock
    ) -> None:
        self.study, self.person, self.make_clock = study, person, make_clock
        self.watching: Watching | None = None
        self.job: Job | None = None
        self.handlers: dict[str, Callable[[Message], dict[str, Any] | None]] = {
            "watch.list": self.list_runs,
            "watch.open": self.open,
            "watch.do": self.do,
            "watch.take": self.take,
            "watch.train": self.train,
            "watch.stop": self.stop,
        }

    def list_runs(self, message: Message) -> dict[str, Any]:
        """Return the runs that can be watched, and the datasets that can be trained on."""
        return {
            "runs": list(self.study.list_runs()),
            "datasets": list(self.study.list_datasets()),
            "methods": METHODS_OFFERED,
        }

    def open(self, message: Message) -> dict[str, Any]:
        """Load runs and put them side by side."""
        names = read_names(message, "runs", PANELS)
        if not names:
            raise OptionError("no run is chosen; tick one to four of them")
        paths = _chosen_paths(self.study.list_runs(), names, "run")
        self._close_watching()
        self.watching = Watching(
            self.study, dict(zip(names, paths, strict=True)), self.make_clock(),
            send=self.person.send, draw=self.person.draw,
        )  # fmt: skip
        self.watching.report()
        return {"world": self.watching.world}

    def do(self, message: Message) -> None:
        """Start, pause, or release the controls."""
        watching = self._open()
        actions: dict[str, Callable[[], None]] = {
            "start": watching.start,
            "same": lambda: watching.start(watching.seed),
            "pause": watching.pause,
            "release": watching.release,
        }
        actions[read_choice(message, "do", tuple(actions))]()

    def take(self, message: Message) -> None:
        """Take a panel over."""
        index = read_whole(message, "panel", 0, PANELS - 1)
        self._open().take_over(index, read_name(message, "operator"))

    def give(self, message: Message) -> None:
        """Take an input of a device; without panels it is nothing."""
        if (watching := self.watching) is None:
            return
        size = len(watching.panels[0].stage.low)
        at = message.get("at")
        known_at = None if at is None else read_number(message, "at", 0.0, 2.0**53)
        device = read_choice(message, "device", DEVICES)
        watching.give(Input(tuple(read_vector(message, "action", size)), device, known_at))

    def train(self, message: Message) -> dict[str, Any]:
        """Train a policy on datasets of the study, or continue with a run."""
        if self.job is not None and self.job.is_running:
            raise OptionError("a training is running; stop it, or wait for it")
        datasets = _chosen_paths(
            self.study.list_datasets(), read_names(message, "datasets", 50), "dataset"
        )
        if not datasets:
            raise OptionError("no dataset is chosen; tick what to learn from")
        start = None
        if (run := message.get("run")) is not None:
            (start,) = _chosen_paths(self.study.list_runs(), read_names({"r": [run]}, "r"), "run")
        method = read_choice(message, "method", METHODS_OFFERED)
        out = self._new_run(method if start is None else f"{start.name}-more")
        arguments = {
            "datasets": datasets, "start": start, "out": out, "method": method,
            "steps": read_whole(message, "steps", 1, 100_000),
        }  # fmt: skip
        self.job = Job(
            train_policies, arguments,
            done=lambda text: self._tell("done", name=f"runs/{out.name}", text=text),
            failed=lambda text: self._tell("failed", text=text),
            progress=lambda share: self._tell("progress", share=share),
        )  # fmt: skip
        return {"name": f"runs/{out.name}"}

    def stop(self, message: Message) -> None:
        """Stop the training."""
        if self.job is not None:
            self.job.stop()
            self._tell("failed", text="the training was stopped")

    def _tell(self, what: str, **facts: Any) -> None:
        self.person.send({"type": "watch.training", "state": what, **facts})

    def _new_run(self, stem: str) -> Path:
        """Return a folder for a run that does not exist yet."""
        number, path = 1, self.study.inside(f"runs/{stem}")
        while path.exists():
            number += 1
            path = self.study.inside(f"runs/{stem}-{number}")
        return path

    def _open(self) -> Watching:
        if self.watching is None:
            raise OptionError("no run is open; choose one first")
        return self.watching

    def leave(self) -> None:
        """Stop the worlds, and keep the correction; a training continues."""
        if self.watching is not None:
            self.watching.release()
            if self.watching.is_running:
                self.watching.pause()

    def close(self) -> None:
        """Stop everything."""
        self._close_watching()
        if self.job is not None:
            self.job.stop()

    def _close_watching(self) -> None:
        if self.watching is not None:
            self.watching.close()
            self.watching = None


def _chosen_paths(listed_paths: dict[str, Path], names: list[str], noun: str) -> list[Path]:
    """Return the paths of names on a list."""
    for name in names:
        if name not in listed_paths:
            raise OptionError(f"{name!r:.100} is not a {noun} of this study; choose a listed one")
    return [listed_paths[name] for name in names]
