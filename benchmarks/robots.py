"""Measure the loop that drives an arm: its reaction to faults, and on a busy machine.

    python benchmarks/robots.py faults [--repeats 20] [--out benchmarks/results/robots.json]
    python benchmarks/robots.py load [--seconds 20] [--out benchmarks/results/robots.json]

Faults are injected at random moments of real runs; the reaction is the time from the fault to the
command that stops the arm, in periods. Under load, programs that only compute compete with the loop
for some seconds, one, two and four for each core. Rows of one command replace its earlier ones.
`benchmarks/soak.py` drives an arm for ten minutes, `benchmarks/rallies.py` plays with disturbances.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from counterbc.acting.clock import WallClock
from counterbc.data.arrays import Array
from counterbc.robots.loop import Loop, LoopSettings
from counterbc.robots.policy_process import PolicyProcess
from counterbc.robots.priority import real_time
from counterbc.robots.robot import Reading
from counterbc.robots.simulated.arm import Arm
from counterbc.robots.simulated.simulated_robot import SimulatedRobot
from counterbc.robots.tick_log import TickLog

RATE, REPEATS = 20.0, 20
SECONDS, REAL_TIME = 20.0, "real-time priority"
PROGRAMS = (1, 2, 4)
"""Competing programs for each core."""
LOAD_REPEATS, WILD = 2, 10.0  # of each fault; the scale of actions, so that limits are reached
COMPUTE = "import os\nos.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))\nwhile True: pass"
"""A competing program, which does not inherit a real-time priority; on Linux only."""
PATIENCE = 10**6
"""Faulty ticks that end no run under load: all of them are counted."""
FAULTS = (
    "policy stalled", "policy killed", "camera lost", "observation not finite",
    "action not finite",
)  # fmt: skip
HUGE = 3e38
"""A finite observation at which a policy of 32-bit numbers overflows, and answers NaN."""


def write_policy(path: Path) -> Path:
    """Write a policy of usual size: two layers of 64 units that pull the paddle to the puck's y."""
    import torch

    from counterbc import Demonstrations, Episode, export, train

    rng = np.random.default_rng(0)
    obs = rng.uniform([0.2, -0.2, 0, -0.4, 0, -0.4], [0.6, 0.2, 1.6, 0.4, 1.6, 0.4], (600, 6))
    action = np.stack([5 * (0.3 - obs[:, 0]), 5 * (obs[:, 3] - obs[:, 1])], 1).clip(-1, 1)
    episodes = (Episode(obs, action, name="made"),)
    demos = Demonstrations(episodes, action_low=-np.ones(2), action_high=np.ones(2))
    torch.set_num_threads(1)
    policies = train(demos, "bc", preset="paper", steps=500, hidden=(64, 64), progress=False)
    export(policies, path)
    return path


class Faulty:
    """The simulated arm with a fault at a time, and the time of the stop that followed."""

    def __init__(self, robot: SimulatedRobot, kind: str) -> None:
        self.robot, self.kind, self.limits = robot, kind, robot.limits
        self.fault_at, self.stopped_at = np.inf, np.inf
        self.commands_after_stop = 0

    def observe(self) -> Reading | None:
        reading = self.robot.observe()
        if reading is None or self.robot.clock.now() < self.fault_at:
            return reading
        if self.kind == "camera lost":
            return Reading(reading.obs, reading.position, min(reading.time, self.fault_at))
        if self.kind == "observation not finite":
            return Reading(reading.obs * np.nan, reading.position, reading.time)
        if self.kind == "action not finite":
            return Reading(np.full_like(reading.obs, HUGE), reading.position, reading.time)
        return reading

    def command(self, velocity: Array) -> None:
        if np.isfinite(self.stopped_at):
            self.commands_after_stop += 1
        self.robot.command(velocity)

    def stop(self) -> None:
        self.robot.stop()
        now = self.robot.clock.now()
        if now >= self.fault_at:
            self.stopped_at = min(self.stopped_at, now)


def inject(faulty: Faulty, process: PolicyProcess, delay: float) -> threading.Timer:
    """Let the fault happen after some seconds."""

    def act() -> None:
        if faulty.kind.startswith("policy"):
            number = signal.SIGSTOP if faulty.kind == "policy stalled" else signal.SIGKILL
            os.kill(process.process_id, number)
        faulty.fault_at = faulty.robot.clock.now()

    timer = threading.Timer(delay, act)
    timer.start()
    return timer


def react(kind: str, policy: Path, arm: Arm, delay: float) -> tuple[float, int]:
    """Return the periods from a fault to the stop, and the number of commands after it."""
    process = PolicyProcess(policy)
    faulty = Faulty(SimulatedRobot(WallClock(), 0, arm=arm), kind)
    timer = inject(faulty, process, delay)
    Loop(faulty, process, TickLog(None, {})).run(delay + 3.0)
    timer.join()
    process.close()
    return (faulty.stopped_at - faulty.fault_at) * RATE, faulty.commands_after_stop


