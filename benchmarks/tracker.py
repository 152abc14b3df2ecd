"""Measure how far from the puck the tracker finds it, in drawn pictures and in MuJoCo's.

    python benchmarks/tracker.py [--out benchmarks/results/tracker.json]

It takes some seconds and needs the extra `robots`. The puck lies at random places of the table. In
MuJoCo's pictures the arm hides a part of it at times.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from counterbc.data.arrays import Array
from counterbc.envs.air_hockey.table import PUCK, TABLE_HIGH, TABLE_LOW
from counterbc.robots.simulated.arm import Arm
from counterbc.robots.simulated.overhead import MujocoOverhead, Overhead
from counterbc.robots.simulated.scene import build
from counterbc.robots.tracker import Tracker

DRAWN, RENDERED = 300, 40
"""Numbers of pictures."""
NOISES = (0.0, 16.0, 32.0)
"""Standard deviations of every pixel, of 255."""


def row(pictures: str, count: int, find: Callable[[Array], Array | None]) -> dict[str, Any]:
    """Return how often the puck is found at random places, and how far off, in millimetres."""
    places = np.random.default_rng(0).uniform(TABLE_LOW[:, 0], TABLE_HIGH[:, 0], (count, 2))
    pairs = [(place, tracked) for place in places if (tracked := find(place)) is not None]
    errors = 1000 * np.linalg.norm(np.subtract(*np.swapaxes(pairs, 0, 1)), axis=1)
    return {
        "pictures": pictures, "places": count, "tracked": len(pairs),
        "mean_mm": float(errors.mean()), "median_mm": float(np.median(errors)),
        "largest_mm": float(errors.max()),
    }  # fmt: skip


def rows() -> list[dict[str, Any]]:
    """Return the rows of drawn pictures, then that of MuJoCo's."""
    drawn = [row(name_of(noise), DRAWN, Overhead(noise).track) for noise in NOISES]
    arm = Arm(build(is_drawn=True))
    arm.place(np.array([0.3, 0.0]))
    camera = MujocoOverhead(arm)
    tracker = Tracker(camera.calibration, PUCK)
    rendered = row(
        "MuJoCo's, with the arm", RENDERED, lambda place: tracker.find(camera.picture(place))
    )
    camera.close()
    return [*drawn, rendered]


def name_of(noise: float) -> str:
    """Return what drawn pictures are called."""
    return f"drawn askew, noise of σ = {noise:g} of 255" if noise else "drawn askew"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    contents = {"date": time.strftime("%Y-%m-%d"), "rows": rows()}
    print(*map(json.dumps, contents["rows"]), sep="\n")
    if options.out is not None:
        options.out.write_text(json.dumps(contents, indent=1) + "\n")


if __name__ == "__main__":
    main()
