"""Runs of `counterbc train` on the small dataset."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
from small_data import STATE, demonstrations

import counterbc


def train_run(folder: Path, policy: str = "gaussian-mlp", **settings: object) -> Path:
    """Train on agent and keypoints, save the run, and return its folder."""
    options = {"steps": 20, "lag": 0, "radius": 0.1, "ensemble": 1, "offsets": "none"} | settings
    counterbc.train(demonstrations(), "counter-bc", policy=policy, **options).save(folder)
    return folder


def train_on_joints(folder: Path) -> Path:
    """Train on two joints alone, the state of the fake robot."""
    demos = demonstrations()
    episodes = tuple(replace(e, obs=np.ascontiguousarray(e.obs[:, :2])) for e in demos.episodes)
    joints = replace(
        demos, episodes=episodes, obs_keys=((STATE, 2),), obs_names=(f"{STATE}[0]", f"{STATE}[1]")
    )
    options = {"steps": 20, "lag": 0, "radius": 0.1, "ensemble": 1, "offsets": "none"}
    counterbc.train(joints, "counter-bc", **options).save(folder)
    return folder
