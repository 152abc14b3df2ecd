"""The simulated arm follows velocities, keeps its paddle level, and stops."""

from __future__ import annotations

import numpy as np
import pytest

from counterbc.envs.air_hockey.table import REACH_HIGH, REACH_LOW
from counterbc.robots.simulated.arm import READY, Arm
from counterbc.robots.simulated.scene import HEIGHT, TIMESTEP

pytestmark = pytest.mark.extra("mujoco", "robosuite")


@pytest.fixture(scope="module")
def arm() -> Arm:
    return Arm()


def steps(arm: Arm, seconds: float) -> None:
    for _ in range(round(seconds / TIMESTEP)):
        arm.step()


@pytest.mark.parametrize("x", [0, 1])
@pytest.mark.parametrize("y", [0, 1])
def test_every_corner_of_the_reach_is_reached(arm: Arm, x: int, y: int) -> None:
    corner = np.array([(REACH_LOW, REACH_HIGH)[x][0, 0], (REACH_LOW, REACH_HIGH)[y][1, 0]])
    arm.place(corner)
    assert arm.paddle == pytest.approx(corner, abs=1e-6)
    assert arm.height == pytest.approx(HEIGHT, abs=1e-6)
    low, high = arm.model.jnt_range.T
    assert ((low < arm.data.qpos) & (arm.data.qpos < high)).all()
    assert len(READY) == 7


@pytest.mark.parametrize("velocity", [(0.6, 0.0), (0.0, 0.9), (0.0, -0.9), (0.4, 0.5)])
def test_it_follows_a_velocity_after_a_short_time(arm: Arm, velocity: tuple[float, float]) -> None:
    arm.place(np.array([0.3, -0.1 * np.sign(velocity[1])]))
    arm.velocity = np.array(velocity)
    steps(arm, 0.1)
    before = arm.paddle
    steps(arm, 0.2)
    assert (arm.paddle - before) / 0.2 == pytest.approx(velocity, abs=0.07)
    assert arm.height == pytest.approx(HEIGHT, abs=0.001)
    assert np.abs(arm._error()[3:]).max() < 0.01  # radians of tilt


def test_it_stands_within_two_periods_and_stays(arm: Arm) -> None:
    arm.place(np.array([0.3, -0.15]))
    arm.velocity = np.array([0.0, 1.0])
    steps(arm, 0.2)
    arm.velocity = np.zeros(2)
    steps(arm, 0.1)
    place = arm.paddle
    steps(arm, 0.05)
    assert arm.paddle == pytest.approx(place, abs=0.002)
    steps(arm, 1.0)
    assert arm.paddle == pytest.approx(place, abs=0.003)
    assert np.abs(arm.data.qvel).max() < 0.02


def test_torques_stay_within_those_of_the_motors(arm: Arm) -> None:
    arm.place(np.array([0.4, 0.0]))
    for i in range(200):
        arm.velocity = np.array([(-1.0) ** (i // 20), (-1.0) ** (i // 30)])
        arm.step()
        assert (np.abs(arm.data.ctrl) <= arm.model.actuator_ctrlrange[:, 1]).all()
