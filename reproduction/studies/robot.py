"""Figure 7's measures on the simulated arm, through the loop that would drive a real one.

    python -m reproduction run robot --out reproduction/results
    python -m reproduction run robot --clock both --out reproduction/results    # real time as well

Policies of the paper's five methods learn from demonstrations of the air hockey world, whose state
and units the simulated arm shares. Δ of Counter-BC is chosen on some seeds, on which BC plays for
comparison; others report. A policy plays one rally of up to 30 seconds. On a virtual clock only the
camera delays anything; in real time the policy runs in its own process, and the machine's own
delays count as well.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

import numpy as np

from counterbc import Policies, demonstrate, export, find_teacher, train
from counterbc.acting.clock import Clock, VirtualClock, WallClock
from counterbc.acting.intervals import mean_interval, paired_difference
from counterbc.experiments.cell import reproducible
from counterbc.robots.decider import Decider, DirectPolicy
from counterbc.robots.loop import Loop, LoopSettings
from counterbc.robots.policy_process import PolicyProcess
from counterbc.robots.priority import real_time
from counterbc.robots.simulated.arm import Arm
from counterbc.robots.simulated.simulated_robot import SimulatedRobot
from counterbc.robots.tick_log import TickLog
from reproduction import robot_timing
from reproduction.markdown import markdown_table
from reproduction.options import StudyOptions, option
from reproduction.paper import PAPER_METHODS, STAND_IN
from reproduction.records import Record, Records, kernels_of, read_rows, write_rows

WORLD, SECONDS = "air-hockey", 30.0
RADII = (0.1, 0.2, 0.4, 0.6, 0.8)
SEEDS = {"choose": 1070, "report": 3280}
"""The first seed of each phase: of demonstrations, policies and starts."""
COUNTS = {"choose": 10, "report": 20}
MEASURES = ("hits", "distance_per_hit", "time_per_hit", "hits_per_minute")
PATIENCE = 10**6
"""Faulty ticks in a row that end no run: the measures are over the whole rally."""
ClockName = Literal["virtual", "real"]
Clocks = Literal["virtual", "real", "both"]


@dataclass(frozen=True, kw_only=True)
class RobotOptions(StudyOptions):
    """Play air hockey on the simulated arm with policies of five methods."""

    clock: Clocks = option("virtual", "virtual time, real time, or both")
    pairs: int = 1600
    steps: int | None = None
    seeds: int | None = option(None, "seeds of the report that play, at most 20")
    priority: int | None = option(None, "real-time priority of the loop, 1 to 99, on Linux")


def run(options: RobotOptions) -> None:
    """Compute the missing rows and print the tables."""
    records = Records(options.out / "robot" / "rows.json", indent=None)
    _compute("choose", "bc", None, ("virtual",), options, records)
    for radius in RADII:
        _compute("choose", "counter-bc", radius, ("virtual",), options, records)
    best = chosen_radius(records.rows)
    clocks: tuple[ClockName, ...]
    clocks = ("virtual", "real") if options.clock == "both" else (options.clock,)
    for method in PAPER_METHODS:
        used = best if method == "counter-bc" else None
        _compute("report", method, used, clocks, options, records)
    write_rows(records.rows, options.out / "robot")
    print(choice_table(records.rows), report_table(records.rows), sep="\n\n")


def _compute(
    phase: str, method: str, radius: float | None, clocks: Sequence[ClockName],
    options: RobotOptions, records: Records,
) -> None:  # fmt: skip
    """Train all seeds of a method, as one population, and let those without a row play."""
    about: Record = {"phase": phase, "method": method, "radius": radius}
    seeds = [SEEDS[phase] + k for k in range(COUNTS[phase])]
    played = seeds[: options.seeds] if phase == "report" else seeds
    pairs = [(clock, seed) for clock in clocks for seed in played]
    left = [p for p in pairs if not records.has(**about, clock=p[0], seed=p[1])]
    if not left:
        return
    policies = train_policies(method, radius, seeds, options)
    arm = Arm()
    with TemporaryDirectory() as folder:
        for clock, seed in left:
            path = Path(folder) / f"{clock}-{seed}.onnx"
            export(policies, path, seeds.index(seed))
            row = about | {"clock": clock, "seed": seed, "kernel": kernels_of(policies)}
            records.add(row | _play(path, seed, clock, arm, options.priority))
            print(f"{method} {seed} {clock}: {records.rows[-1]['hits']:g} hits", flush=True)


def _play(path: Path, seed: int, clock: ClockName, arm: Arm, priority: int | None) -> Record:
    """Play one rally, in real time with a priority; return its measures and what decided them."""
    if clock == "virtual":
        return play(path, seed, clock, arm)
    with real_time(priority):
        result = play(path, seed, clock, arm)
    scheduling = "ordinary" if priority is None else "real-time"
    return result | {"scheduling": scheduling, "load": round(os.getloadavg()[0], 1)}


def train_policies(
    method: str, radius: float | None, seeds: Sequence[int], options: RobotOptions
) -> Policies:
    """Return one policy per seed, each from its own demonstrations."""
    teacher = find_teacher(STAND_IN, None, None, world=WORLD)
    demos = [demonstrate(WORLD, teacher, options.pairs, seed) for seed in seeds]
    changes: dict[str, Any] = {} if radius is None else {"radius": radius}
    if options.steps is not None:
        changes["steps"] = options.steps
    with reproducible():
        return train(demos, method, seeds=seeds, preset="paper", progress=False, **changes)


def play(path: Path, seed: int, clock: ClockName, arm: Arm) -> Record:
    """Play one rally; return the paper's measures and those of the loop."""
    is_virtual = clock == "virtual"
    time: Clock = VirtualClock() if is_virtual else WallClock()
    policy: Decider = DirectPolicy(path) if is_virtual else PolicyProcess(path)
    robot, log = SimulatedRobot(time, seed, arm=arm), TickLog(None, {})
    loop = Loop(robot, policy, log, settings=LoopSettings(patience=PATIENCE), clock=time)
    summary = loop.run(SECONDS, lambda: robot.rally.is_over)
    policy.close()
    times = summary["times_ms"]
    return {
        **robot.rally.measures,
        "hits_per_minute": 60 * robot.rally.hits / robot.rally.seconds,
        "ticks": summary["ticks"],
        "missed": summary["missed"],
        "faulty": sum(summary["faults"].values()),
        "jitter_p99": times["jitter"]["p99"],
        "jitter_max": times["jitter"]["max"],
        "latency_p50": times["latency"]["p50"],
        "latency_p99": times["latency"]["p99"],
    }


