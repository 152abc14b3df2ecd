"""The loop stops the arm within two periods of any fault, and never exceeds its limits."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from counterbc.acting.clock import WallClock
from counterbc.data.arrays import Array
from counterbc.errors import OptionError
from counterbc.robots.faults import LATE
from counterbc.robots.loop import Loop, LoopSettings
from counterbc.robots.robot import Reading
from counterbc.robots.stop_signals import INTERRUPTED
from counterbc.robots.tick_log import TickLog, read_log
from tests.robots.doubles import LIMITS, PERIOD, Bench, PointRobot, ScriptedPolicy, freeze_at

TWO_PERIODS = 2 * PERIOD + 1e-9


FAULTS = (
    "camera lost",
    "clock",
    "policy stalled",
    "policy ended",
    "observation",
    "action",
    "robot",
)


def inject(bench: Bench, fault: str, time: float) -> None:
    """Let something go wrong at a time."""
    robot, policy = bench.robot, bench.policy
    if fault == "camera lost":
        robot.lost_at = time
    elif fault == "clock":
        see = robot.observe
        robot.observe = lambda: stamped(see(), 1.7e9 if bench.clock.now() >= time else None)  # type: ignore[method-assign]
    elif fault == "policy stalled":
        policy.stalls_at = time
    elif fault == "policy ended":
        policy.ends_at = time
    elif fault == "observation":
        robot.nan_at = time
    elif fault == "action":
        usual = policy.act
        policy.act = lambda now: np.array([0.1, np.nan]) if now >= time else usual(now)
    else:
        normal = robot.observe

        def observe() -> Reading | None:
            if bench.clock.now() >= time:
                raise RuntimeError("the driver lost its connection")
            return normal()

        robot.observe = observe  # type: ignore[method-assign]


def stamped(reading: Reading | None, time: float | None) -> Reading | None:
    """Return a reading with another time, such as one of time.time()."""
    return reading if reading is None or time is None else replace(reading, time=time)


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("phase", np.linspace(0, 0.999, 23).tolist())
def test_every_fault_stops_the_arm_within_two_periods(fault: str, phase: float) -> None:
    bench = Bench()
    time = 100.0 + (7 + phase) * PERIOD
    inject(bench, fault, time)
    summary = bench.loop.run(3.0)
    assert bench.robot.commands, "the arm moved before the fault"
    assert bench.robot.stands_from() - time <= TWO_PERIODS
    assert fault.split()[0] in summary["ended"] or fault == "robot"
    assert summary["ended"] != "finished"
    assert not bench.robot.velocity.any()


def test_the_arm_stands_in_the_first_faulty_tick_and_moves_again_when_the_fault_passes() -> None:
    bench = Bench()
    bench.policy.stalls_at, bench.policy.resumes_at = 100.39, 100.61
    summary = bench.loop.run(2.0)
    assert summary["ended"] == "finished"
    assert summary["faults"] == {"policy stalled": 5}
    assert [t.velocity for t in bench.log.ticks if t.fault] == [(0.0, 0.0)] * 5
    assert bench.log.ticks[-1].velocity != (0.0, 0.0)


def test_a_policy_forgets_what_it_saw_before_a_fault() -> None:
    bench = Bench()
    bench.policy.stalls_at, bench.policy.resumes_at = 100.39, 100.41
    bench.loop.run(1.0)
    assert [i for i, first in enumerate(bench.policy.firsts) if first] == [0, 8]


def test_a_run_ends_after_some_faulty_ticks_in_a_row() -> None:
    bench = Bench(patience=3)
    bench.policy.stalls_at = 100.4
    assert bench.loop.run(5.0)["faults"] == {"policy stalled": 3}


def test_the_emergency_stop_stays_until_it_is_reset() -> None:
    bench = Bench()
    usual = bench.policy.act

    def act(now: float) -> Array:
        if now > 100.5:
            bench.stop.press("a person")
        return usual(now)

    bench.policy.act = act
    assert bench.loop.run(5.0)["ended"] == "a person"
    moves = len(bench.robot.commands)
    assert bench.loop.run(5.0)["ended"] == "a person"  # starting again does not release it
    assert len(bench.robot.commands) == moves
    assert bench.log.ticks[-1].fault == "a person"
    bench.stop.reset()
    bench.policy.act = usual
    assert bench.loop.run(1.0)["ended"] == "finished"


def test_commands_keep_the_limits_under_random_actions_delays_and_faults() -> None:
    rng = np.random.default_rng(3)
    for _ in range(20):
        bench = Bench(patience=1000)
        bench.policy.act = lambda now: rng.normal(size=2) * rng.choice([1, 1e3, 1e300])
        bench.policy.stalls_at, bench.policy.resumes_at = 100 + rng.uniform(0, 4), 104.0
        answer = bench.policy.answer

        def late(tick: int, until: float, bench: Bench = bench, answer=answer):  # type: ignore[no-untyped-def]
            bench.clock.time += rng.exponential(0.01)  # a busy machine
            return answer(tick, until)

        bench.policy.answer = late  # type: ignore[method-assign]
        bench.loop.run(20.0)
        velocity = np.array([v for _, v in bench.robot.commands])
        assert (np.abs(velocity) <= LIMITS.speed).all()
        position = np.array([t.position for t in bench.log.ticks])
        assert (np.abs(position) <= np.array(LIMITS.high) + 0.001).all()


def test_ctrl_c_stops_the_arm_and_keeps_the_log(tmp_path: Path) -> None:
    bench = Bench()
    path = tmp_path / "run.jsonl"

    def act(now: float) -> Array:
        if now > 100.5:
            raise KeyboardInterrupt
        return np.array([0.1, 0.1])

    bench.policy.act = act
    with TickLog(path, {"robot": "point"}) as bench.loop.log:
        assert bench.loop.run(5.0)["ended"] == INTERRUPTED
    header, ticks, summary = read_log(path)
    assert header["robot"] == "point"
    assert len(ticks) == 10
    assert summary is not None
    assert summary["ended"] == INTERRUPTED
    assert bench.robot.stops


@pytest.mark.parametrize("name", ["observe", "answer", "command"])
def test_a_tick_that_takes_more_than_a_period_leaves_the_arm_standing(name: str) -> None:
    bench = Bench()
    bench.policy.act = lambda now: np.array([0.3, 0.1])
    freeze_at(bench, name, 100.49, 10 * PERIOD)
    summary = bench.loop.run(3.0)
    assert summary["ended"] == "finished"
    faulty = [tick for tick in bench.log.ticks if tick.fault]
    assert [tick.velocity for tick in faulty] == [(0.0, 0.0)]
    assert faulty[0].fault == (LATE if name != "observe" else "camera lost")
    assert min(stop for stop in bench.robot.stops if stop > 100.5) <= 101.05


def test_after_a_stop_by_the_watchdog_the_arm_speeds_up_from_0() -> None:
    bench = Bench()
    bench.policy.act = lambda now: np.array([0.9, 0.0]) * (1 if now < 100.6 else -1)
    wait = bench.clock.wait_until

    def frozen(due: float) -> None:
        wait(due)
        if abs(due - 100.5) < 1e-9:
            bench.clock.time += 3 * PERIOD

    bench.clock.wait_until = frozen  # type: ignore[method-assign]
    summary = bench.loop.run(1.0)
    after = next(tick for tick in bench.log.ticks if tick.late > PERIOD)
    assert summary["watchdog_stops"] == 1
    assert after.velocity[0] == pytest.approx(-LIMITS.acceleration * PERIOD)


def test_a_watchdog_that_cannot_stop_the_arm_ends_the_run() -> None:
    bench = Bench()
    freeze_at(bench, "observe", 100.49, 10 * PERIOD)
    stop, calls = bench.robot.stop, list[float]()

    def fail_once() -> None:
        calls.append(bench.clock.now())
        if len(calls) == 2:
            raise ConnectionError("no answer")
        stop()

    bench.robot.stop = fail_once  # type: ignore[method-assign]
    assert bench.loop.run(3.0)["ended"] == "the watchdog could not stop the arm: no answer"


def test_the_same_loop_can_run_again_in_real_time() -> None:
    robot, policy = PointRobot(WallClock()), ScriptedPolicy(WallClock())
    settings = LoopSettings(patience=10**6, oldest=1000.0)  # the machine may be busy
    loop = Loop(robot, policy, TickLog(None, {}), settings=settings)
    summaries = [loop.run(0.2) for _ in range(2)]
    assert [summary["ended"] for summary in summaries] == ["finished"] * 2
    assert sum(summary["ticks"] for summary in summaries) == len(loop.log.ticks)


def test_a_stop_or_a_log_that_fails_does_not_hide_why_the_run_ended() -> None:
    bench = Bench(patience=1)
    bench.policy.ends_at = 100.4

    def fail(*arguments: object) -> None:
        raise OSError("no space left")

    bench.log.finish = fail  # type: ignore[method-assign, assignment]
    ended = bench.loop.run(1.0)["ended"]
    assert ended == "policy ended; the log could not be finished: no space left"
    bench = Bench()
    bench.robot.stop = fail  # type: ignore[method-assign]
    assert bench.loop.run(1.0)["ended"] == "finished; the arm could not be stopped: no space left"


def test_a_stop_while_the_loop_waits_is_not_followed_by_a_tick() -> None:
    bench = Bench()
    wait = bench.clock.wait_until

    def press(due: float) -> None:
        wait(due - 0.01)
        if due > 100.52:
            bench.stop.press("a person")
        wait(due)

    bench.clock.wait_until = press  # type: ignore[method-assign]
    assert bench.loop.run(3.0)["ended"] == "a person"
    last = bench.robot.commands[-1][0]
    assert last < 100.52
    assert min(stop for stop in bench.robot.stops if stop > last) == pytest.approx(100.54)
    assert not any(tick.fault for tick in bench.log.ticks)


def test_every_tick_measures_age_inference_latency_and_jitter() -> None:
    bench = Bench()
    summary = bench.loop.run(2.0)
    assert summary["ticks"] == 40
    assert summary["missed"] == 0
    times = summary["times_ms"]
    assert [times[name]["p50"] for name in ("age", "inference", "latency", "late", "jitter")] == (
        pytest.approx([10, 1, 11, 0, 0], abs=1e-6)
    )
    assert summary["trained_lag"] == {"steps": [2.0], "ms": [100.0]}


def test_missed_deadlines_are_counted_and_not_made_up_for() -> None:
    bench = Bench()
    wait = bench.clock.wait_until

    def busy(due: float) -> None:
        wait(due)
        if abs(due - 100.5) < 1e-9:
            bench.clock.time += 2.5 * PERIOD

    bench.clock.wait_until = busy  # type: ignore[method-assign]
    summary = bench.loop.run(2.0)
    assert summary["missed"] == 2
    assert summary["ticks"] == 38


@pytest.mark.parametrize(("oldest", "count"), [(0.9, 0), (0.999, 0), (1.0, 1), (1000.0, 1)])
def test_pictures_of_a_period_or_older_give_a_warning(oldest: float, count: int) -> None:
    warnings = Bench(oldest=oldest).loop.run(0.2)["warnings"]
    assert len(warnings) == count
    assert all(f"{oldest:g} periods old" in text for text in warnings)


@pytest.mark.parametrize("fields", [{"rate": 0}, {"scale": np.nan}, {"budget": 1.5}])
def test_settings_of_no_use_are_refused(fields: dict[str, float]) -> None:
    with pytest.raises(OptionError, match="give"):
        LoopSettings(**fields)  # type: ignore[arg-type]  # wrong on purpose
