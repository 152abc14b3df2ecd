"""The loop that drives an arm: observe, ask the policy, limit, command, log; at a fixed rate.

The arm stands still in every tick that has a fault. It stands within two periods after

    the last picture of a lost camera   a picture older than `oldest` is a fault at the next tick
    a stalled policy                    the answer has to come within `budget` of the same period
    a number that is not finite         found in the tick that it comes in

A tick that takes more than a period commands nothing, and so does one whose command comes more
than two periods after the last one, when the arm has stopped by itself. After that, and after a
stop by the watchdog, the arm speeds up from 0 again.

A run ends after `patience` faulty ticks, in a row or among the last twice as many, and at once
after a fault that does not pass by itself. Nothing starts it again but a person.
"""

from __future__ import annotations

import gc
import math
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from counterbc.acting.clock import Clock, Ticks, VirtualClock, WallClock
from counterbc.data.arrays import Array
from counterbc.errors import OptionError
from counterbc.files import reason
from counterbc.robots.decider import Decider, Decision
from counterbc.robots.emergency_stop import EmergencyStop
from counterbc.robots.faults import LATE, STILL, FaultCount, decision_fault, reading_fault
from counterbc.robots.limits import Limiter
from counterbc.robots.motion_check import EXPIRY, MotionCheck
from counterbc.robots.robot import Reading, Robot
from counterbc.robots.stop_signals import INTERRUPTED, stopped_by_signals
from counterbc.robots.summary import summarize, trained_lag
from counterbc.robots.tick_log import Tick, TickLog
from counterbc.robots.watchdog import Watchdog

FINISHED = "finished"
STOPS = 5
"""Calls of `stop` at the end of a run before the arm counts as not stopped."""


@dataclass(frozen=True, kw_only=True)
class LoopSettings:
    """The numbers of the loop."""

    rate: float = 20.0
    """Ticks per second; that of the demonstrations."""
    scale: float = 1.0
    """Speed in m/s that an action of 1 stands for."""
    budget: float = 0.6
    """Share of a period within which the policy has to answer."""
    oldest: float = 0.9
    """Periods after which a picture or position is too old; the arm stops at the next tick, so
    below 1 within two periods of the last picture. From 1 on there is a warning."""
    patience: int = 10
    """Faulty ticks, in a row or among the last twice as many, after which the run ends; the arm
    stands in each of them."""

    def __post_init__(self) -> None:
        for name in ("rate", "scale", "oldest", "patience"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value > 0):
                raise OptionError(f"the loop's {name} is {value}; give a number above 0")
        if not 0 < self.budget < 1:
            raise OptionError(f"the policy's budget is {self.budget} periods; give 0 to 1")

    @property
    def warnings(self) -> list[str]:
        """What these numbers give up of what the loop promises."""
        if self.oldest < 1:
            return []
        return [
            f"pictures and positions may be {self.oldest:g} periods old, so a lost camera does not "
            "stop the arm within two periods; give --oldest below 1"
        ]


