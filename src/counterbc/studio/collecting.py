"""One operator who demonstrates in one world: practice, then episodes, up to the protocol's limit.

A tick of the control loop takes the newest input as the action. What is recorded is the
observation from before the action, the action that the world took, and the times of both.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from counterbc.acting.clock import Clock
from counterbc.errors import FormatError, OptionError
from counterbc.files import reason
from counterbc.studio.control_loop import ControlLoop
from counterbc.studio.frames import Frame
from counterbc.studio.protocol import Plan
from counterbc.studio.recorder import Recorder, Timing
from counterbc.studio.stage import Outcome, Stage
from counterbc.studio.study_folder import StudyFolder

Phase = Literal["ready", "running", "paused", "finished"]
Mode = Literal["practice", "record"]
DEVICES = ("keyboard", "pointer", "gamepad")
_OLDEST = 10_000.0  # milliseconds; a larger latency is a wrong clock
_CLOCK_ERROR = 20.0  # milliseconds by which a page may take the server's clock for slower


@dataclass(frozen=True)
class Input:
    """What a device asks for, and when it did so on the clock of the server (None: unknown)."""

    action: tuple[float, ...]
    device: str
    at: float | None = None

    def latency(self, now: float) -> float | None:
        """Return the milliseconds since the input, or None if they cannot be known."""
        age = None if self.at is None else now * 1000 - self.at
        if age is None or not -_CLOCK_ERROR <= age <= _OLDEST:
            return None
        return round(max(age, 0.0), 3)


class Collecting:
    """The state of one operator's session; every method may be called from any thread."""

    def __init__(
        self, study: StudyFolder, plan: Plan, clock: Clock, *,
        send: Callable[[dict[str, Any]], None], draw: Callable[[Frame], None],
    ) -> None:  # fmt: skip
        self.plan, self.clock, self.send, self.draw = plan, clock, send, draw
        self.stage = Stage(plan.world, plan.protocol.episode_steps)
        self.rate = self.stage.world.rate * plan.speed
        self.recorder = Recorder(study, plan, send=send, on_error=self._disk_failed)
        self.mode: Mode = "practice"
        self.phase: Phase = "ready"
        self.reason = ""
        self.practised, self.step, self.total = 0.0, 0, 0.0
        self._input: Input | None = None
        self._is_fresh = False
        self._begun_at = 0.0
        self._lock = threading.RLock()
        self.stage.feasible(self.stage.low)  # the first call is slow
        self._loop = ControlLoop(self.rate, self._tick, clock, on_error=self._tick_failed)
        self._loop.start()

    # What the person does

    def give(self, new_input: Input) -> None:
        """Take an input; the next tick acts on the newest one."""
        if len(new_input.action) != len(self.stage.low):
            raise OptionError(
                f"the input has {len(new_input.action)} numbers; this world takes "
                f"{len(self.stage.low)}; reload the page"
            )
        self._input, self._is_fresh = new_input, True
        self.clock.notify()

    def start(self) -> None:
        """Start the next episode, or continue one that is paused."""
        with self._lock:
            if self.phase == "paused":
                self.phase, self.reason = "running", ""
            elif self.phase == "ready":
                self._begin()
            self.report()

    def pause(self, reason: str = "") -> None:
        """Stop the world where it is."""
        with self._lock:
            self._forget_input()
            if self.phase == "running":
                self.phase, self.reason = "paused", reason
            self.report()

    def record(self) -> None:
        """End the practice; the episodes that follow are recorded."""
        with self._lock:
            if self.mode == "practice":
                self._forget_input()
                self.mode, self.phase, self.reason = "record", "ready", ""
            self.report()

    def end(self, success: bool | None) -> None:
        """End the episode that runs, or mark the last one, as a success, a failure or neither."""
        with self._lock:
            if self.phase in ("running", "paused"):
                self._end("stopped", success)
            else:
                self.recorder.mark(success)
            self.report()

    def discard(self) -> None:
        """Discard the episode that runs, or the last one."""
        with self._lock:
            is_open = self.phase in ("running", "paused")
            is_empty = is_open and self.step == 0  # there is nothing to discard
            if is_open:
                self._end("stopped", None)
            if not is_empty and self.recorder.discard() and self.phase == "finished":
                self.phase = "ready" if self.recorder.error is None else "finished"
            self.report()

    def finish(self) -> None:
        """End the session; what was recorded stays."""
        with self._lock:
            if self.phase in ("running", "paused"):
                self._end("stopped", None)
            self.phase = "finished"
            self.report()

    def close(self, end: str = "interrupted") -> None:
        """End everything and wait until it is on the disk."""
        self._loop.stop()
        with self._lock:
            if self.phase in ("running", "paused"):
                self._end(end, None)
            self.phase = "finished"
        self.recorder.close()
        self.stage.close()

    # What the world does

    def _begin(self) -> None:
        seed = secrets.randbelow(2**31)
        self.stage.begin(seed)
        self._forget_input()
        self.step, self.total = 0, 0.0
        if self.mode == "record":
            self.recorder.begin(self.stage, seed, self.rate)
        self.phase, self.reason, self._begun_at = "running", "", self.clock.now()
        self._draw(None)

    def _forget_input(self) -> None:
        """Act as if nobody touched the device until it reports again."""
        self._input, self._is_fresh = None, False

    def _tick(self, now: float, late: float) -> None:
        with self._lock:
            is_behind = self.step == 0 and late > 1 / self.rate  # a start may take long
            if self.phase != "running" or now < self._begun_at or is_behind:
                return
            newest, is_fresh, self._is_fresh = self._input, self._is_fresh, False
            asked_action = self.stage.neutral() if newest is None else newest.action
            obs, action = self.stage.obs, self.stage.feasible(asked_action)
            outcome = self.stage.step(action)
            if self.mode == "record":
                latency = newest.latency(now) if newest is not None and is_fresh else None
                timing = Timing(now, late, latency, newest.device if newest else "none")
                self.recorder.step(obs, action, outcome.reward, timing)
            self.step, self.total = self.step + 1, self.total + outcome.reward
            self._draw(action.tolist())
            self._check_limits(outcome)

    def _check_limits(self, outcome: Outcome) -> None:
        protocol, recorder = self.plan.protocol, self.recorder
        is_full = False
        if self.mode == "practice":
            seconds_before = int(self.practised)
            self.practised += 1 / self.rate
            if protocol.practice is not None and self.practised >= protocol.practice:
                self.record()
                return
            if protocol.practice is not None and int(self.practised) > seconds_before:
                self.report()  # the page shows what is left
        elif protocol.pairs is not None:
            is_full = recorder.pairs_so_far >= protocol.pairs
        if outcome.over or is_full:
            share = outcome.measures.get("success")
            self._end("over" if outcome.over else "limit", None if share is None else share > 0)
            self.report()

    def _end(self, end: str, success: bool | None) -> None:
        """End the episode that runs; of practice nothing is kept."""
        self.phase, self.reason = "ready", ""
        if self.mode == "record":
            self.recorder.end(end, success)
            self.phase = "finished" if self.recorder.is_complete() else "ready"

    def _tick_failed(self, error: Exception) -> None:
        with self._lock:
            if self.phase in ("running", "paused"):
                self._end("interrupted", None)
            if self.phase == "ready":
                self.reason = "the world failed"
            text = (
                f"The episode was interrupted ({type(error).__name__}: {reason(error)}). What was "
                "recorded until then is kept; start the next episode."
            )
            self.send({"type": "problem", "text": text})
            self.report()

    def _disk_failed(self, error: FormatError) -> None:
        with self._lock:
            if self.phase in ("running", "paused"):
                self._end("interrupted", None)
            self.phase, self.reason = "finished", "the disk does not take the recording"
            text = f"Recording stopped: {error}. Finished episodes are on the disk."
            self.send({"type": "problem", "text": text})
            self.report()

    # What the page shows

    def _draw(self, action: list[float] | None) -> None:
        facts = {"total": self.total, "action": action, "seconds": self.step / self.rate}
        self.draw(Frame(self.step, self.stage.obs, facts))

    def show(self) -> None:
        """Send state and picture to a page that was loaded again."""
        with self._lock:
            self.report()
            if self.stage.obs.size:
                self._draw(None)

    def report(self) -> None:
        """Send the state of the session to the page."""
        with self._lock:  # never in the middle of a step
            protocol, recorder = self.plan.protocol, self.recorder
            practice = None if protocol.practice is None else protocol.practice - self.practised
            self.send({
                "type": "status", "mode": self.mode, "phase": self.phase, "reason": self.reason,
                "world": self.plan.world, "operator": self.plan.operator,
                "session": recorder.session, "rate": self.rate,
                "episodes": recorder.episodes, "pairs": recorder.pairs,
                "last": recorder.last, "success": recorder.last_success,
                "practice_left": None if practice is None else max(round(practice, 1), 0.0),
                "protocol": protocol.as_dict(),
            })  # fmt: skip
