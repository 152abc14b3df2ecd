from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from counterbc.data.arrays import Array
from counterbc.data.demonstrations import Demonstrations, Episode
from counterbc.data.inspection import Inspection
from counterbc.data.inspection_report import Trap
from counterbc.data.raw_episode import Header, raw_episodes
from counterbc.demonstrators import UniformNoise, demonstrate
from counterbc.formats import load


def traps(demos: Demonstrations) -> tuple[Trap, ...]:
    inspection = Inspection()
    inspection.add(Header.of(demos), raw_episodes(demos))
    return inspection.report().traps


def kinds(demos: Demonstrations) -> set[str]:
    return {trap.kind for trap in traps(demos)}


def with_obs(demos: Demonstrations, obs: Callable[[Episode], Array]) -> Demonstrations:
    episodes = tuple(replace(e, obs=obs(e)) for e in demos.episodes)
    return replace(demos, episodes=episodes, obs_keys=(), obs_names=())


def late(values: Array, steps: int) -> Array:
    return np.vstack([np.zeros_like(values[:steps]), values[:-steps]])


@pytest.fixture(scope="module")
def cart() -> Demonstrations:
    return demonstrate("cartpole", UniformNoise(0.3), 2000, seed=0)


@pytest.mark.parametrize("world", ["intersection", "cartpole", "air-hockey"])
def test_demonstrations_of_our_worlds_have_no_traps(world: str) -> None:
    assert traps(demonstrate(world, UniformNoise(0.3), 1000, seed=0)) == ()


@pytest.mark.parametrize(
    ("name", "expected"),
    [("pusht_human_206.hdf5", {"wrapped angle"}), ("adroit_door_human_25.hdf5", set())],
)
def test_real_recordings_have_only_the_traps_they_have(
    name: str, expected: set[str], data: Path
) -> None:
    assert kinds(load(data / name)) == expected


def test_an_observation_that_is_the_previous_action_is_noticed(cart: Demonstrations) -> None:
    copied = with_obs(cart, lambda e: np.hstack([e.obs, late(e.action, 1)]))
    (trap,) = traps(copied)
    assert (trap.kind, trap.dimensions) == ("observation is previous action", ("state[4]",))
    assert "--obs" in trap.step
    keys = (("state", 4), ("last command", 1))
    (trap,) = traps(replace(copied, obs_keys=keys, obs_names=()))
    assert trap.step == "leave it out with --obs state"


def test_an_action_that_is_the_next_observation_is_noticed(cart: Demonstrations) -> None:
    moved = replace(
        cart,
        episodes=tuple(
            Episode(e.obs[:-1] + 1, e.obs[1:, :2] + 1, name=e.name) for e in cart.episodes
        ),
        action_low=None, action_high=None, action_names=(),
    )  # fmt: skip
    (trap,) = traps(moved)
    assert (trap.kind, trap.dimensions) == ("action is next observation", ("x", "x_dot"))
    assert trap.text.startswith("the actions are the next values of x, x_dot")


def test_an_action_that_is_the_observation_itself_is_noticed(cart: Demonstrations) -> None:
    copied = with_obs(cart, lambda e: np.hstack([e.obs, e.action]))
    assert kinds(copied) == {"action is observation"}


@pytest.mark.parametrize(("dims", "source"), [([0], "x_dot"), ([2], "theta_dot"), ([1], "push")])
def test_a_stream_that_is_three_steps_late_is_noticed(
    dims: list[int], source: str, cart: Demonstrations
) -> None:
    def shifted(e: Episode) -> Array:
        obs = e.obs.copy()
        obs[:, dims] = late(e.obs[:, dims], 3)
        obs[:3, dims] = e.obs[0, dims]
        return obs

    names = {"obs_keys": cart.obs_keys, "obs_names": cart.obs_names}
    (trap,) = traps(replace(with_obs(cart, shifted), **names))  # type: ignore[arg-type]
    assert (trap.kind, trap.dimensions) == ("delay", (cart.obs_names[dims[0]],))
    assert f"{source} 3 steps late (0.06 s)" in trap.text
    assert "--history 4" in trap.step


def test_an_action_that_is_observed_three_steps_late_is_noticed(cart: Demonstrations) -> None:
    (trap,) = traps(with_obs(cart, lambda e: np.hstack([e.obs, late(e.action, 3)])))
    assert (trap.kind, trap.dimensions) == ("delay", ("state[4]",))


def test_frozen_frames_are_noticed_in_vectors_and_images(cart: Demonstrations) -> None:
    slow = with_obs(cart, lambda e: np.repeat(e.obs[::2], 2, axis=0)[: len(e)])
    (trap,) = traps(slow)
    assert trap.kind == "frozen frames"
    assert trap.text.startswith("at 50.")
    frames = np.arange(40, dtype=np.uint8)[:, None, None, None] * np.ones((1, 4, 4, 3), np.uint8)
    action = np.random.default_rng(0).normal(size=(40, 1))
    assert kinds(Demonstrations((Episode(frames, action),))) == set()
    assert kinds(Demonstrations((Episode(frames // 2, action),))) == {"frozen frames"}


def test_waiting_is_not_frozen(cart: Demonstrations) -> None:
    waits = [
        Episode(np.repeat(e.obs, 2, axis=0), np.repeat(e.action, 2, axis=0)) for e in cart.episodes
    ]
    assert "frozen frames" not in kinds(Demonstrations(tuple(waits)))


def test_unused_dimensions_are_called_unused(cart: Demonstrations) -> None:
    still = with_obs(cart, lambda e: np.hstack([e.obs, np.full((len(e), 1), 3.0)]))
    (trap,) = traps(still)
    assert (trap.kind, trap.dimensions) == ("unused observation", ("state[4]",))


def test_an_action_that_is_rarely_used_is_not_called_saturated() -> None:
    rng = np.random.default_rng(0)
    action = rng.normal(size=(1000, 2))
    action[:, 1] = 0
    action[500:504, 1] = rng.uniform(0.5, 1, 4)
    demos = Demonstrations((Episode(rng.normal(size=(1000, 1)), action),))
    inspection = Inspection()
    inspection.add(Header.of(demos), raw_episodes(demos))
    report = inspection.report()
    (trap,) = report.traps
    assert (trap.kind, trap.dimensions) == ("rarely used action", ("action[1]",))
    assert "saturated" not in {p.kind for p in report.problems}


def test_an_angle_in_degrees_and_an_action_that_wraps_are_noticed(cart: Demonstrations) -> None:
    def heading(e: Episode) -> Array:
        return (np.linspace(0, 20, len(e))[:, None] + e.obs[:, 3:]) % (2 * np.pi)

    turning = with_obs(cart, lambda e: np.hstack([e.obs, np.rad2deg(heading(e))]))
    (trap,) = traps(turning)
    assert (trap.kind, trap.dimensions) == ("angle in degrees", ("state[4]",))
    episodes = tuple(replace(e, action=heading(e) - np.pi) for e in cart.episodes)
    turns = replace(cart, episodes=episodes, action_low=None, action_high=None)
    assert "wrapped action" in kinds(turns)
