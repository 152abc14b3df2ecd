"""Tables of the docs about the loop that drives an arm and its tracker, from the benchmarks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from reproduction.markdown import markdown_table
from reproduction.options import DOCS
from reproduction.records import read

TIMES = DOCS.parent / "benchmarks" / "results" / "robots.json"
TRACKER = TIMES.with_name("tracker.json")
PRIORITY = ", real-time priority"
NONE = "Not measured yet."


def benchmark(path: Path = TIMES) -> dict[str, Any]:
    """Return the sections of the benchmark; none where it was not run."""
    contents: dict[str, Any] = read(path) if path.exists() else {}
    return contents


def faults_table(sections: dict[str, Any]) -> str:
    """Return how soon the arm was stopped after each fault, in periods."""
    lines = []
    for name, section in _of_task(sections, "faults"):
        for row in section["rows"]:
            lines.append([
                row["fault"], str(row["runs"]), f"{row['within_two_periods']}",
                f"{row['median_periods']:.2f}", f"{row['largest_periods']:.2f}",
                str(row["commands_after_stop"]), name, f"{section['load_at_end']:.1f}",
                section["date"],
            ])  # fmt: skip
    columns = (
        "fault", "runs", "stopped within two periods", "median, periods", "largest, periods",
        "commands after the stop", "scheduling", "load at the end", "date",
    )  # fmt: skip
    return markdown_table(columns, lines) if lines else NONE


def soak_table(sections: dict[str, Any]) -> str:
    """Return lateness and jitter of every soak's loop and of the one that only slept beside it."""
    lines = []
    for name, section in _of_task(sections, "soak"):
        for row in section["rows"]:
            late, jitter = row["late_ms"], row["jitter_ms"]
            lines.append([
                row["loop"], f"{row['ticks']:,}", str(row["missed"]), f"{late['p99']:.2f}",
                f"{late['max']:.2f}", f"{jitter['p50']:.2f}", f"{jitter['p99']:.2f}",
                f"{jitter['max']:.2f}", _faults(row), str(row.get("watchdog_stops", "")),
                row.get("ended", ""), _stalls(row), name, f"{section['load_at_end']:.1f}",
                section["date"],
            ])  # fmt: skip
    columns = (
        "loop", "ticks", "deadlines missed", "late, 99 % (ms)", "largest", "jitter, median (ms)",
        "99 %", "largest", "ticks with a fault", "stops by the watchdog", "ended",
        "pages from the disk, loop + policy; stolen by the host", "scheduling", "load at the end",
        "date",
    )  # fmt: skip
    return markdown_table(columns, lines) if lines else NONE


def load_table(sections: dict[str, Any]) -> str:
    """Return what the loop missed beside competing programs, and its commands against limits."""
    lines = []
    for name, section in _of_task(sections, "load"):
        for row in section["rows"]:
            lines.append([
                f"{row['programs']} on {section['cpus']} cores", f"{row['ticks']:,}",
                str(row["missed"]), str(row["faulty"]), str(row["watchdog_stops"]),
                f"{row['late_ms']['p99']:.0f}", f"{100 * row['speed_share']:.0f} %",
                f"{100 * row['acceleration_share']:.0f} %", f"{row['outside_mm']:.1f}",
                f"{row['slowest_stop_periods']:.1f}", name, _optional(row.get("load_before")),
                f"{section['load_at_end']:.1f}", section["date"],
            ])  # fmt: skip
    columns = (
        "programs that compete", "ticks", "deadlines missed", "faulty ticks",
        "stops by the watchdog", "late, 99 % (ms)", "largest speed, of its limit",
        "largest change of speed, of its limit", "paddle outside the workspace (mm)",
        "slowest stop after a fault (periods)", "scheduling", "load before", "load at the end",
        "date",
    )  # fmt: skip
    return markdown_table(columns, lines) if lines else NONE


def rallies_table(sections: dict[str, Any]) -> str:
    """Return hits, misses and faults of rallies in real time, by kind of disturbance."""
    lines = []
    for name, section in _of_task(sections, "rallies"):
        for row in section["rows"]:
            jitter, latency = row["jitter_ms"], row["latency_ms"]
            lines.append([
                row["disturbances"], f"{row['delay_ms']:g}",
                f"{row['delay_ms'] + row['delay_spread_ms']:g}", f"{100 * row['dropped']:g} %",
                f"{row['noise_mm']:g}", str(row["rallies"]), str(sum(row["hits"])),
                f"{60 * sum(row['hits']) / row['seconds']:.1f}", f"{row['ticks']:,}",
                str(row["missed"]), _faults(row), str(row["watchdog_stops"]),
                f"{jitter['p99']:.2f}", f"{latency['p50']:.1f}", f"{latency['p99']:.1f}",
                f"{100 * row['speed_share']:.0f} %", f"{row['outside_mm']:.1f}", name,
                f"{row['load_at_start']:.1f}", section["date"],
            ])  # fmt: skip
    columns = (
        "disturbances", "delay (ms), from", "to", "pictures lost", "noise (mm)", "rallies", "hits",
        "hits per minute", "ticks", "deadlines missed", "ticks with a fault",
        "stops by the watchdog", "jitter, 99 % (ms)", "latency, median (ms)", "99 %",
        "largest speed, of its limit", "paddle outside the workspace (mm)", "scheduling",
        "load at the start", "date",
    )  # fmt: skip
    return markdown_table(columns, lines) if lines else NONE


def tracker_table(section: dict[str, Any]) -> str:
    """Return how far from the puck the tracker finds it, in millimetres."""
    lines = [
        [
            row["pictures"], str(row["places"]), str(row["tracked"]), f"{row['mean_mm']:.2f}",
            f"{row['median_mm']:.2f}", f"{row['largest_mm']:.1f}",
        ]
        for row in section.get("rows", [])
    ]  # fmt: skip
    columns = (
        "pictures of 640 × 360 pixels", "places", "found", "error, mean (mm)", "median", "largest",
    )  # fmt: skip
    return markdown_table(columns, lines) if lines else NONE


def _optional(number: float | None) -> str:
    """Return a number, or nothing where older rows lack it."""
    return "" if number is None else f"{number:.1f}"


def _faults(row: dict[str, Any]) -> str:
    """Return the numbers of ticks with each fault; a loop without an arm has none to count."""
    if "faults" not in row:
        return ""
    return ", ".join(f"{name}: {count}" for name, count in row["faults"].items()) or "none"


def _stalls(row: dict[str, Any]) -> str:
    """Return what may have held up a loop from outside, where it was counted."""
    pages, stolen = [row.get(n) for n in ("loop_pages", "policy_pages")], row.get("stolen_seconds")
    if None in (*pages, stolen):
        return ""
    return f"{pages[0]} + {pages[1]}; {stolen:.1f} s"


def _of_task(sections: dict[str, Any], task: str) -> list[tuple[str, dict[str, Any]]]:
    """Return all sections of a task with their scheduling: ordinary first, each by date."""
    pairs = [
        ("real-time" if PRIORITY in name else "ordinary", section)
        for name, section in sections.items()
        if name.split(", ")[0] == task
    ]
    return sorted(pairs, key=lambda pair: (pair[0], pair[1]["date"]))
