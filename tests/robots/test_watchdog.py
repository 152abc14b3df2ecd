"""The watchdog acts for as long as the loop hangs, and watches on after it came back."""

from __future__ import annotations

import gc
import threading

import pytest

from counterbc.acting.clock import VirtualClock, WallClock
from counterbc.robots.faults import LATE
from counterbc.robots.loop import Loop, LoopSettings
from counterbc.robots.robot import Reading
from counterbc.robots.tick_log import TickLog
from counterbc.robots.watchdog import LIMIT, POLL, Watchdog
from tests.robots.doubles import Bench, PointRobot, ScriptedPolicy


def test_a_hanging_loop_is_noticed_within_two_periods() -> None:
    assert LIMIT + POLL < 2


@pytest.mark.parametrize(("periods", "count"), [(1.4, 0), (1.6, 1), (50, 1)])
def test_it_acts_after_one_and_a_half_periods_at_every_look(periods: float, count: int) -> None:
    clock, stops = VirtualClock(), list[float]()
    watchdog = Watchdog(20, clock, lambda: stops.append(clock.now()))
    clock.time += periods * 0.05
    watchdog.check()
    watchdog.check()
    assert (len(stops), watchdog.expiries) == (2 * count, count)


def test_an_arm_that_cannot_be_stopped_is_tried_again() -> None:
    clock, looks = VirtualClock(), list[float]()

    def fail() -> None:
        looks.append(clock.now())
        raise ConnectionError("no answer")

    watchdog = Watchdog(20, clock, fail)
    clock.time += 1.0
    watchdog.check()
    watchdog.check()
    assert (len(looks), watchdog.expiries) == (2, 1)
    assert str(watchdog.error) == "no answer"


def test_a_loop_that_came_back_is_watched_again() -> None:
    clock, stops = VirtualClock(), list[float]()
    watchdog = Watchdog(20, clock, lambda: stops.append(clock.now()))
    for _ in range(3):
        clock.time += 1.0
        watchdog.check()
        watchdog.feed()
    assert stops == [1.0, 2.0, 3.0]


def test_a_loop_that_ticks_while_the_watchdog_looks_is_not_stopped() -> None:
    clock, stops = VirtualClock(), list[float]()
    watchdog = Watchdog(20, clock, lambda: stops.append(clock.now()))
    now = clock.now

    def tick_meanwhile() -> float:
        clock.now = now  # type: ignore[method-assign]
        watchdog.feed()
        return clock.now()

    clock.time += 1.0
    clock.now = tick_meanwhile  # type: ignore[method-assign]
    watchdog.check()
    assert (stops, watchdog.expiries, watchdog.acting) == ([], 0, 0)


def test_it_tells_while_it_stops_the_arm() -> None:
    clock, seen = VirtualClock(), list[int]()
    watchdog = Watchdog(20, clock, lambda: seen.append(watchdog.acting))
    clock.time += 1.0
    watchdog.check()
    assert (seen, watchdog.acting) == ([1], 0)


def test_its_thread_acts_while_the_loop_does_nothing() -> None:
    has_stopped = threading.Event()
    watchdog = Watchdog(100, WallClock(), has_stopped.set)
    watchdog.start()
    assert has_stopped.wait(30)
    watchdog.close()


def test_its_thread_survives_an_arm_that_cannot_be_stopped() -> None:
    looks, has_looked_twice = list[int](), threading.Event()

    def fail() -> None:
        looks.append(1)
        if len(looks) == 2:
            has_looked_twice.set()
        raise ConnectionError("no answer")

    watchdog = Watchdog(100, WallClock(), fail)
    watchdog.start()
    assert has_looked_twice.wait(30)
    watchdog.close()


def test_nothing_is_commanded_while_the_watchdog_stops_the_arm() -> None:
    bench = Bench()
    see = bench.robot.observe

    def observe() -> Reading | None:
        bench.loop.watchdog.acting = int(100.49 < bench.clock.now() < 100.51)
        return see()

    bench.robot.observe = observe  # type: ignore[method-assign]
    assert bench.loop.run(1.0)["faults"] == {LATE: 1}
    assert not any(100.49 < time < 100.54 for time, _ in bench.robot.commands)


class OwnClock:
    """A real-time clock of the user's."""

    def __init__(self) -> None:
        self.wall = WallClock()

    def now(self) -> float:
        return self.wall.now()

    def wait_until(self, due: float) -> None:
        self.wall.wait_until(due)

    def notify(self) -> None: ...


def test_the_watchdog_runs_on_every_clock_but_a_virtual_one() -> None:
    for clock, is_watched in ((OwnClock(), True), (VirtualClock(), False)):
        robot, policy = PointRobot(clock), ScriptedPolicy(clock)
        settings = LoopSettings(patience=10**6, oldest=1000.0)  # the machine may be busy
        loop = Loop(robot, policy, TickLog(None, {}), settings=settings, clock=clock)
        states = list[bool]()

        def is_over(states: list[bool] = states) -> bool:
            states.append("watchdog" in [thread.name for thread in threading.enumerate()])
            return len(states) > 1

        loop.run(0.2, is_over)
        assert states == [is_watched] * 2
        assert gc.get_freeze_count() == 0
