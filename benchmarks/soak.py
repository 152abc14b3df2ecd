"""Drive an arm at 20 Hz for ten minutes, beside a loop that only sleeps.

    python -m benchmarks.soak [--robot simulated point] [--priority 0 50] [--seconds 600]
                              [--out benchmarks/results/robots.json]

Run it on an idle machine. Each robot is driven with each priority, one soak after the other. The
policy runs in a process of its own. The simulated arm is computed in the loop's process, for some
milliseconds of every tick; the point robot computes next to nothing, as the driver of a real arm. A
third process only sleeps; what it shows is the machine's own jitter. Every soak is kept, also one
that misses the goal: its name in the file says what was run, the machine's load and when.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.robots import RATE, REAL_TIME, keep, load_average, write_policy
from counterbc.acting.clock import Clock, Ticks, WallClock
from counterbc.data.arrays import Array
from counterbc.robots.loop import FINISHED, Loop
from counterbc.robots.policy_process import PolicyProcess
from counterbc.robots.priority import real_time
from counterbc.robots.robot import Reading, Robot
from counterbc.robots.simulated.simulated_robot import EXPIRY, WORKSPACE, SimulatedRobot
from counterbc.robots.summary import quantiles
from counterbc.robots.tick_log import TickLog

SECONDS = 600.0
JITTER_LIMIT, MISSED_LIMIT = 5.0, 1
"""Largest 99th percentile of the jitter in ms, and number of missed deadlines in ten minutes."""
ROBOTS = {"simulated": "simulated arm", "point": "point robot"}
Counts = dict[str, float | None]
"""How often something happened; None where it is unknown."""
ORDINARY, READY = 0, "ready"
SETTLE = 1.0
"""Seconds to rest after the imports: Linux halts a real-time program for 50 ms of each second that
it computes through."""
SWING, PACE = 0.15, 2.0
"""How far the puck of the point robot swings, in metres, and its angular frequency."""


class PointRobot:
    """A point that moves as commanded, and a puck that swings from side to side."""

    limits = WORKSPACE

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.position, self.velocity = np.mean([self.limits.low, self.limits.high], 0), np.zeros(2)
        self.moved_at, self.expires_at = clock.now(), np.inf

    def observe(self) -> Reading | None:
        """Return the point's position, and the puck's now and one period before."""
        now = self.clock.now()
        self._move(now)
        pucks = [(1.0, SWING * np.sin(PACE * time)) for time in (now, now - 1 / RATE)]
        obs = np.concatenate([self.position, *pucks])
        return Reading(obs, self.position, now, position_time=now)

    def command(self, velocity: Array) -> None:
        now = self.clock.now()
        self._move(now)
        self.velocity, self.expires_at = velocity, now + EXPIRY / RATE

    def stop(self) -> None:
        self.velocity = np.zeros(2)

    def _move(self, now: float) -> None:
        seconds = max(min(now, self.expires_at) - self.moved_at, 0.0)
        self.position = self.position + self.velocity * seconds
        self.moved_at = now


def make_robot(name: str) -> Robot:
    """Return a robot that ROBOTS names."""
    return PointRobot(WallClock()) if name == "point" else SimulatedRobot(WallClock(), 0)


def bare_sleep(seconds: float) -> dict[str, Any]:
    """Tick without work; return the lateness and jitter of ticks in milliseconds."""
    ticks, times, late = Ticks(RATE, WallClock()), list[float](), list[float]()
    for _ in range(round(seconds * RATE)):
        now, behind = ticks.wait()
        times.append(now)
        late.append(behind)
    jitter = np.abs(np.diff(times) - 1 / RATE).tolist()
    missed = sum(int(behind * RATE) for behind in late)
    return {
        "loop": "bare sleep", "ticks": len(times), "missed": missed,
        "late_ms": quantiles(late), "jitter_ms": quantiles(jitter),
    }  # fmt: skip


def pages_from_disk(process_id: int) -> int | None:
    """Return how many pages a process has waited for (major faults); None where it is unknown."""
    try:
        text = Path(f"/proc/{process_id}/stat").read_text()
    except OSError:
        return None
    return int(text.rpartition(")")[2].split()[9])


def stolen_seconds() -> float | None:
    """Return how long a host has kept this machine's cores to itself; None where it is unknown."""
    try:
        words = Path("/proc/stat").read_text().split("\n")[0].split()
    except OSError:
        return None
    return int(words[8]) / os.sysconf("SC_CLK_TCK")


