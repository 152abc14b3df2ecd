"""A tiny dataset that every method learns in a second, and commands as people type them."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from counterbc.acting.policies import Policies
from counterbc.cli import main
from counterbc.data.demonstrations import Demonstrations, Episode
from counterbc.methods import METHODS
from counterbc.trainer import train

Make = Callable[..., Demonstrations]
Train = Callable[..., Policies]
Call = Callable[..., tuple[int, str, str]]
CallJson = Callable[..., dict[str, Any]]


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    """Tensors here are tiny: a second thread would only be waited for."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(autouse=True, scope="session")
def _short_pretraining() -> Iterator[None]:
    """Methods that learn something before the policy do so in fewer steps here."""
    before = dict(METHODS)
    for name, method in before.items():
        network = getattr(method.weighting, "network", None)
        if network is not None:
            changes: dict[str, Any] = {"network": replace(network, steps=100)}
            METHODS[name] = replace(method, weighting=replace(method.weighting, **changes))
    yield
    METHODS.update(before)


def _made_up(
    episodes: int = 4,
    length: int = 10,
    seed: int = 0,
    obs_size: int = 3,
    action_size: int = 2,
    noise: float = 0.1,
    **fields: Any,
) -> Demonstrations:
    """Noisy demonstrations of a smooth function, within bounds of ±1 unless told otherwise.

    Two operators take turns; the first is the expert. The reward is minus the distance to what was
    meant, so that every method finds what it needs.
    """
    rng = np.random.default_rng(seed)
    bounds = {"action_low": np.full(action_size, -1.0), "action_high": np.ones(action_size)}
    made = []
    for i in range(episodes):
        obs = rng.uniform(-1, 1, (length, obs_size))
        meant = 0.7 * np.sin(obs.sum(1, keepdims=True) + np.arange(action_size))
        shown = meant + rng.uniform(-noise, noise, meant.shape)
        reward = -np.abs(shown - meant).sum(1)
        made.append(Episode(obs, shown, reward, operator=("ada", "bob")[i % 2], name=f"demo_{i}"))
    known = bounds | {"masks": {"expert": tuple(e.name for e in made[::2])}}
    return Demonstrations(tuple(made), **(known | fields))


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


@pytest.fixture
def data(request: pytest.FixtureRequest) -> Path:
    """The folder of real demonstrations; a test that asks for it is skipped where there is none.

    A file of tests with words of its own for that has them in NO_DATA.
    """
    folder = os.environ.get("COUNTERBC_DATA")
    if not folder:
        usual = "COUNTERBC_DATA does not name the folder of real demonstrations"
        pytest.skip(getattr(request.module, "NO_DATA", usual))
    return Path(folder)


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Call:
    """Run a command in this process: its exit status, stdout and stderr."""

    def run(*arguments: object) -> tuple[int, str, str]:
        capsys.readouterr()
        status = main([str(a) for a in arguments])
        return status, *capsys.readouterr()

    return run


@pytest.fixture
def call_json(call: Call) -> CallJson:
    """Run a command that ends well: what it says with --json."""

    def run(*arguments: object) -> dict[str, Any]:
        status, out, err = call(*arguments, "--json")
        assert status == 0, err
        said: dict[str, Any] = json.loads(out)
        return said

    return run
