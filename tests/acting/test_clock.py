"""Deadlines keep their phase, and missed ones are skipped."""

from __future__ import annotations

import pytest

from counterbc.acting.clock import Ticks, VirtualClock, WallClock


def test_deadlines_do_not_drift_when_a_tick_is_a_little_late() -> None:
    clock = VirtualClock(5.0)
    ticks = Ticks(10, clock)
    assert ticks.wait() == pytest.approx((5.1, 0.0))
    clock.time += 0.13  # the work of a tick
    assert ticks.wait() == pytest.approx((5.23, 0.03))
    assert ticks.wait() == pytest.approx((5.3, 0.0))


def test_missed_deadlines_are_skipped() -> None:
    clock = VirtualClock()
    ticks = Ticks(10, clock)
    ticks.wait()
    clock.time += 0.55
    assert ticks.wait() == pytest.approx((0.65, 0.45))
    assert ticks.wait() == pytest.approx((0.75, 0.0))


def test_a_virtual_clock_never_goes_back() -> None:
    clock = VirtualClock(2.0)
    clock.wait_until(1.0)
    assert clock.now() == 2.0


def test_the_clock_of_the_machine_waits_until_a_tick_is_due() -> None:
    clock, due = WallClock(), WallClock().now() + 0.01
    clock.wait_until(due)
    assert clock.now() >= due