def chosen_radius(rows: list[Record]) -> float:
    """Return Δ with the most hits per minute in the first phase; ties take the smaller one."""
    return max(RADII, key=lambda radius: round(_mean(rows, radius), 9))


def _mean(rows: list[Record], radius: float) -> float:
    about = {"phase": "choose", "method": "counter-bc", "radius": radius}
    values = _values(rows, "hits_per_minute", **about)
    return sum(values) / max(len(values), 1)


def _values(rows: list[Record], name: str, **about: Any) -> list[float]:
    """Return a column of the rows with these values, by seed."""
    hits = [row for row in rows if about.items() <= row.items()]
    return [float(row[name]) for row in sorted(hits, key=lambda row: int(row["seed"]))]


def choice_table(rows: list[Record]) -> str:
    """Return the hits per minute of BC and of each Δ in the first phase; the choice is bold."""
    lines = []
    for method, radius in (("bc", None), *(("counter-bc", radius) for radius in RADII)):
        about = {"phase": "choose", "method": method, "radius": radius}
        if values := _values(rows, "hits_per_minute", **about):
            text = f"{sum(values) / len(values):.1f}"
            is_best = radius is not None and radius == chosen_radius(rows)
            name = "" if radius is None else f"{radius:g}"
            lines.append([method, name, f"**{text}**" if is_best else text, str(len(values))])
    return markdown_table(("method", "Δ", "hits per minute", "policies"), lines)


def report_table(rows: list[Record]) -> str:
    """Return the measures of each method, and the loop's timing, for each clock."""
    lines = []
    for clock in ("virtual", "real"):
        for method in PAPER_METHODS:
            about = {"phase": "report", "method": method, "clock": clock}
            if _values(rows, "hits", **about):
                lines.append([clock, method, *_cells(rows, about), *_timing(rows, about)])
    columns = (
        "clock", "method", "hits", "distance per hit (m)", "time per hit (s)", "hits per minute",
        "Counter-BC above it, hits per minute", "policies", "ticks", "deadlines missed",
        "faulty ticks", "jitter, mean of 99 % (ms)", "latency, mean of medians (ms)", "scheduling",
        "load",
    )  # fmt: skip
    return markdown_table(columns, lines)


def _cells(rows: list[Record], about: Record) -> list[str]:
    cells = []
    for name in MEASURES:
        interval = mean_interval(np.array(_values(rows, name, **about)))
        cells.append(f"{interval.mean:.2f} [{interval.low:.2f}, {interval.high:.2f}]")
    ours = _values(rows, MEASURES[-1], **(about | {"method": "counter-bc"}))
    theirs = _values(rows, MEASURES[-1], **about)
    if about["method"] == "counter-bc" or len(ours) != len(theirs):
        return [*cells, "", str(len(theirs))]
    gap = paired_difference(np.array(ours), np.array(theirs)).interval
    return [*cells, f"{gap.mean:+.2f} [{gap.low:+.2f}, {gap.high:+.2f}]", str(len(theirs))]


def _timing(rows: list[Record], about: Record) -> list[str]:
    counts = [f"{sum(_values(rows, n, **about)):,.0f}" for n in ("ticks", "missed", "faulty")]
    means = []
    for name in ("jitter_p99", "latency_p50"):
        values = _values(rows, name, **about)
        means.append(f"{sum(values) / len(values):.2f}")
    if about["clock"] == "virtual":
        return [*counts, *means, "", ""]
    kinds = {str(row["scheduling"]) for row in rows if about.items() <= row.items()}
    loads = _values(rows, "load", **about)
    return [*counts, *means, ", ".join(sorted(kinds)), f"{min(loads):.1f} to {max(loads):.1f}"]


def sections(results: Path) -> dict[str, dict[str, str]]:
    """Return the tables of the docs."""
    rows, times = read_rows(results / "robot"), robot_timing.benchmark()
    tables = {"robot-choice": choice_table(rows), "robot-report": report_table(rows)}
    tables |= {
        "robot-faults": robot_timing.faults_table(times),
        "robot-soak": robot_timing.soak_table(times),
        "robot-load": robot_timing.load_table(times),
        "robot-rallies": robot_timing.rallies_table(times),
        "robot-tracker": robot_timing.tracker_table(robot_timing.benchmark(robot_timing.TRACKER)),
    }
    return {"robots": tables}