def stall_counts(policy_id: int) -> Counts:
    """Return what may hold up the loop from outside, counted since the start of each."""
    return {
        "loop_pages": pages_from_disk(os.getpid()), "policy_pages": pages_from_disk(policy_id),
        "stolen_seconds": stolen_seconds(),
    }  # fmt: skip


def growth(before: Counts, after: Counts) -> dict[str, Any]:
    """Return how far counts have grown; None where one is unknown."""
    pairs = ((name, before[name], after[name]) for name in before)
    return {name: None if a is None or b is None else round(b - a, 2) for name, a, b in pairs}


def soak(seconds: float, policy: Path, robot: str) -> list[dict[str, Any]]:
    """Drive a robot, and let a loop in another process only sleep."""
    command = [sys.executable, "-m", "benchmarks.soak", "--bare", "--seconds", str(seconds)]
    root = Path(__file__).parents[1]
    bare = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=root)
    process = PolicyProcess(policy)
    assert bare.stdout is not None
    assert bare.stdout.readline().strip() == READY  # its imports must not disturb the loop
    loop = Loop(make_robot(robot), process, TickLog(None, {}))
    before = stall_counts(process.process_id)
    summary = loop.run(seconds)
    stalls = growth(before, stall_counts(process.process_id))
    process.close()
    times = summary["times_ms"]
    row = {
        "loop": ROBOTS[robot], "ticks": summary["ticks"], "missed": summary["missed"],
        **{f"{name}_ms": times[name] for name in times}, "faults": summary["faults"],
        "watchdog_stops": summary["watchdog_stops"], "ended": summary["ended"], **stalls,
    }  # fmt: skip
    content, _ = bare.communicate()
    return [row, json.loads(content)]


def soak_name(robot: str, priority: int, load: float, when: str) -> str:
    """Return what was run, the machine's load and when, which no other soak has in common."""
    scheduling = f"{REAL_TIME} {priority}" if priority else "ordinary priority"
    return f"soak, {scheduling}, {ROBOTS[robot]}, load {load:.1f}, {when}"


def verdict(rows: list[dict[str, Any]], seconds: float) -> str:
    """Return whether a soak kept its limits."""
    arm = rows[0]
    allowed = MISSED_LIMIT * max(1.0, seconds / SECONDS)
    jitter = arm["jitter_ms"]["p99"]
    is_good = jitter < JITTER_LIMIT and arm["missed"] <= allowed and arm["ended"] == FINISHED
    text = "kept" if is_good else "not kept: was the machine idle?"
    return (
        f"{arm['loop']}: p99 jitter {jitter:.2f} ms (limit {JITTER_LIMIT:g}), {arm['missed']} of "
        f"{arm['ticks']:,} deadlines missed (limit {allowed:g}), {arm['ended']}; limits {text}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("--robot", nargs="+", choices=tuple(ROBOTS), default=["simulated"])
    parser.add_argument(
        "--priority", nargs="+", type=int, default=[ORDINARY],
        help="real-time priorities, 1 to 99, on Linux; 0 is an ordinary one",
    )  # fmt: skip
    parser.add_argument("--seconds", type=float, default=SECONDS, help="of each soak")
    parser.add_argument("--bare", action="store_true", help="only sleep; a soak starts this itself")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    if options.bare:
        time.sleep(SETTLE)
        print(READY, flush=True)
        print(json.dumps(bare_sleep(options.seconds)))
        return
    for priority in options.priority:  # one that is not allowed is refused before the first soak
        with real_time(priority or None):
            pass
    with tempfile.TemporaryDirectory() as folder:
        policy = write_policy(Path(folder) / "policy.onnx")
        for robot, priority in product(options.robot, options.priority):
            with real_time(priority or None):
                rows = soak(options.seconds, policy, robot)
            name = soak_name(robot, priority, load_average(), time.strftime("%Y-%m-%d %H:%M:%S"))
            print(
                name, *map(json.dumps, rows), verdict(rows, options.seconds), sep="\n", flush=True
            )
            keep(options.out, name, rows)


if __name__ == "__main__":
    main()
