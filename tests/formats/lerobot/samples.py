"""A small dataset to write as LeRobot, and the info.json that was written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from counterbc.data.demonstrations import Demonstrations, Episode


def demos(**fields: Any) -> Demonstrations:
    """Three episodes of 4, 2 and 3 pairs."""
    rng = np.random.default_rng(0)
    episodes = tuple(
        Episode(
            obs=rng.normal(size=(n, 4)),
            action=rng.normal(size=(n, 2)),
            reward=rng.normal(size=n),
            success=n > 2,
        )
        for n in (4, 2, 3)
    )
    defaults: dict[str, Any] = {
        "obs_keys": (("position", 2), ("object", 1), ("speed", 1)),
        "obs_names": ("x", "y", "angle", "v"),
        "rate": 20.0,
        "masks": {
            "task: push": ("demo_0", "demo_2"),
            "task: pull": ("demo_1",),
            "best": ("demo_1",),
        },
        "env_args": {"env_name": "Lift", "robot_type": "arm"},
    }
    return Demonstrations(episodes, **(defaults | fields))


def info(root: Path) -> dict[str, Any]:
    return dict(json.loads((root / "meta/info.json").read_text()))
