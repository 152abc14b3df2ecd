"""The JavaScript worlds of docs/playground equal those of Python, in a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from counterbc.envs import WORLDS
from counterbc.envs.batched import Dynamics
from counterbc.envs.cartpole import Balancing
from counterbc.envs.intersection import Crossing
from reproduction.bundle import bundle
from tests.browser import chromium, watch_errors

pytestmark = [pytest.mark.slow, pytest.mark.needs("playwright")]

PLAYGROUND = Path(__file__).parents[2] / "docs" / "playground"
DYNAMICS: dict[str, Dynamics] = {"intersection": Crossing(), "cartpole": Balancing()}
EPISODES = 100

REPLAY = """
({ world, keys, actions }) => keys.map((key, i) => {
  const episode = new module_worlds.Episode(world, key);
  const [states, rewards] = [[episode.state], []];
  for (const action of actions[i]) {
    if (episode.over) break;
    episode.step(action);
    states.push(episode.state);
    rewards.push(episode.reward);
  }
  return { states, rewards, over: episode.over };
})
"""


@pytest.fixture(scope="module")
def page() -> Iterator[Any]:
    """A page with the script of the worlds and nothing else."""
    with chromium() as browser:
        tab = browser.new_page()
        errors = watch_errors(tab)
        tab.add_script_tag(content=bundle("worlds", [PLAYGROUND]))
        yield tab
        assert errors == []


def record(world: str) -> tuple[NDArray[Any], NDArray[Any], list[dict[str, Any]]]:
    """Return the keys, actions and episodes of a teacher with large errors: some fall early."""
    dynamics, rng = DYNAMICS[world], np.random.default_rng(0)
    steps, expert = WORLDS[world].steps, WORLDS[world].load_expert()
    keys = rng.integers(2**63 - 1, size=EPISODES)
    state, ends = dynamics.start(keys), np.zeros(EPISODES, bool)
    episodes: list[dict[str, Any]] = [{"states": [s], "rewards": []} for s in state]
    sizes = rng.uniform(0, 3, (EPISODES, 1))  # of the errors, one for each episode
    actions = np.empty((EPISODES, steps, *dynamics.action_space.shape))
    for t in range(steps):
        bias = np.sin(0.1 * t + keys[:, None] % 7)
        action = expert(dynamics.observe(state), keys, t)
        actions[:, t] = action + sizes * (rng.uniform(-1, 1, action.shape) + bias)
        state, reward, terminated = dynamics.advance(
            state, actions[:, t], keys, np.full(EPISODES, t)
        )
        for i in np.flatnonzero(~ends):
            episodes[i]["states"].append(state[i])
            episodes[i]["rewards"].append(reward[i])
        ends |= terminated
    return keys, actions, episodes


def test_recorded_episodes_are_varied() -> None:
    lengths = [len(e["rewards"]) for e in record("cartpole")[2]]
    assert min(lengths) < 20
    assert max(lengths) == WORLDS["cartpole"].steps
    assert len(set(lengths)) > 20


@pytest.mark.parametrize("world", DYNAMICS)
def test_100_recorded_episodes_are_the_same_in_javascript(page: Any, world: str) -> None:
    keys, actions, episodes = record(world)
    message = {"world": world, "keys": [str(k) for k in keys], "actions": actions.tolist()}
    replayed = page.evaluate(REPLAY, message)
    assert len(replayed) == EPISODES
    for episode, copy in zip(episodes, replayed, strict=True):
        assert copy["over"]
        assert len(copy["rewards"]) == len(episode["rewards"])
        # Sines are the only operations that browsers and numpy may round differently.
        rtol = 1e-9 if world == "cartpole" else 0.0
        states = np.array(episode["states"])
        np.testing.assert_allclose(copy["states"], states, rtol=rtol, atol=1e-3 * rtol)
        np.testing.assert_array_equal(copy["rewards"], episode["rewards"])


@pytest.mark.parametrize("world", DYNAMICS)
def test_episodes_are_as_long_as_in_python(page: Any, world: str) -> None:
    steps = page.evaluate("(world) => module_worlds.WORLDS[world].steps", world)
    assert steps == WORLDS[world].steps
