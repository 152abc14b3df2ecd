"""A tiny dataset that five methods can learn in a second, and the settings to do it with."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import torch

from counterbc.demonstrations import Demonstrations, Episode
from counterbc.trained import Policies
from counterbc.training import train

Make = Callable[..., Demonstrations]
Train = Callable[..., Policies]


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    """Tensors here are tiny: a second thread would only be waited for."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def _made_up(
    episodes: int = 4,
    length: int = 10,
    seed: int = 0,
    obs_size: int = 3,
    action_size: int = 2,
    noise: float = 0.1,
    **fields: Any,
) -> Demonstrations:
    """Noisy demonstrations of a smooth function, within bounds of ±1 unless told otherwise."""
    rng = np.random.default_rng(seed)
    bounds = {"action_low": np.full(action_size, -1.0), "action_high": np.ones(action_size)}
    made = []
    for _ in range(episodes):
        obs = rng.uniform(-1, 1, (length, obs_size))
        meant = 0.7 * np.sin(obs.sum(1, keepdims=True) + np.arange(action_size))
        shown = meant + rng.uniform(-noise, noise, meant.shape)
        made.append(Episode(obs=obs, action=shown))
    return Demonstrations(tuple(made), **(bounds | fields))


@pytest.fixture(scope="session")
def make_demos() -> Make:
    return _made_up


@pytest.fixture(scope="session")
def tiny() -> Demonstrations:
    """4 episodes of 10 pairs: 3 observed numbers, 2 actions."""
    return _made_up()


@pytest.fixture(scope="session")
def quick() -> Train:
    """`train` with a small network, few steps and no progress bar."""

    def run(demos: Any, method: Any = "bc", **options: Any) -> Policies:
        small: dict[str, Any] = {"progress": False, "hidden": (8, 8), "steps": 20}
        return train(demos, method, **(small | options))

    return run
