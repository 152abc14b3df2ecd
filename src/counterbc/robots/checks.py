"""What is verified before an arm moves; nothing here commands a motion."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from counterbc.acting.clock import Clock, Ticks
from counterbc.files import reason
from counterbc.robots.calibration import LARGEST_ERROR, Calibration
from counterbc.robots.decider import Decider
from counterbc.robots.faults import (
    ACTION,
    CAMERA,
    POSITION,
    POSITION_CLOCK,
    decision_fault,
    reading_fault,
)
from counterbc.robots.limits import Limiter
from counterbc.robots.loop import LoopSettings
from counterbc.robots.robot import Reading, Robot
from counterbc.robots.summary import policy_rate, quantiles

TICKS = 40
"""Periods in which rate, camera and policy are measured."""
ALLOWED = 1
"""Ticks of these that may be late: other programs run as well."""
RANDOM_STEPS = 2000
RATE_ROUNDING = 0.01
"""Share by which the loop's rate may differ from that of the demonstrations, as 29.97 from 30."""
POSITIONS = (POSITION, POSITION_CLOCK)
OK, NOT_CHECKED = "ok", "not checked"


@dataclass(frozen=True)
class Check:
    """One line of the answer."""

    name: str
    is_ok: bool
    text: str
    is_made: bool = True

    @property
    def status(self) -> str:
        return (OK if self.is_ok else "FAILED") if self.is_made else NOT_CHECKED


@dataclass(frozen=True)
class Observed:
    """What was measured while the arm stood still."""

    readings: tuple[Reading | None, ...]
    late: tuple[float, ...]
    ages: tuple[float | None, ...]
    round_trips: tuple[float | None, ...]
    faults: tuple[str, ...]
    """What was wrong with each reading, or an empty text."""
    answer_faults: tuple[str, ...]
    """What was wrong with each answer of the policy; empty also where it was not asked."""


def check_robot(
    robot: Robot, policy: Decider, settings: LoopSettings, clock: Clock,
    calibration: Calibration | None = None,
) -> list[Check]:  # fmt: skip
    """Return all checks of an arm that stands still."""
    stop_check = _made("stop", lambda: _stop(robot))
    if not stop_check.is_ok:
        return [stop_check]
    observed = _observe(robot, policy, settings, clock)
    checks: dict[str, Callable[[], str]] = {
        "limits": lambda: _limits(robot, settings),
        "position": lambda: _position(robot, observed),
        "sizes": lambda: _sizes(robot, policy, observed),
        "actions": lambda: _actions(robot, policy, settings),
        "rate": lambda: _rate(observed, policy, settings),
        "policy": lambda: _policy(observed, policy, settings),
        "camera": lambda: _camera(observed, settings),
    }
    results = [_made(name, check) for name, check in checks.items()]
    if calibration is None:
        text = "no calibration was given; name one with --calibration if a tracker is used"
        return [*results, Check("calibration", True, text, is_made=False)]
    return [*results, _made("calibration", lambda: _calibration(calibration, robot))]


class Failed(Exception):  # reads as what happened, and never leaves this module
    """Why a check failed."""


def _made(name: str, check: Callable[[], str]) -> Check:
    try:
        return Check(name, True, check())
    except Failed as error:
        return Check(name, False, str(error))
    except Exception as error:  # drivers raise what they like
        return Check(name, False, f"could not be checked: {reason(error)}")


def _observe(robot: Robot, policy: Decider, settings: LoopSettings, clock: Clock) -> Observed:
    """Tick as the loop does, without a command."""
    ticks = Ticks(settings.rate, clock)
    rows = [_one_tick(i, ticks, robot, policy, settings) for i in range(TICKS)]
    return Observed(*zip(*rows, strict=True))