class Loop:
    """Runs of an arm, one after the other."""

    def __init__(
        self, robot: Robot, policy: Decider, log: TickLog, *,
        settings: LoopSettings | None = None, clock: Clock | None = None,
        stop: EmergencyStop | None = None,
    ) -> None:  # fmt: skip
        self.robot, self.policy, self.log = robot, policy, log
        self.settings = settings or LoopSettings()
        self.clock, self.stop = clock or WallClock(), stop or EmergencyStop()
        self.period = 1 / self.settings.rate
        self._prepare()

    def run(self, seconds: float, is_over: Callable[[], bool] = lambda: False) -> dict[str, Any]:
        """Drive the arm for some seconds, or until it is stopped; return the summary."""
        with stopped_by_signals(self.stop) as is_last_stop_over:
            self._prepare()
            with ExitStack() as stack:
                if not isinstance(self.clock, VirtualClock):  # time passes by itself
                    gc.collect()
                    gc.freeze()  # what exists now is not searched again, which takes milliseconds
                    stack.callback(gc.unfreeze)
                    self.watchdog.start()
                    stack.callback(self.watchdog.close)
                stack.enter_context(self.stop.stopping(self.robot.stop))
                try:
                    self._run(seconds, is_over)
                except KeyboardInterrupt:
                    with suppress(KeyboardInterrupt):  # one more of them; the arm is stopped again
                        self.stop.press(INTERRUPTED)
                except Exception as error:  # drivers raise what they like
                    self.stop.press(f"the arm or its log failed: {reason(error)}")
                finally:
                    self._is_stopped = self._stop_at_end()
                    is_last_stop_over.set()
            return self._finish()

    def _prepare(self) -> None:
        """Forget the last run; only the emergency stop stays."""
        actions, axes = self.policy.action_size, len(self.robot.limits.low)
        if actions != axes:
            raise OptionError(
                f"the policy gives {actions} number{'s' * (actions != 1)}, the arm moves along "
                f"{axes} axes; give a policy that was trained on this arm's actions"
            )
        self.limiter = Limiter(self.robot.limits, self.period)
        self.motion = MotionCheck(self.period, axes)
        self.watchdog = Watchdog(self.settings.rate, self.clock, self.robot.stop)
        self.fault_count = FaultCount(self.settings.patience)
        self._expiries = 0
        self._sent_at: float | None = None
        self._expires_at = math.inf
        """When the arm stops by itself, because no command followed."""
        self._is_stopped = False
        self._failures: list[str] = []
        self._logged = len(self.log.ticks)

    def _run(self, seconds: float, is_over: Callable[[], bool]) -> None:
        ticks = Ticks(self.settings.rate, self.clock)
        self.start = ticks.due
        number = 0
        while not self.stop.is_pressed and not is_over():
            if (time := self._wait(ticks, seconds)) is None:
                return
            self._watch()
            self._tick(number, *time)
            number += 1

    def _wait(self, ticks: Ticks, seconds: float) -> tuple[float, float] | None:
        """Wait for the next tick; return its time and how late it is, None at the end of a run."""
        now, late = ticks.wait()
        is_past = now - late - self.start > seconds + self.period / 2
        return None if is_past or self.stop.is_pressed else (now, late)

    def _watch(self) -> None:
        """Feed the watchdog; after a stop by it, speed up from 0."""
        self.watchdog.check()  # its thread may not have run, as in a process that was frozen
        self.watchdog.feed()
        if self.watchdog.expiries != self._expiries:
            self._expiries = self.watchdog.expiries
            self.limiter.halt()
            self._expires_at = math.inf
        if self.watchdog.error is not None:
            self.stop.press(f"the watchdog could not stop the arm: {reason(self.watchdog.error)}")

    def _tick(self, number: int, now: float, late: float) -> None:
        reading = self.robot.observe()
        seen_at = answered_at = self.clock.now()
        fault = reading_fault(reading, seen_at, self.settings.oldest * self.period)
        if reading is not None and not fault and self.motion.is_still(reading.position, seen_at):
            fault = STILL
        decision = None
        if reading is not None and not fault:
            until = now + self.settings.budget * self.period
            self.policy.ask(number, reading.obs, number == 0 or self.fault_count.in_row > 0)
            decision = self.policy.answer(number, until)
            answered_at = self.clock.now()
            fault = decision_fault(decision, self.policy.is_running)
        fault = fault or self._lateness(now)
        velocity = self._command(reading, decision, fault, answered_at)
        fault = fault or self._lateness(now)
        if self.stop.is_pressed or fault:  # also where that happened while the command was sent
            self.robot.stop()
            velocity = self.limiter.halt()
        sent = self.clock.now()
        expiry = EXPIRY * self.period if velocity.any() else math.inf
        self._expires_at = answered_at + expiry  # the arm may have counted from then on
        self._count(fault)
        jitter = 0.0 if self._sent_at is None else abs(sent - self._sent_at - self.period)
        self._sent_at = sent
        self.motion.add(velocity, sent)
        self.log.add(
            Tick(
                tick=number,
                due=now - late - self.start,
                late=late,
                age=None if reading is None else seen_at - reading.time,
                inference=None if decision is None else decision.seconds,
                round_trip=None if decision is None else answered_at - seen_at,
                latency=None if reading is None or fault else sent - reading.time,
                sent=sent - self.start,
                jitter=jitter,
                missed=int((sent - (now - late)) / self.period),
                action=None if decision is None else tuple(decision.action.tolist()),
                velocity=tuple(velocity.tolist()),
                position=None if reading is None else tuple(reading.position.tolist()),
                fault=fault or self.stop.reason,
            )
        )

    def _command(
        self, reading: Reading | None, decision: Decision | None, fault: str, now: float
    ) -> Array:
        """Send the limited velocity to the arm, if nothing speaks against it."""
        if reading is None or decision is None or fault or self.stop.is_pressed:
            return self.limiter.halt()
        wanted = np.asarray(decision.action, np.float64) * self.settings.scale
        age = max(now - reading.oldest_time, 0.0)
        velocity = self.limiter.limit(wanted, reading.position, age)
        self.robot.command(velocity)
        return velocity

    def _lateness(self, start: float) -> str:
        """Return a fault if a tick that began at a time is too late for a command."""
        now = self.clock.now()
        has_expired = self.watchdog.expiries != self._expiries or self.watchdog.acting > 0
        is_late = now - start > self.period or now > self._expires_at
        return LATE if has_expired or is_late else ""

    def _count(self, fault: str) -> None:
        """End the run after a fault that does not pass, or that comes back again and again."""
        if ending := self.fault_count.add(fault):
            self.stop.press(ending)

    def _stop_at_end(self) -> bool:
        """Stop the arm, several times if that fails; return whether a call of `stop` returned.

        A signal may interrupt a call that would have stopped the arm, so it is made once more.
        """
        for attempt in range(1, STOPS + 1):
            try:
                self.robot.stop()
                return True
            except (Exception, KeyboardInterrupt) as error:  # drivers raise what they like
                if attempt == STOPS:
                    self._failures.append(f"the arm could not be stopped: {reason(error)}")
        return False

    def _finish(self) -> dict[str, Any]:
        summary = summarize(self.log.ticks[self._logged :])
        summary |= {
            "ended": "; ".join([self.stop.reason or FINISHED, *self._failures]),
            "is_stopped": self._is_stopped,
            "watchdog_stops": self.watchdog.expiries,
            "warnings": self.settings.warnings,
            "trained_lag": trained_lag(self.policy.about, self.settings.rate),
        }
        self._try("the log could not be finished", lambda: self.log.finish(summary))
        summary["ended"] = "; ".join([self.stop.reason or FINISHED, *self._failures])
        return summary

    def _try(self, failure: str, act: Callable[[], None]) -> None:
        """Do something at the end of a run; an error of it must not hide why the run ended."""
        try:
            act()
        except (Exception, KeyboardInterrupt) as error:  # drivers raise what they like
            self._failures.append(f"{failure}: {reason(error)}")
