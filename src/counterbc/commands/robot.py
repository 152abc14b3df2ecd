"""counterbc robot"""

from __future__ import annotations

import math
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from rich.console import RenderableType
from tyro.conf import Positional

from counterbc.commands.command import Command, Json, plain_table, prepare_real_time, suggestion
from counterbc.commands.options import Group
from counterbc.errors import OptionError
from counterbc.printing import sentence

if TYPE_CHECKING:
    from counterbc.robots.calibration import Calibration
    from counterbc.robots.checks import Check
    from counterbc.robots.decider import Decider
    from counterbc.robots.loop import LoopSettings
    from counterbc.robots.policy_process import PolicyProcess
    from counterbc.robots.robot import Robot as Arm
    from counterbc.robots.simulated.sensor import Disturbances
    from counterbc.robots.simulated.simulated_robot import SimulatedRobot

MAY_MOVE = "THE ARM MAY STILL MOVE: it could not be stopped; cut its power"
NOT_LOGGED = ("task", "log", "json")
"""Fields that do not decide what the arm does."""
NOT_REPEATED = (*NOT_LOGGED, "policy", "seconds")
"""Fields that a check leaves out of the run that it suggests; it repeats all the others."""


@dataclass(frozen=True)
class RobotCommand(Command):
    """Drive an arm with a policy at a fixed rate, or check everything before it moves.

    `check` prints one line for each check and moves nothing. `run` makes the same checks, then
    drives the arm and logs every tick. Ctrl-C stops the arm and keeps the log.
    """

    task: Positional[Literal["check", "run"]]
    """Check only, or run."""
    policy: Positional[Path]
    """A file that counterbc export wrote, or the folder of a run."""
    robot: str = "simulated"
    """The arm: simulated, or a function of yours that returns one, as in my_arm:connect."""
    seconds: float = 30.0
    """How long to drive the arm."""
    log: Path | None = None
    """The log to write, as JSON lines; by default robot.jsonl, or the next free name."""
    member: int = 0
    """The policy of a run folder, counted from 0."""
    speed: float | None = None
    """A lower limit of speed along each axis than the arm's, in m/s."""
    acceleration: float | None = None
    """A lower limit of acceleration along each axis than the arm's, in m/s²."""
    calibration: Path | None = None
    """The file of marks that maps pictures to the table; checked only; give the same file to your
    tracker."""
    pictures: bool = False
    """Let the simulated camera draw pictures and track the puck in them."""
    seed: int = 0
    """The seed of the simulated start and of its disturbances."""
    priority: int | None = None
    """A real-time priority, 1 to 99, for loop and policy; needs Linux and the right to it."""

    @classmethod
    def option_groups(cls) -> Mapping[str, Group]:
        from counterbc.robots.loop import LoopSettings
        from counterbc.robots.simulated.sensor import Disturbances

        return {
            "loop": Group(kind=LoopSettings),
            "disturbances": Group(kind=Disturbances, text="Disturbances of the simulated camera."),
        }

    def run(self) -> tuple[Json, list[RenderableType]]:
        from counterbc.acting.clock import WallClock
        from counterbc.robots.loop import LoopSettings
        from counterbc.robots.own_robot import disconnect
        from counterbc.robots.policy_process import PolicyProcess
        from counterbc.robots.priority import real_time

        settings = LoopSettings(**self.given_options("loop"))
        self._refuse_unusable_options()
        with self._exported() as path, real_time(self.priority), ExitStack() as stack:
            policy = PolicyProcess(path)
            stack.callback(policy.close)
            robot, calibration = self._connect(WallClock(), settings.rate)
            stack.callback(disconnect, robot)
            self._lower_limits(robot)
            return self._check_and_run(robot, policy, settings, calibration)

    def status(self, payload: Json) -> int:
        """Return 1 after a failed check or a run that a fault ended."""
        return 0 if payload["ok"] else 1

    def _refuse_unusable_options(self) -> None:
        """Refuse a run without an end, and options that this arm or this policy would ignore."""
        from counterbc.robots.own_robot import SIMULATED

        if not (math.isfinite(self.seconds) and self.seconds > 0):
            raise OptionError(f"--seconds is {self.seconds}; give a number above 0")
        if self.member and not self.policy.is_dir():
            raise OptionError(
                f"--member {self.member} chooses a policy of a run folder, and {self.policy} is "
                "none; leave out --member, or name the folder of a run"
            )
        words = self.as_typed("pictures", "seed", "disturbances")
        if self.robot != SIMULATED and words:
            names = " and ".join(word for word in words if word.startswith("--"))
            raise OptionError(
                f"{names} would change the simulated arm only, and --robot is {self.robot}; leave "
                f"out {names}"
            )

    def _check_and_run(
        self, robot: Arm, policy: PolicyProcess, settings: LoopSettings,
        calibration: Calibration | None,
    ) -> tuple[Json, list[RenderableType]]:  # fmt: skip
        from counterbc.acting.clock import WallClock
        from counterbc.robots.checks import check_robot

        checks = check_robot(robot, policy, settings, WallClock(), calibration)
        payload, lines = check_lines(checks, settings.warnings)
        if self.task == "check":
            if payload["ok"]:
                names = {f.name for f in fields(self)}.difference(NOT_REPEATED)
                typed = self.as_typed(*names)
                payload["next"] = [suggestion("robot", "run", self.policy, *typed)]
            return payload, lines
        if not payload["ok"]:
            return payload, [*lines, "Nothing was moved, because a check failed."]
        print(*lines, sep="\n", file=sys.stderr, flush=True)
        header = self._header(robot, policy, settings, calibration)
        return self._drive(robot, policy, settings, header, payload)

    def _drive(
        self, robot: Arm, policy: Decider, settings: LoopSettings, header: Json, payload: Json
    ) -> tuple[Json, list[RenderableType]]:
        from counterbc.files import interrupts, next_free
        from counterbc.robots.loop import FINISHED, Loop
        from counterbc.robots.stop_signals import signal_of
        from counterbc.robots.tick_log import TickLog

        path = self.log or next_free(Path("robot.jsonl"))
        rally = getattr(robot, "rally", None)
        is_over: Callable[[], bool] = lambda: rally is not None and rally.is_over  # noqa: E731
        with TickLog(path, header) as log:
            print(sentence(f"Driving the arm; the log is {path}."), file=sys.stderr, flush=True)
            prepare_real_time()
            summary = Loop(robot, policy, log, settings=settings).run(self.seconds, is_over)
        if not summary["is_stopped"]:  # at once: what follows may take its time
            print(MAY_MOVE, file=sys.stderr, flush=True)
        if (number := signal_of(summary["ended"])) is not None:
            interrupts.append(number)  # it decides the exit status
            raise KeyboardInterrupt(signal_line(summary, path))
        is_ok = summary["ended"] == FINISHED and summary["is_stopped"]
        payload |= {"log": str(path), "summary": summary, "ok": is_ok}
        if rally is not None:
            payload["measures"] = rally.measures
        return payload, run_lines(summary, payload.get("measures"), path)

    def _header(
        self, robot: Arm, policy: PolicyProcess, settings: LoopSettings,
        calibration: Calibration | None,
    ) -> Json:  # fmt: skip
        """Return all options with their values, and what the files and the arm gave."""
        from counterbc.data.version import __version__
        from counterbc.files import sha256
        from counterbc.robots.own_robot import SIMULATED
        from counterbc.robots.summary import trained_lag

        names = {f.name for f in fields(RobotCommand)}.difference(NOT_LOGGED)
        options = {name: getattr(self, name) for name in sorted(names)}
        return {
            "counterbc": __version__,
            **{name: str(v) if isinstance(v, Path) else v for name, v in options.items()},
            "policy_sha256": sha256(policy.path),
            "about": policy.about,
            "trained_lag": trained_lag(policy.about, settings.rate),
            "loop": asdict(settings),
            "warnings": settings.warnings,
            "limits": asdict(robot.limits),
            "marks": None if calibration is None else calibration.marks,
            "disturbances": asdict(self._disturbances()) if self.robot == SIMULATED else None,
        }

    @contextmanager
    def _exported(self) -> Iterator[Path]:
        """Yield an ONNX file; that of a run folder is written for this run only."""
        if not self.policy.is_dir():
            yield self.policy
            return
        from counterbc.acting.onnx import export
        from counterbc.acting.policies import Policies

        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "policy.onnx"
            export(Policies.load(self.policy), path, self.member)
            yield path

    def _connect(self, clock: Any, rate: float) -> tuple[Arm, Calibration | None]:
        """Return the arm, and the calibration of its camera."""
        from counterbc.robots.calibration import Calibration
        from counterbc.robots.own_robot import SIMULATED, connect

        calibration = None if self.calibration is None else Calibration.load(self.calibration)
        if self.robot != SIMULATED:
            return connect(self.robot), calibration
        robot, simulated_marks = self._simulated(clock, rate)
        return robot, calibration or simulated_marks

    def _lower_limits(self, robot: Arm) -> None:
        """Let the arm have the lower limits that the options name."""
        given = {"speed": self.speed, "acceleration": self.acceleration}
        lower = {
            name: min(value, getattr(robot.limits, name))
            for name, value in given.items()
            if value is not None
        }
        if not lower:
            return
        try:
            robot.limits = replace(robot.limits, **lower)
        except AttributeError as error:
            raise OptionError(
                f"the limits of {self.robot} cannot be set; leave out --speed and --acceleration, "
                "and lower them in its module"
            ) from error

    def _simulated(self, clock: Any, rate: float) -> tuple[SimulatedRobot, Calibration | None]:
        from counterbc.robots.simulated.overhead import Overhead
        from counterbc.robots.simulated.simulated_robot import SimulatedRobot

        overhead = Overhead(seed=self.seed) if self.pictures else None
        track = None if overhead is None else overhead.track
        robot = SimulatedRobot(clock, self.seed, self._disturbances(), track=track, rate=rate)
        return robot, None if overhead is None else overhead.calibration

    def _disturbances(self) -> Disturbances:
        from counterbc.robots.simulated.sensor import Disturbances

        return Disturbances(**self.given_options("disturbances"))


