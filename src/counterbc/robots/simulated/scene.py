"""The scene in MuJoCo: a Panda arm that holds a paddle at an air hockey table.

The arm is the model that lies inside robosuite's wheel. The world's frame is the table's: x runs
along the table from the near end, y across it from the middle, z is 0 on its surface.
"""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from counterbc.envs.air_hockey.table import LENGTH, PADDLE, PUCK, WIDTH
from counterbc.errors import MissingExtra

TIMESTEP = 0.0025  # seconds
BASE = (-0.1, 0.0, 0.0)
"""Where the arm stands: the paddle's reach is 0.4 to 0.7 m in front of it."""
GRIP, HEIGHT = 0.12, 0.03
"""Length of the paddle's handle below the hand, and height of the paddle's centre."""
PADDLE_SITE, PUCK_BODY, CAMERA = "paddle", "puck", "overhead"
_CAMERA_HEIGHT, _RAIL = 1.6, 0.02
_ICE, _WOOD = (0.96, 0.97, 0.98, 1), (0.23, 0.26, 0.32, 1)
_RED, _BLUE = (0.81, 0.17, 0.16, 1), (0.13, 0.36, 0.69, 1)


def build(is_drawn: bool = False) -> Any:
    """Return the compiled model; without meshes, which only pictures need, it is ready sooner."""
    mujoco = library()
    spec = mujoco.MjSpec.from_file(str(_panda()))
    spec.compiler.degree = False  # as in robosuite, where another file says so
    spec.option.timestep = TIMESTEP
    if not is_drawn:
        for geom in list(spec.geoms):
            spec.delete(geom)
        for mesh in list(spec.meshes):
            spec.delete(mesh)
    for geom in spec.geoms:
        geom.contype, geom.conaffinity = 0, 0
    spec.body("base").pos = BASE
    hand = spec.body("right_hand")
    hand.add_site(name=PADDLE_SITE, pos=[0, 0, GRIP])
    _disc(hand, mujoco, "paddle", (0, 0, GRIP), PADDLE, _BLUE)
    _add_table(spec, mujoco)
    return spec.compile()


def library() -> Any:
    """Import MuJoCo, or raise an error with the install line."""
    if not os.environ.get("DISPLAY"):  # it decides when it is imported how it will draw
        os.environ.setdefault("MUJOCO_GL", "osmesa")
    try:
        import mujoco
    except ImportError:
        raise MissingExtra("mujoco", "robots", "the simulated arm") from None
    return mujoco


def _panda() -> Path:
    """Return the path of the arm's model, without importing robosuite."""
    package = find_spec("robosuite")
    if package is None or not package.submodule_search_locations:
        raise MissingExtra("robosuite", "robots", "the simulated arm")
    folder = Path(package.submodule_search_locations[0])
    return folder / "models" / "assets" / "robots" / "panda" / "robot.xml"


def _add_table(spec: Any, mujoco: Any) -> None:
    """Add table, rails, puck, light and the camera above."""
    world = spec.worldbody
    middle, thickness = [LENGTH / 2, 0.0], 0.02
    _box(world, mujoco, (*middle, -thickness), (LENGTH / 2, WIDTH / 2, thickness), _ICE)
    for side in (-1, 1):
        rail = (LENGTH / 2 + 2 * _RAIL, _RAIL, _RAIL)
        _box(world, mujoco, (middle[0], side * (WIDTH / 2 + _RAIL), 0.0), rail, _WOOD)
        end = (LENGTH / 2 + side * (LENGTH / 2 + _RAIL), 0.0, 0.0)
        _box(world, mujoco, end, (_RAIL, WIDTH / 2, _RAIL), _WOOD)
    puck = world.add_body(name=PUCK_BODY, mocap=True, pos=[0.8, 0.0, 0.01])
    _disc(puck, mujoco, "puck", (0, 0, 0), PUCK, _RED)
    world.add_light(pos=[*middle, 2.5], dir=[0, 0, -1], diffuse=[0.7] * 3, specular=[0, 0, 0])
    world.add_camera(name=CAMERA, pos=[*middle, _CAMERA_HEIGHT], fovy=40)
    # The camera looks down, with x to the right and y up in its picture.


def _box(body: Any, mujoco: Any, pos: Any, size: Any, rgba: Any) -> None:
    body.add_geom(
        type=mujoco.mjtGeom.mjGEOM_BOX, pos=list(pos), size=list(size), rgba=list(rgba),
        contype=0, conaffinity=0,
    )  # fmt: skip


def _disc(body: Any, mujoco: Any, name: str, pos: Any, radius: float, rgba: Any) -> None:
    body.add_geom(
        name=f"{name}_disc", type=mujoco.mjtGeom.mjGEOM_CYLINDER, pos=list(pos),
        size=[radius, 0.01, 0], rgba=list(rgba), contype=0, conaffinity=0, mass=0.0,
    )  # fmt: skip
