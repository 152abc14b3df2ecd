"""An emergency stop keeps its first reason until a person resets it."""

from __future__ import annotations

from counterbc.data.arrays import Array
from counterbc.robots.emergency_stop import EmergencyStop
from tests.robots.doubles import Bench


def test_the_first_reason_stays() -> None:
    stop = EmergencyStop()
    assert not stop.is_pressed
    stop.press("camera lost")
    stop.press("another")
    assert (stop.is_pressed, stop.reason) == (True, "camera lost")
    stop.reset()
    assert not stop.is_pressed


def test_a_press_stops_the_arm_at_once_even_if_that_fails() -> None:
    stops = list[str]()

    def fail() -> None:
        stops.append("tried")
        raise ConnectionError("no answer")

    stop = EmergencyStop(fail)
    stop.latch("a signal")
    assert (stop.is_pressed, stops) == (True, [])
    stop.press("a person")
    assert (stop.reason, stops) == ("a signal", ["tried"])


def test_a_press_without_a_reason_still_stops() -> None:
    stop = EmergencyStop()
    stop.press("")
    assert stop.is_pressed


def test_arms_are_stopped_before_the_callback_whatever_fails() -> None:
    calls = list[str]()

    def fail(name: str, error: BaseException) -> None:
        calls.append(name)
        raise error

    stop = EmergencyStop(lambda: fail("relay", OSError("no relay")))
    with (
        stop.stopping(lambda: fail("left arm", KeyboardInterrupt())),
        stop.stopping(lambda: fail("right arm", ConnectionError("no answer"))),
    ):
        stop.press("a person")
    assert calls == ["right arm", "left arm", "relay"]
    stop.press("again")
    assert calls[3:] == ["relay"]


def test_a_press_stops_the_arm_and_then_calls_what_the_user_gave() -> None:
    bench, calls = Bench(), list[str]()
    stop_arm, usual = bench.robot.stop, bench.policy.act

    def fail_once() -> None:
        stop_arm()
        if bench.stop.is_pressed and not calls:
            calls.append("arm")
            raise ConnectionError("no answer")

    def cut_power() -> None:
        calls.append("relay")

    def act(now: float) -> Array:
        if now > 100.5:
            bench.stop.press("a person")
        return usual(now)

    bench.policy.act, bench.stop.on_press = act, cut_power
    bench.robot.stop = fail_once  # type: ignore[method-assign]
    assert bench.loop.run(5.0)["ended"] == "a person"
    assert calls == ["arm", "relay"]
    bench.stop.press("after the run")
    assert calls == ["arm", "relay", "relay"]
