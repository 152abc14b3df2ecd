from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from counterbc.data.arrays import Array
from counterbc.data.demonstrations import Demonstrations, Episode
from counterbc.data.inspection import Inspection
from counterbc.data.inspection_report import Trap
from counterbc.data.raw_episode import Header, raw_episodes
from counterbc.demonstrators import UniformNoise, demonstrate


def traps(demos: Demonstrations) -> tuple[Trap, ...]:
    inspection = Inspection()
    inspection.add(Header.of(demos), raw_episodes(demos))
    return inspection.report().traps


@pytest.fixture(scope="module")
def cart() -> Demonstrations:
    return demonstrate("cartpole", UniformNoise(0.3), 2000, seed=0)


@pytest.mark.parametrize(("scale", "noise"), [(1.0, 0.0), (20.0, 0.0), (1.0, 0.05), (-3.0, 0.05)])
@pytest.mark.parametrize("first", ["zero", "same", "repeated", "random"])
def test_a_previous_action_is_noticed_scaled_with_noise_and_however_it_begins(
    cart: Demonstrations, scale: float, noise: float, first: str
) -> None:
    rng = np.random.default_rng(0)

    def shown(e: Episode) -> Array:
        start = {
            "zero": 0 * e.action[:1], "same": 0 * e.action[:1] + 2.5,
            "repeated": e.action[:1], "random": rng.normal(size=(1, 1)),
        }[first]  # fmt: skip
        previous = scale * np.vstack([start, e.action[:-1]])
        return np.hstack([e.obs, previous + noise * abs(scale) * rng.normal(size=(len(e), 1))])

    episodes = tuple(replace(e, obs=shown(e)) for e in cart.episodes)
    copied = replace(cart, episodes=episodes, obs_keys=(), obs_names=())
    texts = [t.text for t in traps(copied) if "state[4]" in t.dimensions]
    assert any("previous action" in text for text in texts)


def test_a_robot_that_reaches_its_target_at_once_shows_the_previous_action() -> None:
    rng = np.random.default_rng(0)
    episodes = []
    for _ in range(10):
        target = np.cumsum(np.convolve(rng.normal(size=90), np.ones(9) / 9, "valid"))[:, None]
        position = np.zeros_like(target)
        for t in range(1, len(target)):
            position[t] = position[t - 1] + 0.8 * (target[t - 1] - position[t - 1])
        episodes.append(Episode(position, target))
    (trap,) = traps(Demonstrations(tuple(episodes)))
    assert trap.text.endswith("of reading the state")
    assert "as the position of a robot that reaches its target at once" in trap.text