def check_lines(
    checks: list[Check], warnings: Sequence[str] = ()
) -> tuple[Json, list[RenderableType]]:
    """Return the checks and warnings as JSON, and one line for each."""
    rows = [{"name": c.name, "status": c.status, "text": c.text} for c in checks]
    lines: list[RenderableType] = [f"{c.status:<12}{c.name:<12}{c.text}" for c in checks]
    lines += [f"{'WARNING':<12}{text}" for text in warnings]
    is_ok = all(c.is_ok for c in checks)
    return {"ok": is_ok, "checks": rows, "warnings": list(warnings)}, lines


def signal_line(summary: Json, path: Path) -> str:
    """Return what to print after a signal: whether the arm stands, and where the log is."""
    if summary["is_stopped"]:
        return f"stopped; the arm stands, and the log is in {path}"
    return f"{MAY_MOVE} ({summary['ended']}); the log is in {path}"


def run_lines(summary: Json, measures: Json | None, path: Path) -> list[RenderableType]:
    """Return what a run amounts to, in words and a table."""
    faults = ", ".join(f"{name} {n}" for name, n in summary["faults"].items()) or "none"
    lines: list[RenderableType] = [] if summary["is_stopped"] else [MAY_MOVE]
    lines += [f"WARNING: {text}" for text in summary["warnings"]]
    lines += [
        f"{summary['ticks']} ticks in {summary['seconds']:.1f} s: {summary['ended']}",
        f"deadlines missed: {summary['missed']}; ticks with a fault: {faults}; stops by the "
        f"watchdog: {summary['watchdog_stops']}",
    ]
    rows = [
        [name.replace("_", " "), *("–" if v is None else f"{v:.2f}" for v in values.values())]
        for name, values in summary["times_ms"].items()
    ]
    lines.append(plain_table(("milliseconds", "median", "99 %", "largest"), rows))
    lines.append(lag_line(summary))
    if measures is not None:
        lines.append(", ".join(f"{k.replace('_', ' ')} {v:.3g}" for k, v in measures.items()))
    return [*lines, f"Log: {path}"]


def lag_line(summary: Json) -> str:
    """Return the demonstrators' lag beside the loop's latency, which are different things."""
    lag, latency = summary["trained_lag"]["ms"], summary["times_ms"]["latency"]["p50"]
    undone = "unknown" if lag is None else "/".join(f"{ms:g}" for ms in lag) + " ms"
    return (
        f"lag of the demonstrators, undone in training: {undone}; latency of this loop, camera to "
        f"command, not undone: {'–' if latency is None else f'{latency:.1f} ms'}"
    )
