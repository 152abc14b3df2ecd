"""Can's simulator: starts, physics and observations as functions of the state."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from counterbc.envs.can import simulator as can_simulator
from counterbc.envs.can import workers as can_workers
from counterbc.envs.can.simulator import Simulator
from counterbc.errors import MissingExtra

Array = NDArray[Any]
needs_robosuite = pytest.mark.extra("robosuite")


@pytest.fixture(scope="module")
def simulator() -> Simulator:
    return can_workers.local_simulator().simulator


def test_without_robosuite_the_install_line_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "robosuite", None)
    with pytest.raises(MissingExtra, match=r"pip install 'counterbc\[can\]'"):
        can_simulator.library()


@needs_robosuite
def test_a_seed_gives_the_same_start_whatever_ran_before(simulator: Simulator) -> None:
    first = simulator.start(5)
    other_start = simulator.start(6)
    for _ in range(3):
        other_start = simulator.advance(other_start, np.array([1.0, 0, -1, 0.2, 0, 0, 1]))
    np.testing.assert_array_equal(simulator.start(5), first)
    before = np.random.get_state()[1].copy()  # type: ignore[index]  # of the old generator
    assert np.abs(simulator.start(6) - first).max() > 0.01
    np.testing.assert_array_equal(np.random.get_state()[1], before)  # type: ignore[index]


@needs_robosuite
def test_physics_and_controller_are_robosuites_own(simulator: Simulator) -> None:
    state = simulator.start(7)
    reference = Simulator()
    reference._load(reference.start(7))
    del reference.robot.controller.update  # robosuite's again
    reference.sim.forward()
    action = np.random.default_rng(0).uniform(-0.5, 0.5, (15, 7))
    for action_row in action:
        state = simulator.advance(state, action_row)
        reference.env.step(action_row)
    simulator._load(state)
    np.testing.assert_allclose(simulator.sim.data.qpos, reference.sim.data.qpos, atol=1e-5)


@needs_robosuite
def test_an_observation_is_of_the_state_it_is_asked_for(simulator: Simulator) -> None:
    state = simulator.start(8)
    obs, success = simulator.observe(state)
    after = simulator.advance(state, np.array([1.0, 0, 0, 0, 0, 0, -1]))
    moved_obs, _ = simulator.observe(after)
    np.testing.assert_array_equal(simulator.observe(state)[0], obs)
    assert not success
    assert obs.shape == (23,)
    assert obs.dtype == np.float32
    assert moved_obs[14] - obs[14] > 0.002  # the hand went along x
    np.testing.assert_allclose(moved_obs[:2], obs[:2], atol=1e-3)  # the can did not
    # The can as the hand sees it is as far away as it is.
    np.testing.assert_allclose(
        np.linalg.norm(obs[7:10]), np.linalg.norm(obs[:3] - obs[14:17]), rtol=1e-4
    )
