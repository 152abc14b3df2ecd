"""The tracker also finds the puck in MuJoCo's pictures of arm and table."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest

from counterbc.robots.simulated.overhead import HEIGHT, WIDE, Overhead

pytestmark = pytest.mark.extra("cv2", "mujoco", "robosuite")

RENDERED = """
import json, numpy as np
from counterbc.envs.air_hockey.table import PUCK
from counterbc.robots.simulated.arm import Arm
from counterbc.robots.simulated.overhead import MujocoOverhead
from counterbc.robots.simulated.scene import build
from counterbc.robots.tracker import Tracker

arm = Arm(build(is_drawn=True))
arm.place(np.array([0.3, 0.0]))
camera = MujocoOverhead(arm)
tracker = Tracker(camera.calibration, PUCK)
places = np.random.default_rng(0).uniform([0.55, -0.34], [1.54, 0.34], (8, 2))
tracked = [tracker.find(camera.picture(place)) for place in places]
print(json.dumps([None if t is None else (t - p).tolist() for t, p in zip(tracked, places)]))
"""


def test_the_puck_is_found_beside_the_arm_to_three_millimetres() -> None:
    # How MuJoCo draws is decided when it is imported, so it is imported in a process of its own.
    result = subprocess.run([sys.executable, "-c", RENDERED], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    gaps = json.loads(result.stdout.splitlines()[-1])
    assert None not in gaps
    assert np.linalg.norm(gaps, axis=1).max() < 0.003


def test_pictures_have_the_size_of_a_small_camera() -> None:
    picture = Overhead(noise=5).picture(np.array([0.8, 0.0]), np.array([0.3, 0.0]))
    assert picture.shape == (HEIGHT, WIDE, 3)
    assert picture.dtype == np.uint8
