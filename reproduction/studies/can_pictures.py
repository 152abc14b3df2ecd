"""Strips of frames of Can: the expert, an operator with worse habits, and trained runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import counterbc as cb
from reproduction.options import DOCS, StudyOptions, option

Array = NDArray[Any]
FRAMES, START = 6, 3


@dataclass(frozen=True, kw_only=True)
class CanPicturesOptions(StudyOptions):
    """Draw frames of the expert, of an operator and of trained runs."""

    runs: tuple[Path, ...] = option((), "folders of trained policies, a strip each")
    picture: Path = option(DOCS / "images" / "can.png", "file of the picture")


def run(options: CanPicturesOptions) -> None:
    """Draw all strips into one picture."""
    from PIL import Image

    from counterbc.demonstrators.can_operators import CAN_OPERATORS, Performance

    expert, worse = cb.WORLDS["can"].load_expert(), CAN_OPERATORS["synthetic_worse_2"]
    actors: list[Callable[[], Callable[[Array], Array]]] = [
        lambda: lambda obs: expert(obs[None], np.zeros(1, np.int64), 0)[0],
        lambda: Performance(worse, [0]).act,
    ]
    actors += [partial(_load_actor, folder) for folder in options.runs]
    strips = [np.concatenate(_frames(new_actor), axis=1) for new_actor in actors]
    Image.fromarray(np.concatenate(strips)).save(options.picture)
    print(options.picture)


def _load_actor(folder: Path) -> Callable[[Array], Array]:
    return cb.Policies.load(folder)[0].actor().act


def _frames(new_actor: Callable[[], Callable[[Array], Array]]) -> list[Array]:
    """Return frames spread evenly over an episode, which is played twice to know its length."""
    steps = len(_play(new_actor(), frozenset(), render=False))
    frame_steps = frozenset(round(share * steps) for share in np.linspace(0, 1, FRAMES))
    frames = _play(new_actor(), frame_steps, render=True)
    return [frame for frame in frames if frame is not None]


def _play(act: Callable[[Array], Array], frame_steps: frozenset[int], render: bool) -> list[Any]:
    """Return an entry per step of an episode: a frame for the steps to show, else None."""
    from counterbc.envs.can.world import Can

    env, over = Can(render_mode="rgb_array"), False
    obs, _ = env.reset(seed=START)
    frames = [env.render()] if render and 0 in frame_steps else []
    entries: list[Any] = []
    while not over:
        obs, _, terminated, truncated, _ = env.step(act(obs))
        entries.append(env.render() if render and len(entries) + 1 in frame_steps else None)
        over = terminated or truncated
    return [*frames, *entries]
