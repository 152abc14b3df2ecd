"""Push-T: a disc pushes a T-shaped block over its outline on the table (gym-pusht).

An observation is the disc's x and y, and the block's x, y and angle, as in recorded files. The
action is the place, in pixels, that the disc is drawn to for a tenth of a second. The reward of a
step is the share of the outline that the block covers, divided by 0.95 and at most 1; an episode
ends with success above 0.95. Starts, physics and reward are gym-pusht's own. Only its bookkeeping
is left out, and the coverage is not computed again while the block lies still.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import lru_cache
from math import pi
from typing import Any

import numpy as np
from gymnasium.spaces import Box
from numpy.typing import NDArray

from counterbc.data.arrays import Array
from counterbc.envs.batched import BatchedEnv, BatchedVectorEnv, Dynamics, Slots
from counterbc.envs.checks import check_actions, check_render_mode
from counterbc.envs.registry import WORLDS
from counterbc.errors import CounterBCError, MissingExtra, unknown

SIZE = 512.0  # of the table, in pixels
PICTURE = 384  # pixels of a rendered frame
SUCCESS = 0.95  # of the outline covered
SUBSTEPS, DT = 10, 0.01  # physics substeps per step, and their length in seconds
K_P, K_V = 100.0, 20.0  # gains of the controller that draws the disc to its target
GOAL = (256.0, 256.0, pi / 4)  # x, y and angle of the outline


def simulator() -> Any:
    """Import the class of gym-pusht's environment."""
    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")  # it greets on stdout
    try:
        from gym_pusht.envs.pusht import PushTEnv
    except ModuleNotFoundError:
        raise MissingExtra("gym-pusht", "pusht", "the world push-t") from None
    except ImportError as error:  # opencv without the system's graphics libraries
        raise CounterBCError(
            f"push-t cannot be loaded ({error}); install that system library "
            "(on Debian and Ubuntu: apt install libgl1 libglib2.0-0)"
        ) from None
    if not _pygame_is_whole():
        raise CounterBCError(
            "pygame is installed only in part, as happens when one of pygame and pygame-ce is "
            "removed; repair it with: pip install --force-reinstall --no-deps pygame"
        )
    return PushTEnv


def _pygame_is_whole() -> bool:
    import pygame

    return hasattr(pygame, "Color") and hasattr(pygame, "Surface")


@lru_cache(maxsize=1)
def _shapes() -> tuple[Array, Any]:
    """Return the block's two closed rectangles (2, 5, 2) in its own frame, and the outline."""
    env = simulator()()
    env.reset(seed=0)
    corners = [[*s.get_vertices(), s.get_vertices()[0]] for s in env.block.shapes]
    local = np.array(corners, np.float64)
    turn = np.array([[np.cos(GOAL[2]), np.sin(GOAL[2])]])
    return local, _blocks(local, np.array([GOAL[:2]]), turn)


def _blocks(local: Array, place: Array, turn: Array) -> Any:
    """Return N blocks at places (N, 2) with directions (N, 2) as shapes."""
    import shapely

    x, y = local[None, ..., 0], local[None, ..., 1]  # (1, 2, 5)
    c, s = turn[:, 0, None, None], turn[:, 1, None, None]  # (N, 1, 1)
    at = place[:, None, None]  # (N, 1, 1, 2)
    corners = np.stack([x * c - y * s, x * s + y * c], axis=-1) + at  # (N, 2, 5, 2)
    rectangles = shapely.polygons(corners.reshape(-1, 5, 2))
    return shapely.multipolygons(rectangles, indices=np.repeat(np.arange(len(place)), 2))


def coverage(place: Array, turn: Array) -> Array:
    """Return the share of the outline under blocks at places (N, 2), directions (N, 2): (N,)."""
    import shapely

    local, goal = _shapes()
    overlap = shapely.intersection(goal, _blocks(local, place, turn))
    return np.asarray(shapely.area(overlap) / shapely.area(goal))


class Pushing(Dynamics):
    """The description of push-t. Contacts have memory, so a step needs more than the state."""

    steps = WORLDS["push-t"].steps
    fps = WORLDS["push-t"].rate
    obs_space = Box(-2 * SIZE, 2 * SIZE, (5,), np.float32)
    action_space = Box(0.0, SIZE, (2,), np.float32)
    obs_names = ("agent_x", "agent_y", "block_x", "block_y", "block_angle")
    action_names = ("target_x", "target_y")
    measures = ("success", "coverage", "best_coverage")


