"""The expert of Car Racing, on drawn frames and in both simulators."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from counterbc.envs import make_vec
from counterbc.envs.car_racing.expert import expert, road, speed
from tests.envs.car_racing.backends import BACKENDS

Array = NDArray[Any]


def frame(middle: int, bar: int = 1) -> Array:
    """A straight road, 20 pixels wide, on grass, and a speed bar of this height."""
    image = np.full((96, 96, 3), (102, 204, 102), np.uint8)
    image[:84, middle - 10 : middle + 10] = 104
    image[84:] = 0
    image[94 - bar : 94, 12:14] = 255
    return image


@pytest.mark.slow
@pytest.mark.parametrize("backend", BACKENDS)
def test_the_expert_keeps_to_the_road_and_sees_its_speed(backend: str) -> None:
    env: Any = make_vec("car-racing", 2, backend=backend)
    obs, _ = env.reset(seed=[11, 12])
    assert speed(obs).max() < 0.5
    for t in range(200):
        obs, *_, info = env.step(expert(obs, np.arange(2), t))
    assert (info["lap"] > 0.12).all()  # a whole lap takes about 820 steps
    assert (speed(obs) > 1).all()
    assert (abs(road(obs)[:, 0]) < 0.6).all()
    env.close()


def test_the_expert_steers_towards_the_middle_of_the_road() -> None:
    left, ahead, right = expert(np.stack([frame(x) for x in (40, 48, 56)]), np.arange(3), 0)
    assert left[0] < -0.1
    assert right[0] > 0.1
    assert abs(ahead[0]) < 0.05
    assert ahead[1] == 0.6  # it is slow on a straight road
    assert ahead[2] == 0
    assert expert(frame(40, 0)[None], np.arange(1), 0)[0, 0] == 0  # straight on from the start


def test_the_expert_brakes_before_a_bend_when_it_is_fast() -> None:
    bend, straight = frame(48, 4), frame(48, 4)
    bend[:50] = (102, 204, 102)
    bend[36:56, 38:] = 104  # to the right
    (steer, gas, brake), (_, _, slow) = expert(np.stack([bend, straight]), np.arange(2), 0)
    assert steer > 0.1
    assert gas < 0.2
    assert brake > slow


def test_the_expert_is_the_same_to_the_bit_in_a_batch_of_any_size() -> None:
    frames = np.stack([frame(x) for x in range(30, 60)])
    whole = expert(frames, np.arange(30), 0)
    for n in (1, 2, 3, 7):
        np.testing.assert_array_equal(expert(frames[5 : 5 + n], np.arange(n), 0), whole[5 : 5 + n])
