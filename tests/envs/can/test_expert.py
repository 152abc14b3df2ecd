"""The expert of Can, for hand and can at given places and in the simulator."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest
from numpy.typing import NDArray

from counterbc.envs.can.expert import BIN, CARRY, HOVER, LOW, expert, off_vertical
from tests.envs.can.scenes import CAN, DOWN, act, off

Array = NDArray[Any]
needs_robosuite = pytest.mark.extra("robosuite")


def test_far_from_the_can_the_hand_goes_above_it_with_open_fingers() -> None:
    action = act(off(0.02, 0.2, 0.3), 0.08)
    way = np.array([0.28, 2.8, 2.52])  # 14 per metre, to 0.12 above the can
    np.testing.assert_allclose(action[:3], -way / np.sqrt(1 + (way / 0.8) ** 2))
    assert action[6] == -1
    assert act(off(0.05, 0, HOVER), 0.08)[2] == pytest.approx(0)


def test_at_the_can_the_fingers_close_and_only_then_the_hand_rises() -> None:
    above, open_, shut = (
        act(off(0, 0, z), apart) for z, apart in ((0.03, 0.08), (0.02, 0.08), (0.02, 0.05))
    )
    assert (above[6], open_[6], shut[6]) == (-1, 1, 1)
    assert open_[2] < 0 < shut[2]


def test_a_held_can_is_carried_high_lowered_into_its_bin_and_let_go() -> None:
    high = np.array([0.1, 0.0, CARRY])
    across = act(high, 0.05, can=high)
    assert across[1] > 0.7
    assert across[6] == 1
    over = np.array([*BIN, CARRY])
    down = act(over, 0.05, can=over)
    assert down[2] < -0.7
    assert down[6] == 1
    low = np.array([*BIN, LOW])
    assert act(low, 0.05, can=low)[6] == -1
    release_action = act(low, 0.08, can=low - [0, 0, 0.02])
    assert release_action[2] > 0.7
    assert release_action[6] == -1


def test_moves_do_not_jump_where_the_gripper_does() -> None:
    def largest(path: Any) -> float:
        moves = np.stack([act(*step)[:6] for step in path])
        return float(np.abs(np.diff(moves, axis=0)).max())

    def held_can(hand: Array) -> tuple[Array, float, Array]:
        return hand, 0.05, hand  # the can goes along

    share = np.linspace(0, 1, 401)
    for path in (
        [(off(0.05 * (1 - s), 0, 0.1), 0.08) for s in share],
        [(off(0, 0, 0.1 * (1 - s)), 0.08) for s in share],
        [(CAN, 0.08 - 0.03 * s) for s in share],
        [held_can(off(0, 0, 0.25 * s)) for s in share],
        [held_can(np.array([0.1, -0.2 + 0.6 * s, CARRY])) for s in share],
    ):
        assert largest(path) < 0.1  # the largest moves are of 0.8


def test_a_tilted_hand_is_turned_back_by_the_angle_that_it_is_off() -> None:
    half = 0.1
    # Half a turn about x after a turn of 2 · half about z: (cos, sin, 0, 0) in x, y, z, w.
    tilted = np.array([[np.cos(half), np.sin(half), 0, 0]])
    np.testing.assert_allclose(off_vertical(tilted), [[0, 0, -0.2]], atol=1e-12)
    np.testing.assert_allclose(off_vertical(-tilted), [[0, 0, -0.2]], atol=1e-12)
    np.testing.assert_allclose(off_vertical(np.array([DOWN])), [[0, 0, 0]], atol=1e-12)


@needs_robosuite
def test_the_expert_succeeds_and_the_episode_ends_with_a_reward() -> None:
    env = gymnasium.make("counterbc/Can-v0")
    obs, info = env.reset(seed=0)
    assert info["success"] == 0
    steps, terminated = 0, False
    while not terminated and steps < 250:
        steps += 1
        obs, reward, terminated, truncated, info = env.step(
            expert(obs[None], np.zeros(1, np.int64), 0)[0]
        )
    assert (terminated, truncated, reward, info["success"]) == (True, False, 1.0, 1.0)
    assert 100 < steps < 200