def _one_tick(
    number: int, ticks: Ticks, robot: Robot, policy: Decider, settings: LoopSettings
) -> tuple[Reading | None, float, float | None, float | None, str, str]:
    now, late = ticks.wait()
    try:
        reading = robot.observe()
        seen_at = ticks.clock.now()
        age = None if reading is None else seen_at - reading.time
        fault = reading_fault(reading, seen_at, settings.oldest * ticks.period)
        fits = reading is not None and reading.obs.shape == (policy.obs_size,)
    except Exception as error:  # drivers raise and return what they like
        return None, late, None, None, f"the arm's driver failed: {reason(error)}", ""
    round_trip, answer_fault = None, ""
    if reading is not None and fits and not fault:
        policy.ask(number, reading.obs, number == 0)
        decision = policy.answer(number, now + settings.budget * ticks.period)
        answer_fault = decision_fault(decision, policy.is_running)
        round_trip = None if answer_fault else ticks.clock.now() - seen_at
    return reading, late, age, round_trip, fault, answer_fault


def _stop(robot: Robot) -> str:
    robot.stop()
    return "the arm stands"


def _limits(robot: Robot, settings: LoopSettings) -> str:
    """Try random commands on the limiter alone."""
    limits = robot.limits
    limiter, rng = Limiter(limits, 1 / settings.rate), np.random.default_rng(0)
    low, high = np.array(limits.low), np.array(limits.high)
    position = (low + high) / 2
    for scale in rng.choice([1.0, 1e3, np.inf], RANDOM_STEPS):
        velocity = limiter.limit(scale * rng.normal(size=len(low)), position)
        position = position + velocity / settings.rate
        is_outside = ((position < low - 1e-9) | (position > high + 1e-9)).any()
        if is_outside or (np.abs(velocity) > limits.speed).any():
            raise Failed(f"the limiter let {velocity} m/s pass at {position}; report this")
    ranges = ", ".join(f"{a:g} to {b:g} m" for a, b in zip(limits.low, limits.high, strict=True))
    return f"{limits.speed:g} m/s and {limits.acceleration:g} m/s² per axis, workspace {ranges}"


def _position(robot: Robot, observed: Observed) -> str:
    reading = _last(observed)
    low, high = np.array(robot.limits.low), np.array(robot.limits.high)
    place = ", ".join(f"{x:.3f}" for x in reading.position)
    if reading.position.shape != low.shape:
        raise Failed(f"the position has {reading.position.size} numbers, the workspace {low.size}")
    if not ((low - 0.01 <= reading.position) & (reading.position <= high + 0.01)).all():
        raise Failed(f"the arm is at ({place}) m, outside its workspace; move it inside by hand")
    if bad := [fault for fault in observed.faults if fault in POSITIONS]:
        raise Failed(
            f"{len(bad)} of {TICKS} positions had no usable time ({bad[0]}); let the driver "
            "measure again before each reading, with the times of time.perf_counter()"
        )
    has_time = reading.position_time is not None
    return f"({place}) m, inside the workspace" + ("" if has_time else "; its age is unknown")


def _sizes(robot: Robot, policy: Decider, observed: Observed) -> str:
    obs, action = _last(observed).obs.size, len(robot.limits.low)
    if (obs, action) != (policy.obs_size, policy.action_size):
        raise Failed(
            f"the arm observes {obs} numbers and moves along {action} axes, the policy reads "
            f"{policy.obs_size} and gives {policy.action_size}; train on what this arm observes"
        )
    return f"{obs} observed numbers, {action} actions"


def _actions(robot: Robot, policy: Decider, settings: LoopSettings) -> str:
    if "action_low" not in policy.about or "action_high" not in policy.about:
        return f"no bounds in the file; cut at {robot.limits.speed:g} m/s"
    bounds = [json.loads(policy.about[name]) for name in ("action_low", "action_high")]
    fastest = float(np.abs(bounds).max()) * settings.scale
    cap = f", cut at {robot.limits.speed:g} m/s" if fastest > robot.limits.speed else ""
    return f"up to {fastest:g} m/s{cap}"


