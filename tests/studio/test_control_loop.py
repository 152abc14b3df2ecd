"""A control loop ticks at its rate, and does not make up for ticks that it missed."""

from __future__ import annotations

import threading

import pytest

from counterbc.acting.clock import WallClock
from counterbc.studio.control_loop import ControlLoop


class Script:
    """A clock that jumps to the due time, or to a scripted later one."""

    def __init__(self, delays: dict[int, float]) -> None:
        self.time, self.count, self.delays = 0.0, 0, delays

    def now(self) -> float:
        return self.time

    def wait_until(self, due: float) -> None:
        self.count += 1
        self.time = max(self.time, due) + self.delays.get(self.count, 0.0)

    def notify(self) -> None: ...


def fail(error: Exception) -> None:
    raise error


def ticks(delays: dict[int, float], count: int) -> list[tuple[float, float]]:
    times: list[tuple[float, float]] = []

    def tick(now: float, late: float) -> None:
        times.append((now, late))
        if len(times) == count:
            loop.stop()

    loop = ControlLoop(10, tick, Script(delays), on_error=fail)
    loop.run()
    return times


def test_ticks_come_at_the_rate_whatever_time_they_take() -> None:
    assert [t for t, _ in ticks({}, 4)] == pytest.approx([0.1, 0.2, 0.3, 0.4])


def test_a_small_delay_does_not_shift_later_ticks() -> None:
    times, late = zip(*ticks({2: 0.03}, 4), strict=True)
    assert times == pytest.approx((0.1, 0.23, 0.3, 0.4))
    assert late == pytest.approx((0, 0.03, 0, 0))


def test_missed_ticks_are_not_made_up_for() -> None:
    times, late = zip(*ticks({2: 0.55}, 4), strict=True)
    assert times == pytest.approx((0.1, 0.75, 0.85, 0.95))
    assert late == pytest.approx((0, 0.55, 0, 0))


def test_a_tick_that_fails_is_reported_and_the_loop_continues() -> None:
    count = [0]
    errors: list[Exception] = []

    def tick(now: float, late: float) -> None:
        count[0] += 1
        if count[0] == 3:
            loop.stop()
        raise RuntimeError(f"tick {count[0]}")

    loop = ControlLoop(10, tick, Script({}), on_error=errors.append)
    loop.run()
    assert [str(error) for error in errors] == ["tick 1", "tick 2", "tick 3"]


def test_the_clock_of_the_machine_waits_until_a_tick_is_due() -> None:
    clock, due = WallClock(), WallClock().now() + 0.02
    clock.wait_until(due)
    assert clock.now() >= due


def test_a_loop_can_be_stopped_from_another_thread() -> None:
    count, reached = [0], threading.Event()

    def tick(now: float, late: float) -> None:
        count[0] += 1
        if count[0] == 3:
            reached.set()

    loop = ControlLoop(200, tick, WallClock(), on_error=fail)
    loop.start()
    assert reached.wait(60)
    loop.stop()
    assert not loop.is_alive()
