"""Play air hockey on the simulated arm in real time, with and without disturbances.

    python -m benchmarks.rallies [--rallies 10] [--seconds 30] [--priority 50]
                                 [--out benchmarks/results/robots.json]

One policy learns from demonstrations by BC and runs in a process of its own. It plays rallies from
the same starts under each kind of disturbance: positions of the puck that arrive late, pictures
that are lost, and noise of the tracker. Run it on an idle machine. Rows of a way of scheduling
replace its earlier ones.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.robots import PATIENCE, Witness, keep, load_average, scheduled
from counterbc.acting.clock import WallClock
from counterbc.robots.loop import Loop, LoopSettings
from counterbc.robots.policy_process import PolicyProcess
from counterbc.robots.priority import real_time
from counterbc.robots.simulated.arm import Arm
from counterbc.robots.simulated.sensor import Disturbances
from counterbc.robots.simulated.simulated_robot import SimulatedRobot
from counterbc.robots.summary import summarize
from counterbc.robots.tick_log import Tick, TickLog

RALLIES, SECONDS = 10, 30.0
KINDS = {
    "none": Disturbances(),
    "moderate": Disturbances(delay=0.01, delay_spread=0.01, dropped=0.05, noise=0.002),
    "strong": Disturbances(delay=0.02, delay_spread=0.02, dropped=0.2, noise=0.004),
}
"""Without disturbances, positions still arrive 10 ms after their picture."""
TEACHER, PAIRS, STEPS = "quick-crowd", 1600, 10_000
POLICY_SEED, FIRST_START = 5200, 5210


def write_player(path: Path, pairs: int = PAIRS, steps: int = STEPS) -> Path:
    """Write a policy that learned to play air hockey by BC."""
    import torch

    from counterbc import demonstrate, export, find_teacher, train

    teacher = find_teacher(TEACHER, None, None, world="air-hockey")
    demos = demonstrate("air-hockey", teacher, pairs, POLICY_SEED)
    torch.set_num_threads(1)
    policies = train(demos, "bc", seeds=[POLICY_SEED], preset="paper", steps=steps, progress=False)
    export(policies, path)
    return path


@dataclass
class Score:
    """What is counted over the rallies of one kind of disturbance."""

    hits: list[int] = field(default_factory=list)
    seconds: float = 0.0
    ticks: list[Tick] = field(default_factory=list)
    watchdog_stops: int = 0
    outside: float = 0.0
    """The largest distance of the paddle outside the workspace, in metres."""
    speed: float = 0.0
    """The largest commanded speed along an axis, in m/s."""


def play(score: Score, kind: str, policy: Path, start: int, seconds: float, arm: Arm) -> None:
    """Play one rally in real time, and add it to a score."""
    robot = SimulatedRobot(WallClock(), start, KINDS[kind], arm=arm)
    witness, process, log = Witness(robot), PolicyProcess(policy), TickLog(None, {})
    settings = LoopSettings(patience=PATIENCE)  # faults are counted, and end no rally
    try:
        loop = Loop(witness, process, log, settings=settings)
        summary = loop.run(seconds, lambda: robot.rally.is_over)
    finally:
        process.close()
    score.hits.append(robot.rally.hits)
    score.seconds += robot.rally.seconds
    score.ticks += log.ticks
    score.watchdog_stops += summary["watchdog_stops"]
    score.outside = max(score.outside, witness.outside)
    score.speed = max(score.speed, witness.speed)


def score_row(kind: str, score: Score) -> dict[str, Any]:
    """Return the settings and the counts of one kind of disturbance."""
    chosen, summary = KINDS[kind], summarize(score.ticks)
    times = summary["times_ms"]
    return {
        "disturbances": kind, "delay_ms": 1000 * chosen.delay,
        "delay_spread_ms": 1000 * chosen.delay_spread, "dropped": chosen.dropped,
        "noise_mm": 1000 * chosen.noise, "rallies": len(score.hits), "seconds": score.seconds,
        "hits": score.hits, "ticks": summary["ticks"], "missed": summary["missed"],
        "faults": summary["faults"], "watchdog_stops": score.watchdog_stops,
        "jitter_ms": times["jitter"], "latency_ms": times["latency"],
        "outside_mm": 1000 * score.outside,
        "speed_share": score.speed / SimulatedRobot.limits.speed,
    }  # fmt: skip


def rallies(count: int, seconds: float, policy: Path) -> list[dict[str, Any]]:
    """Play all kinds of disturbance from each start in turn, so that they share the machine."""
    arm, scores = Arm(), {kind: Score() for kind in KINDS}
    load = load_average()
    for start in range(FIRST_START, FIRST_START + count):
        for kind, score in scores.items():
            play(score, kind, policy, start, seconds, arm)
            print(f"{start} {kind}: {score.hits[-1]} hits", flush=True)
    return [score_row(kind, score) | {"load_at_start": load} for kind, score in scores.items()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("--rallies", type=int, default=RALLIES, help="of each kind of disturbance")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="of a rally, at most")
    parser.add_argument("--priority", type=int, help="real-time priority, 1 to 99, on Linux")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        policy = write_player(Path(folder) / "policy.onnx")
        with real_time(options.priority):
            rows = rallies(options.rallies, options.seconds, policy)
    print(*map(json.dumps, rows), sep="\n")
    keep(options.out, scheduled("rallies", options.priority), rows)


if __name__ == "__main__":
    main()
