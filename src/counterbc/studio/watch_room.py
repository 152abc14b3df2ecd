"""Watch: the messages of a page on which policies act, are corrected, and learn more."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from counterbc.errors import OptionError
from counterbc.studio.job import Job
from counterbc.studio.messages import (
    Message,
    read_choice,
    read_listed,
    read_name,
    read_names,
    read_whole,
)
from counterbc.studio.steered_room import Handlers, SteeredRoom, read_input
from counterbc.studio.train_job import METHODS_OFFERED, first_work, train_policies
from counterbc.studio.watching import Watching

PANELS = 4
"""Policies side by side, at most."""


class WatchRoom(SteeredRoom):
    """What one person watches."""

    watching: Watching | None = None
    job: Job | None = None
    news: dict[str, Any] | None = None
    """What was said last about the training, for a page that did not hear it."""

    @property
    def is_busy(self) -> bool:
        """Whether a training runs, which continues when the page is gone."""
        return self.job is not None and self.job.is_running

    @property
    def handlers(self) -> Handlers:
        """The messages that are answered."""
        return {
            "watch.list": self.list_runs,
            "watch.state": self.state,
            "watch.open": self.open,
            "watch.do": self.do,
            "watch.take": self.take,
            "watch.train": self.train,
            "watch.stop": self.stop,
        }

    def list_runs(self, message: Message) -> dict[str, Any]:
        """Return the runs that can be watched, and the datasets that can be trained on."""
        runs, datasets = self.study.list_runs(), self.study.list_datasets()
        return {
            "runs": list(runs),
            "runs_unlisted": runs.unlisted,
            "datasets": list(datasets),
            "datasets_unlisted": datasets.unlisted,
            "methods": METHODS_OFFERED,
            "training": self.news,
        }

    def state(self, message: Message) -> dict[str, Any]:
        """Say whether runs are open, for a page that was loaded or connected again."""
        if self.watching is None:
            return {"open": False}
        self.watching.show()
        return {"open": True, "world": self.watching.world}

    def open(self, message: Message) -> dict[str, Any]:
        """Load runs and put them side by side."""
        names = read_names(message, "runs", PANELS)
        if not names:
            raise OptionError("no run is chosen; tick one to four of them")
        runs = self.study.list_runs()
        paths = [read_listed({"run": name}, "run", runs) for name in names]
        watching = Watching(
            self.study, dict(zip(names, paths, strict=True)), self.make_clock(),
            send=self.person.send, draw=self.person.draw,
        )  # fmt: skip
        self._close_watching()  # only now: what is open stays if the runs cannot be loaded
        self.watching = watching
        watching.report()
        return {"world": watching.world}

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
        watching.give(read_input(message, len(watching.panels[0].stage.low)))

    def train(self, message: Message) -> dict[str, Any]:
        """Train a policy on datasets of the study, or continue with a run."""
        if self.is_busy:
            raise OptionError("a training is running; stop it, or wait for it")
        listed_datasets = self.study.list_datasets()
        datasets = [
            read_listed({"dataset": name}, "dataset", listed_datasets)
            for name in read_names(message, "datasets", 50)
        ]
        if not datasets:
            raise OptionError("no dataset is chosen; tick what to learn from")
        start = None
        if message.get("run") is not None:
            start = read_listed(message, "run", self.study.list_runs())
        method = read_choice(message, "method", METHODS_OFFERED)
        out = self.study.new_path(f"runs/{method if start is None else f'{start.name}-more'}")
        name = f"runs/{out.name}"
        arguments = {
            "datasets": datasets, "start": start, "out": out, "method": method,
            "steps": read_whole(message, "steps", 1, 100_000),
        }  # fmt: skip
        self._tell("progress", name=name, share=0.0, work=first_work(method, start), note="")
        self.job = Job(
            train_policies, arguments,
            done=lambda text: self._tell("done", name=name, text=text),
            failed=lambda text: self._tell("failed", text=text),
            progress=lambda news: self._tell("progress", name=name, **news),
        )  # fmt: skip
        return {"name": name}

    def stop(self, message: Message) -> None:
        """Stop the training."""
        if self.job is not None and self.job.is_running:
            self.job.stop()
            self._tell("failed", text="the training was stopped")

    def _tell(self, what: str, **facts: Any) -> None:
        self.news = {"state": what, **facts}
        self.person.send({"type": "watch.training", **self.news})

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
