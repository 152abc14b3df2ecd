"""Names and order of the observations and actions of Can, as in robomimic's files."""

from __future__ import annotations

from counterbc.envs.registry import WORLDS

RATE = WORLDS["can"].rate
STEPS = WORLDS["can"].steps
"""The horizon of robomimic for its Multi-Human files."""
OBS_KEYS = (
    ("object", 14),
    ("robot0_eef_pos", 3),
    ("robot0_eef_quat", 4),
    ("robot0_gripper_qpos", 2),
)
"""Keys and sizes of robomimic's low-dimensional observations, sorted as its files are read."""
OBS_NAMES = (
    *(f"can_{axis}" for axis in "xyz"),
    *(f"can_q{axis}" for axis in "xyzw"),
    *(f"can_in_hand_{axis}" for axis in "xyz"),
    *(f"can_in_hand_q{axis}" for axis in "xyzw"),
    *(f"hand_{axis}" for axis in "xyz"),
    *(f"hand_q{axis}" for axis in "xyzw"),
    "left_finger",
    "right_finger",
)
ACTION_NAMES = ("x", "y", "z", "turn_x", "turn_y", "turn_z", "gripper")
"""A move of 1 is 5 cm, a turn of 1 is half a radian; the gripper opens at −1 and closes at 1."""
