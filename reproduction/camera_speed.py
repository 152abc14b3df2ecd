"""The table of the docs about the speed of policies that read cameras and a state together."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from reproduction.markdown import markdown_table
from reproduction.options import DOCS
from reproduction.records import read

SPEEDS = DOCS.parent / "benchmarks" / "results" / "cameras.json"
NAMES = {"cuda": "", "cpu": "one core of a CPU"}
NONE = "Not measured yet."


def sections(path: Path = SPEEDS) -> dict[str, dict[str, str]]:
    """Return the table for the page about cameras."""
    devices: dict[str, Any] = read(path) if path.exists() else {}
    return {"cameras": {"speed": table(devices) if devices else NONE}}


def table(devices: dict[str, Any]) -> str:
    """Return the time of a step and the speed beside frames alone, by device and policy."""
    lines: list[list[str]] = []
    for device, section in sorted(devices.items(), reverse=True):
        name = NAMES[device] or section["device"].removeprefix("NVIDIA ")
        sizes = section["sizes"]
        where = f"{name}, {sizes['members']} × {sizes['batch']}"
        for row in section["rows"]:
            cells = [f"{row['ms'][v]:.1f} ms ({row['speed'][v]:.2f})" for v in row["ms"]]
            lines.append([where, row["policy"], *cells])
    variants = next(iter(devices.values()))["rows"][0]["ms"]
    return markdown_table(["device, networks × batch", "method, policy", *variants], lines)