class Table:
    """One table of gym-pusht: its starts, its pictures and its physics, without the bookkeeping."""

    def __init__(self) -> None:
        self.env = simulator()(visualization_width=PICTURE, visualization_height=PICTURE)
        self.env._handle_collision = _ignore  # it only counts contacts, slowly

    def begin(self) -> None:
        """Start the next episode of its generator."""
        self.env.reset()
        self.env._last_action = None  # else a picture would show the last episode's

    def advance(self, x: float, y: float) -> None:
        """Draw the disc to x, y for a tenth of a second."""
        agent, step = self.env.agent, self.env.space.step
        vx, vy = agent.velocity
        for _ in range(SUBSTEPS):
            px, py = agent.position
            # In gym-pusht's order, so that both round alike.
            vx += (K_P * (x - px) + K_V * (0.0 - vx)) * DT
            vy += (K_P * (y - py) + K_V * (0.0 - vy)) * DT
            agent.velocity = (vx, vy)
            step(DT)

    @property
    def pose(self) -> tuple[float, ...]:
        """Return the disc's x and y, the block's x, y, angle, and the angle's cosine and sine."""
        agent, block = self.env.agent.position, self.env.block
        return (*agent, *block.position, block.angle % (2 * pi), *block.rotation_vector)


def _ignore(*_: Any) -> None: ...


class Tables(Slots):
    """N tables, in place of the N states of other worlds."""

    def __init__(self, count: int, render_mode: str | None) -> None:
        check_render_mode(render_mode)
        self.tables = [Table() for _ in range(count)]
        self.renders = render_mode is not None
        self.t = np.zeros(count, np.int64)  # (N,)
        self.pose = np.zeros((count, 7))  # (N, 7)
        self.coverage, self.best = np.zeros(count), np.zeros(count)  # (N,) each

    def seed(self, slots: Array, generators: Sequence[np.random.Generator]) -> None:
        for i, generator in zip(slots, generators, strict=True):
            self.tables[i].env.np_random = generator

    def begin(self, slots: Array) -> None:
        for i in slots:
            self.tables[i].begin()
            self.pose[i] = self.tables[i].pose
        self._measure(slots)
        self.best[slots] = self.coverage[slots]
        self.t[slots] = 0

    def advance(self, action: Array) -> tuple[Array, Array]:
        action = check_actions(action, (len(self.tables), 2))
        before = self.pose.copy()
        target = np.clip(np.nan_to_num(action), 0.0, SIZE)
        for i, (table, (x, y)) in enumerate(zip(self.tables, target.tolist(), strict=True)):
            table.advance(x, y)
            self.pose[i] = table.pose
            if self.renders:
                table.env._last_action = (x, y)
        self._measure(np.flatnonzero((self.pose[:, 2:] != before[:, 2:]).any(axis=1)))
        self.best = np.maximum(self.best, self.coverage)
        self.t += 1
        return np.clip(self.coverage / SUCCESS, 0.0, 1.0), self.coverage > SUCCESS

    def _measure(self, slots: Array) -> None:
        if len(slots):
            self.coverage[slots] = coverage(self.pose[slots, 2:4], self.pose[slots, 5:])

    @property
    def obs(self) -> Array:
        return self.pose[:, :5].astype(np.float32, order="C")  # (N, 5)

    @property
    def measures(self) -> dict[str, Array]:
        success = (self.coverage > SUCCESS).astype(np.float64)
        values = (success, self.coverage.copy(), self.best.copy())
        return dict(zip(Pushing.measures, values, strict=True))  # (N,) each

    def frame(self, slot: int) -> NDArray[np.uint8] | None:
        return np.asarray(self.tables[slot].env.render()) if self.renders else None


class _OnTables:
    """An environment whose slots are tables."""

    def _make_slots(self, count: int, render_mode: str | None, options: dict[str, Any]) -> Slots:
        if options:
            names = ("render_mode", "max_episode_steps")
            raise unknown(f"option of {type(self).__name__}", min(options), names)
        return Tables(count, render_mode)


class PushT(_OnTables, BatchedEnv, dynamics=Pushing):
    """One table."""


class PushTVector(_OnTables, BatchedVectorEnv, dynamics=Pushing):
    """N tables, simulated one after the other in this process."""