def faults(repeats: int, policy: Path) -> list[dict[str, Any]]:
    """Return the reaction to each fault, in periods."""
    arm, rng, rows = Arm(), np.random.default_rng(0), []
    for kind in FAULTS:
        delays = 0.5 + rng.uniform(0, 1 / RATE, repeats)  # any phase of a period
        results = [react(kind, policy, arm, delay) for delay in delays]
        periods = [p for p, _ in results]
        rows.append({
            "fault": kind, "runs": repeats, "median_periods": float(np.median(periods)),
            "largest_periods": float(max(periods)),
            "within_two_periods": int(sum(p <= 2 for p in periods)),
            "commands_after_stop": sum(n for _, n in results),
        })  # fmt: skip
        print(json.dumps(rows[-1]), flush=True)
    return rows


class Witness:
    """The simulated arm, and the largest commands that it gets."""

    def __init__(self, robot: SimulatedRobot) -> None:
        self.robot, self.limits = robot, robot.limits
        self.velocity: Array = np.zeros(len(robot.limits.low))
        self.speed, self.change, self.outside = 0.0, 0.0, 0.0
        """The largest speed, change of speed per command, and distance outside the workspace."""

    def observe(self) -> Reading | None:
        reading = self.robot.observe()
        place = self.robot.arm.paddle
        gaps = [np.array(self.limits.low) - place, place - np.array(self.limits.high)]
        self.outside = max(self.outside, float(np.max(gaps)))
        return reading

    def command(self, velocity: Array) -> None:
        self.speed = max(self.speed, float(np.abs(velocity).max()))
        self.change = max(self.change, float(np.abs(velocity - self.velocity).max()))
        self.velocity = np.array(velocity)
        self.robot.command(velocity)

    def stop(self) -> None:
        self.velocity = np.zeros_like(self.velocity)
        self.robot.stop()


@contextmanager
def busy(count: int) -> Iterator[None]:
    """Let some programs compute while the block runs, with ordinary priority."""
    programs = [subprocess.Popen([sys.executable, "-c", COMPUTE]) for _ in range(count)]
    try:
        yield
    finally:
        for program in programs:
            program.kill()
            program.wait()


def load(seconds: float, policy: Path) -> list[dict[str, Any]]:
    """Drive the arm beside programs that compete for the cores, then inject each fault."""
    arm, rows = Arm(), []
    for share in PROGRAMS:
        count = share * (os.cpu_count() or 1)
        process, before = PolicyProcess(policy), load_average()
        with busy(count):
            witness = Witness(SimulatedRobot(WallClock(), 0, arm=arm))
            settings = LoopSettings(patience=PATIENCE, scale=WILD)
            summary = Loop(witness, process, TickLog(None, {}), settings=settings).run(seconds)
            process.close()
            slowest = max(row["largest_periods"] for row in faults(LOAD_REPEATS, policy))
        extra = {"slowest_stop_periods": slowest, "load_before": before}
        rows.append(load_row(count, summary, witness) | extra)
        print(json.dumps(rows[-1]), flush=True)
    return rows


def load_row(programs: int, summary: dict[str, Any], witness: Witness) -> dict[str, Any]:
    """Return what a run under load counted, and its largest commands as shares of the limits."""
    limits = witness.limits
    return {
        "programs": programs, "ticks": summary["ticks"], "missed": summary["missed"],
        "faulty": sum(summary["faults"].values()), "watchdog_stops": summary["watchdog_stops"],
        "late_ms": summary["times_ms"]["late"], "speed_share": witness.speed / limits.speed,
        "acceleration_share": witness.change * RATE / limits.acceleration,
        "outside_mm": 1000 * witness.outside, "ended": summary["ended"],
        "is_stopped": summary["is_stopped"],
    }  # fmt: skip


def scheduled(task: str, priority: int | None) -> str:
    """Return the name of a task with its way of scheduling."""
    return task if priority is None else f"{task}, {REAL_TIME}"


def load_average() -> float:
    """Return how many programs ran or waited for a core in the last minute."""
    return round(os.getloadavg()[0], 1)


def keep(path: Path | None, name: str, rows: list[dict[str, Any]]) -> None:
    """Replace the rows of a name in a file."""
    if path is not None:
        whole = json.loads(path.read_text()) if path.exists() else {}
        facts = {"date": time.strftime("%Y-%m-%d"), "load_at_end": load_average()}
        whole[name] = {**facts, "cpus": os.cpu_count(), "rows": rows}
        path.write_text(json.dumps(whole, indent=1) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("task", choices=("faults", "load"))
    parser.add_argument("--seconds", type=float, default=SECONDS, help="of each row under load")
    parser.add_argument("--repeats", type=int, default=REPEATS)
    parser.add_argument("--priority", type=int, help="real-time priority, 1 to 99, on Linux")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        policy = write_policy(Path(folder) / "policy.onnx")
        tasks: dict[str, Callable[[], list[dict[str, Any]]]] = {
            "load": lambda: load(options.seconds, policy),
            "faults": lambda: faults(options.repeats, policy),
        }
        with real_time(options.priority):
            rows = tasks[options.task]()
    keep(options.out, scheduled(options.task, options.priority), rows)


if __name__ == "__main__":
    main()
