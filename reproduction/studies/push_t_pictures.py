"""Strips of frames of Push-T: what a person did, and what trained runs do from the same start."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import counterbc as cb
from counterbc.errors import OptionError
from reproduction.options import DOCS, StudyOptions, option
from reproduction.studies.push_t import OBS_KEYS

Array = NDArray[Any]


@dataclass(frozen=True, kw_only=True)
class PushTPicturesOptions(StudyOptions):
    """Draw frames of a person and of trained runs."""

    data: Path | None = option(None, "file of demonstrations, pusht_human_206.hdf5")
    runs: tuple[Path, ...] = option((), "folders of trained policies, a strip each")
    episode: int = option(0, "number of the recorded episode")
    picture: Path = option(DOCS / "images" / "push-t.png", "file of the picture")


def run(options: PushTPicturesOptions) -> None:
    """Draw all strips into one picture."""
    from PIL import Image

    from counterbc.envs.push_t import Table

    if options.data is None:
        raise OptionError("the picture needs a file of people; name it with --data")
    demos, at = cb.load(options.data, OBS_KEYS), np.linspace(0, 1, 6)
    table, rows = Table(), []
    table.begin()
    states = demos.episodes[options.episode].obs
    rows.append([_place(table, states[round(a * (len(states) - 1))]) for a in at])
    for folder in options.runs:
        rows.append(_roll(cb.Policies.load(folder), states[0], at))
    strip = np.concatenate([np.concatenate(row, axis=1) for row in rows])
    small = Image.fromarray(strip).resize((strip.shape[1] // 2, strip.shape[0] // 2))
    small.save(options.picture)
    print(options.picture)


def _place(table: Any, state: Array) -> Array:
    """Return a frame of the table in this state."""
    env, (x, y, block_x, block_y, angle) = table.env, map(float, state)
    env.agent.position, env.block.angle = (x, y), angle
    env.block.position = (block_x, block_y)
    env.space.step(1e-6)  # shapes follow their bodies only in a step
    return np.asarray(env.render())


def _roll(policies: cb.Policies, start: Array, at: Array) -> list[Array]:
    """Return frames of the first member from a recorded start, to success or the last step."""
    from counterbc.envs.push_t import Tables

    tables, actor = Tables(1, "rgb_array"), policies[0].actor()
    tables.begin(np.array([0]))
    frames = [_place(tables.tables[0], start)]
    obs, finished_slots = start, np.zeros(1, bool)
    while len(frames) <= 300 and not finished_slots:
        _, finished_slots = tables.advance(actor.act(obs)[None])
        obs = tables.obs[0]
        frames.append(np.asarray(tables.frame(0)))
    return [frames[round(a * (len(frames) - 1))] for a in at]