def _rate(observed: Observed, policy: Decider, settings: LoopSettings) -> str:
    trained_at = policy_rate(policy.about)
    if trained_at is not None and not np.isclose(trained_at, settings.rate, rtol=RATE_ROUNDING):
        raise Failed(
            f"the policy learned from demonstrations at {trained_at:g} Hz, the loop runs at "
            f"{settings.rate:g} Hz; give --rate {trained_at:g}"
        )
    late = quantiles(observed.late)
    late_ticks = sum(seconds > 1 / settings.rate for seconds in observed.late)
    if late_ticks > ALLOWED:
        raise Failed(
            f"{late_ticks} of {TICKS} ticks came a whole period late; close other programs or give "
            f"--priority{', or lower --rate' if trained_at is None else ''}"
        )
    origin = "the policy's file names none" if trained_at is None else "as in the demonstrations"
    return (
        f"{settings.rate:g} Hz ({origin}), ticks late by {late['p50']:.2f} ms, at most "
        f"{late['max']:.2f}"
    )


def _policy(observed: Observed, policy: Decider, settings: LoopSettings) -> str:
    answers = [seconds for seconds in observed.round_trips if seconds is not None]
    budget = 1000 * settings.budget / settings.rate
    if ACTION in observed.answer_faults:
        raise Failed("it answered numbers that are not finite; check the data and train again")
    silent = sum(bool(fault) for fault in observed.answer_faults)
    if not answers and not silent:
        raise Failed("it was asked nothing, because no reading could be used; see the other lines")
    if not answers or silent > ALLOWED:
        raise Failed(
            f"it answered {len(answers)} of {len(answers) + silent} questions within {budget:g} ms;"
            " close other programs, give --priority, or use a smaller policy"
        )
    times = quantiles(answers)
    return f"answers in {times['p50']:.2f} ms, at most {times['max']:.2f}, of {budget:g} allowed"


def _camera(observed: Observed, settings: LoopSettings) -> str:
    faults = [fault for fault in observed.faults if fault and fault not in POSITIONS]
    bad = len(faults)
    ages = quantiles([age for age in observed.ages if age is not None])
    age_limit = 1000 * settings.oldest / settings.rate
    if bad > ALLOWED:
        kinds = ", ".join(sorted(set(faults)))
        if _are_late(observed):
            raise Failed(
                f"{bad} of {TICKS} ticks had no usable picture ({kinds}): new pictures arrive, up "
                f"to {ages['max']:.1f} ms old, of {age_limit:g} allowed; lower the camera's delay"
            )
        raise Failed(
            f"{bad} of {TICKS} ticks had no usable picture ({kinds}); check camera, light and puck"
        )
    return f"pictures {ages['p50']:.1f} ms old, at most {ages['max']:.1f}, of {age_limit:g} allowed"


def _are_late(observed: Observed) -> bool:
    """Return whether most pictures that count as lost are new ones, of a camera with a delay."""
    pairs = zip(observed.readings, observed.faults, strict=True)
    times = [reading.time for reading, fault in pairs if reading is not None and fault == CAMERA]
    return len(set(times)) > TICKS / 2


def _calibration(calibration: Calibration, robot: Robot) -> str:
    error = 1000 * calibration.error
    if calibration.error > LARGEST_ERROR:
        raise Failed(
            f"marks are off by {error:.1f} mm, at most {1000 * LARGEST_ERROR:g} are allowed; "
            "measure them again"
        )
    corners = np.array(list(_corners(robot.limits.low, robot.limits.high)))
    if not calibration.is_visible(corners):
        raise Failed(
            "a part of the workspace is behind the camera by these marks; measure them again"
        )
    return f"{len(calibration.pixels)} marks, off by {error:.2f} mm"


def _corners(low: tuple[float, ...], high: tuple[float, ...]) -> Iterator[tuple[float, float]]:
    for x in (low[0], high[0]):
        for y in (low[1], high[1]):
            yield x, y


def _last(observed: Observed) -> Reading:
    """Return the newest reading."""
    readings = [reading for reading in observed.readings if reading is not None]
    if not readings:
        raise Failed("the arm gave no reading; check its connection and its camera")
    return readings[-1]
