"""The policies of the page without a server: what is written, and what is on file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from counterbc.envs import WORLDS, make_vec
from counterbc.envs.batched import Dynamics
from counterbc.envs.cartpole import Balancing
from counterbc.envs.intersection import Crossing
from reproduction.options import RESULTS
from reproduction.records import read
from reproduction.studies import playground
from reproduction.studies.playground import EPISODES, RADII, policy_path

pytestmark = pytest.mark.needs("onnxruntime")

DYNAMICS: dict[str, Dynamics] = {"intersection": Crossing(), "cartpole": Balancing()}


def roll_out(world: str, keys: list[str], path: Path) -> np.ndarray[Any, Any]:
    """Return what an exported policy earns in the episodes of these keys."""
    import onnxruntime

    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    dynamics, numbers = DYNAMICS[world], np.array([int(key) for key in keys])
    state, running = dynamics.start(numbers), np.ones(len(keys), bool)
    returns = np.zeros(len(keys))
    for t in range(WORLDS[world].steps):
        (action,) = session.run(["action"], {"obs": dynamics.observe(state)})
        state, reward, ends = dynamics.advance(
            state, np.clip(action, -1, 1).astype(float), numbers, np.full(len(keys), t)
        )
        returns += np.where(running, reward, 0.0)
        running &= ~ends
    return returns


@pytest.mark.slow
def test_what_is_written_agrees_with_itself(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = playground.PlaygroundOptions(
        out=tmp_path, first=1000, seeds=2, steps=20, worlds=("intersection",), radii=(0.0, 0.4)
    )
    playground.run(options)
    numbers = read(options.numbers("playground"))["intersection"]
    assert (numbers["pairs"], numbers["lag"], len(numbers["keys"])) == (400, [0.24], EPISODES)
    for row in numbers["policies"]:
        path = policy_path(tmp_path, "intersection", row["radius"])
        returns = roll_out("intersection", numbers["keys"], path)
        assert returns.mean() == pytest.approx(row["mean"], abs=1e-3)
        assert row["lowest"] < row["means"] < row["highest"]
    assert "intersection: 400 pairs of typical" in capsys.readouterr().out


@pytest.mark.parametrize("world", DYNAMICS)
@pytest.mark.parametrize("radius", [0.0, 0.4])
def test_policies_on_file_earn_what_their_numbers_say(world: str, radius: float) -> None:
    numbers = read(RESULTS / "playground" / "numbers.json")[world]
    (row,) = (row for row in numbers["policies"] if row["radius"] == radius)
    returns = roll_out(world, numbers["keys"], policy_path(RESULTS, world, radius))
    assert returns.mean() == pytest.approx(row["mean"], abs=0.05)


def test_every_radius_of_both_worlds_is_on_file() -> None:
    numbers = read(RESULTS / "playground" / "numbers.json")
    assert list(numbers) == list(playground.PLAYGROUND_WORLDS)
    for world, facts in numbers.items():
        assert [row["radius"] for row in facts["policies"]] == list(RADII)
        assert all(policy_path(RESULTS, world, radius).exists() for radius in RADII)


@pytest.mark.parametrize("world", DYNAMICS)
def test_a_key_gives_the_start_of_its_seed(world: str) -> None:
    seeds = [7, 2**31 - 1, 0]
    keys = playground.start_keys(seeds)
    env = make_vec(world, len(seeds))
    obs, _ = env.reset(seed=seeds)  # type: ignore[arg-type]  # lists are accepted, but untyped
    start = DYNAMICS[world].start(np.array([int(key) for key in keys]))
    np.testing.assert_array_equal(start.astype(np.float32), obs)
