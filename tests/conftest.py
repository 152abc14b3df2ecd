"""Fixtures for all tests: a tiny dataset, quick training, and commands in this process."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import hypothesis
import numpy as np
import pytest
import torch

from counterbc.acting.policies import Policies
from counterbc.cli import main
from counterbc.data.demonstrations import Demonstrations, Episode
from counterbc.methods import METHODS
from counterbc.trainer import train
from tests.annotated import annotate
from tests.fixture_types import Call, CallJson, Make, Train

pytest_plugins = ["tests.skips"]
hypothesis.settings.register_profile("no deadline", deadline=None)  # machines may be busy
hypothesis.settings.load_profile("no deadline")


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    """Use one thread, as tensors in tests are tiny, unless OMP_NUM_THREADS asks for more."""
    threads = torch.get_num_threads()
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
    yield
    torch.set_num_threads(threads)


@pytest.fixture(autouse=True, scope="session")
def _interruptible() -> None:
    """Let signals act that shells and nohup turn off for programs in the background."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    for name in ("SIGHUP", "SIGQUIT", "SIGTSTP"):
        number = getattr(signal, name, None)  # Windows has none of them
        if number is not None and signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)


@pytest.fixture(autouse=True, scope="session")
def _no_films_kept() -> None:
    """Write no decoded films to the user's folder; tests of the cache choose one of their own."""
    os.environ["COUNTERBC_CACHE"] = ""


@pytest.fixture(autouse=True, scope="session")
def _short_pretraining() -> Iterator[None]:
    """Shorten the training of networks that weightings need before the policy is trained."""
    originals = dict(METHODS)
    for name, method in originals.items():
        network = getattr(method.weighting, "network", None)
        if network is not None:
            changes: dict[str, Any] = {"network": replace(network, steps=100)}
            METHODS[name] = replace(method, weighting=replace(method.weighting, **changes))
    yield
    METHODS.update(originals)


def _make_demos(
    episodes: int = 4,
    length: int = 10,
    seed: int = 0,
    obs_size: int = 3,
    action_size: int = 2,
    noise: float = 0.1,
    **fields: Any,
) -> Demonstrations:
    """Return noisy demonstrations of a smooth function, with action bounds of ±1 by default.

    Operators ada and bob alternate; ada's episodes are the expert subset. The reward is minus the
    distance to the noiseless action. Every method has the data that it needs.
    """
    rng = np.random.default_rng(seed)
    recordings = []
    for i in range(episodes):
        obs = rng.uniform(-1, 1, (length, obs_size))
        target = 0.7 * np.sin(obs.sum(1, keepdims=True) + np.arange(action_size))
        action = target + rng.uniform(-noise, noise, target.shape)
        reward = -np.abs(action - target).sum(1)
        operator = ("ada", "bob")[i % 2]
        recordings.append(Episode(obs, action, reward, operator=operator, name=f"demo_{i}"))
    defaults: dict[str, Any] = {
        "action_low": np.full(action_size, -1.0),
        "action_high": np.ones(action_size),
        "masks": {"expert": tuple(episode.name for episode in recordings[::2])},
    }
    return Demonstrations(tuple(recordings), **(defaults | fields))


@pytest.fixture(scope="session")
def make_demos() -> Make:
    """A function that makes demonstrations; see `_make_demos` for its arguments."""
    return _make_demos


@pytest.fixture(scope="session")
def tiny() -> Demonstrations:
    """4 episodes of 10 pairs, with 3 observed numbers and 2 action dimensions."""
    return _make_demos()


@pytest.fixture(scope="session")
def quick() -> Train:
    """`train` with a small network, few steps, a fixed radius and no progress bar."""

    def run(demos: Any, method: Any = "bc", **options: Any) -> Policies:
        small: dict[str, Any] = {"progress": False, "hidden": (8, 8), "steps": 20}
        if not {"preset", "start"} & set(options):
            small["radius"] = 0.4  # choosing it would take longer than the training
        return train(demos, method, **(small | options))

    return run


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Call:
    """A function that runs a command in this process: exit status, stdout and stderr."""

    def run(*arguments: object) -> tuple[int, str, str]:
        capsys.readouterr()
        status = main([str(argument) for argument in arguments])
        return status, *capsys.readouterr()

    return run


@pytest.fixture
def call_json(call: Call) -> CallJson:
    """A function that runs a command with --json, checks that it succeeds, and parses stdout."""

    def run(*arguments: object) -> dict[str, Any]:
        status, out, err = call(*arguments, "--json")
        assert status == 0, err
        payload: dict[str, Any] = json.loads(out)
        return payload

    return run


@pytest.fixture
def demo_file(tiny: Demonstrations, tmp_path: Path) -> Path:
    """The tiny dataset as a robomimic file."""
    tiny.save(tmp_path / "demos.hdf5")
    return tmp_path / "demos.hdf5"


@pytest.fixture
def annotated_file(demo_file: Path) -> Path:
    """The tiny dataset with entries that the library does not read."""
    annotate(demo_file)
    return demo_file


@pytest.fixture
def intersection_file(tmp_path: Path, call_json: CallJson) -> Path:
    """60 pairs of Intersection, as the command line writes them."""
    path = tmp_path / "shown.hdf5"
    call_json("demonstrate", "intersection", "--pairs", 60, "--out", path)
    return path
