"""The recorder of one session: journals step by step, demonstrations after each episode."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from counterbc.data.arrays import Array
from counterbc.errors import FormatError
from counterbc.studio.dataset_writer import WRITER
from counterbc.studio.journal import JournalWriter
from counterbc.studio.protocol import Plan
from counterbc.studio.stage import Stage
from counterbc.studio.study_folder import StudyFolder


@dataclass(frozen=True)
class Timing:
    """When a step was taken, how late that was (seconds), and the age of a new input in ms."""

    now: float
    late: float
    latency: float | None
    device: str


class Recorder:
    """Counts and stores the episodes of one session.

    The journal is opened with the first episode, so that practice leaves no trace. Nothing is
    written by the thread that calls: disks can be slow.
    """

    def __init__(
        self, study: StudyFolder, plan: Plan, *,
        send: Callable[[dict[str, Any]], None], on_error: Callable[[FormatError], None],
        write: Callable[[StudyFolder, str], Path | None] = WRITER.write,
    ) -> None:  # fmt: skip
        self._write_dataset = write
        self.study, self.plan, self.send, self.on_error = study, plan, send, on_error
        self.session: str | None = None
        self.journal: JournalWriter | None = None
        self.episodes, self.pairs = 0, 0
        self.last: int | None = None
        """The number of the last episode in the journal, until it is discarded."""
        self.last_success: bool | None = None
        self._number, self._steps, self._last_steps, self._started_at = -1, 0, 0, 0.0
        self._files = ThreadPoolExecutor(1, "dataset")
        self._writing: Future[None] | None = None

    def begin(self, stage: Stage, seed: int, rate: float) -> None:
        """Start the journal of an episode."""
        if self.journal is None:
            self.session = self.study.new_session(self.plan.world)
            self.journal = JournalWriter(self.study.journal(self.session), self.on_error)
        self._number, self._steps = self._number + 1, 0
        plan, is_image = self.plan, stage.obs.ndim > 1
        self._line({
            "session": self.session, "episode": self._number, "world": plan.world,
            "operator": plan.operator, "consent": plan.consent, "protocol": plan.protocol_name,
            "speed": plan.speed, "rate": rate, "format": plan.format, "seed": seed,
            "started": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "image": list(stage.obs.shape) if is_image else None,
            "dataset": stage.description(),
        })  # fmt: skip

    def step(self, obs: Array, action: Array, reward: float, timing: Timing) -> None:
        """Record one pair: the observation before the action, and the action that was taken."""
        assert self.journal is not None
        if self._steps == 0:
            self._started_at = timing.now
        is_image = obs.ndim > 1
        if is_image:
            self.journal.frame(self._number, obs)
        self._line({
            "obs": None if is_image else obs.tolist(), "action": action.tolist(),
            "reward": float(np.float32(reward)), "time": round(timing.now - self._started_at, 6),
            "late": round(timing.late, 6), "latency": timing.latency, "device": timing.device,
        })  # fmt: skip
        self._steps += 1

    def end(self, end: str, success: bool | None) -> None:
        """End the episode; one without a step does not count."""
        self._line({"end": end, "success": success})
        if self._steps:
            self.last, self.last_success, self._last_steps = self._number, success, self._steps
            self.episodes, self.pairs = self.episodes + 1, self.pairs + self._steps
            self._steps = 0
        self._write()

    def mark(self, success: bool | None) -> None:
        """Mark the last episode as a success, a failure or neither."""
        if self.last is not None:
            self.last_success = success
            self._line({"success": success}, self.last)
            self._write()

    def discard(self) -> bool:
        """Discard the last episode; return whether there was one."""
        if self.last is None:
            return False
        self._line({"discard": True}, self.last)
        self.episodes, self.pairs = self.episodes - 1, self.pairs - self._last_steps
        self.last = None
        self._write()
        return True

    @property
    def error(self) -> FormatError | None:
        """Why nothing more is written, or None."""
        return None if self.journal is None else self.journal.error

    @property
    def pairs_so_far(self) -> int:
        """The pairs of all episodes, that of the running one included."""
        return self.pairs + self._steps

    def is_complete(self) -> bool:
        """Return whether the protocol asks for no more."""
        protocol = self.plan.protocol
        enough = protocol.episodes is not None and self.episodes >= protocol.episodes
        return enough or (protocol.pairs is not None and self.pairs >= protocol.pairs)

    def wait(self) -> None:
        """Wait until the demonstrations of the last episode are written."""
        if self._writing is not None:
            self._writing.result()

    def close(self) -> None:
        """Wait until everything is on the disk."""
        self._files.shutdown(wait=True)
        if self.journal is not None:
            self.journal.close()

    def _line(self, content: dict[str, Any], episode: int | None = None) -> None:
        assert self.journal is not None
        self.journal.line(self._number if episode is None else episode, content)

    def _write(self) -> None:
        """Write the demonstrations again, in a thread of their own.

        A write that waits for one before it will read this change too.
        """
        last = self._writing
        is_waiting = last is not None and not (last.running() or last.done())
        if self.session is not None and not is_waiting:
            self._writing = self._files.submit(self._write_now, self.session)

    def _write_now(self, session: str) -> None:
        try:
            assert self.journal is not None
            self.journal.flush()
            path = self._write_dataset(self.study, session)
            name = None if path is None else path.name
            self.send({"type": "saved", "dataset": name, "session": session})
        except FormatError as error:
            text = f"The demonstrations could not be written: {error}. The journal is kept."
            self.send({"type": "problem", "text": text})
