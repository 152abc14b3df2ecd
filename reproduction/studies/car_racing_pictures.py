"""Frames of Car Racing: the expert in each simulator, and a trained policy in envpool."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import counterbc as cb
from counterbc.envs import make_vec
from reproduction.options import DOCS, StudyOptions, option
from reproduction.studies.car_racing import WORLD
from reproduction.studies.car_racing_expert import BACKENDS

FRAME_STEPS = (0, 60, 140, 220)


@dataclass(frozen=True, kw_only=True)
class CarRacingPicturesOptions(StudyOptions):
    """Draw frames of the expert and of a policy."""

    track: int = option(7, "number of the track to draw")
    policy: Path | None = option(None, "folder of a trained policy", flag="--run")
    backends: tuple[str, ...] = option(BACKENDS, "simulators of the expert")
    picture: Path = option(DOCS / "images" / "car-racing.png", "file of the picture")


def run(options: CarRacingPicturesOptions) -> None:
    """Draw a row of frames for each driver."""
    from PIL import Image

    expert = cb.WORLDS[WORLD].load_expert()
    drivers: list[tuple[str, Callable[[Any], Any]]] = [
        (backend, lambda obs: expert(obs, np.zeros(1), 0)) for backend in options.backends
    ]
    if options.policy is not None:
        act = cb.Policies.load(options.policy)[0].actor().act
        drivers.append(("envpool", lambda obs: act(obs[0])[None]))
    rows = [_side_by_side(_frames(*driver, options.track), axis=1) for driver in drivers]
    Image.fromarray(_side_by_side(rows, axis=0)).save(options.picture)
    print(options.picture)


def _frames(backend: str, act: Callable[[Any], Any], track: int) -> list[Any]:
    """Return the frames of one driver at `FRAME_STEPS`."""
    env: Any = make_vec(WORLD, 1, backend=backend, render_mode="rgb_array")
    obs, _ = env.reset(seed=[track])
    frames = []
    for t in range(max(FRAME_STEPS) + 1):
        if t in FRAME_STEPS:
            frames.append(env.render()[0])
        obs, *_ = env.step(act(obs))
    env.close()
    return frames


def _side_by_side(pictures: list[Any], axis: int) -> Any:
    """Return the pictures in a row (1) or a column (0), with white gaps between them."""
    shape = list(pictures[0].shape)
    shape[axis] = 6
    gap = np.full(shape, 255, np.uint8)
    return np.concatenate([p for picture in pictures for p in (picture, gap)][:-1], axis=axis)
