"""The dataset of the six Can operators."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from counterbc.data.demonstrations import Episode
from counterbc.data.radii import two_valued
from counterbc.demonstrators import record
from counterbc.demonstrators.can_operators import OPERATORS
from counterbc.demonstrators.can_recording import BLOCKS, join, perform
from counterbc.envs import WORLDS
from counterbc.envs.can.layout import ACTION_NAMES, OBS_KEYS, OBS_NAMES
from counterbc.formats import load

Array = NDArray[Any]
needs_robosuite = pytest.mark.extra("robosuite")


def demonstrations() -> Any:
    """Four short ones of each operator."""
    rng, actions = np.random.default_rng(0), {}
    for name in OPERATORS:
        action = rng.uniform(-1, 1, (4, 9, 7))
        action[:, :, 6] = np.where(np.arange(9) < 5, -1, 1)
        obs = rng.normal(size=(4, 9, 23))
        actions[name] = [
            Episode(o, a, np.zeros(9), operator=name, success=True)
            for o, a in zip(obs, action, strict=True)
        ]
    return join(actions)


def test_the_file_has_the_layout_and_masks_of_multi_human_ones(tmp_path: Any) -> None:
    demonstrations().save(tmp_path / "can.hdf5")
    demos = load(tmp_path / "can.hdf5")
    assert (demos.obs_keys, demos.obs_names, demos.action_names) == (
        OBS_KEYS, OBS_NAMES, ACTION_NAMES,
    )  # fmt: skip
    assert demos.operators == tuple(f"synthetic_{b}" for b in BLOCKS)
    assert demos.rate == WORLDS["can"].rate
    assert "synthetic" in demos.env_args
    assert demos.masks["worse_operator_2"] == ("demo_4", "demo_5", "demo_6", "demo_7")
    assert len(demos.masks["worse"]) == 8
    assert len(demos.masks["okay_better"]) == 16
    for name, of in demos.masks.items():
        if f"{name}_train" in demos.masks:
            halves = demos.masks[f"{name}_train"] + demos.masks.get(f"{name}_valid", ())
            assert sorted(halves) == sorted(of)
    assert set(demos.masks["train"]) | set(demos.masks["valid"]) == {f"demo_{i}" for i in range(24)}


def test_only_the_gripper_takes_two_values() -> None:
    assert two_valued([demonstrations()]).tolist() == [False] * 6 + [True]


@needs_robosuite
@pytest.mark.slow
def test_every_operator_succeeds_and_repeats_themselves() -> None:
    from counterbc.demonstrators.can_operators import OPERATORS

    lengths = {}
    for name in OPERATORS:
        episode = perform(name, 0)
        lengths[name] = len(episode)
        assert episode.success
        assert episode.operator == name
    second = perform("synthetic_better_1", 0)
    assert len(second) == lengths["synthetic_better_1"] < lengths["synthetic_worse_2"]


@needs_robosuite
def test_an_operator_is_recorded_like_any_teacher() -> None:
    (take,) = record("can", OPERATORS["synthetic_better_1"], 1, seed=0)
    assert take.episode.operator == "synthetic_better_1"
    assert take.episode.obs.shape[1:] == (23,)
    assert take.intended.shape == take.episode.action.shape
    # With little tremor the operator's actions stay near the expert's.
    assert np.abs(take.episode.action - take.intended)[:, :3].mean() < 0.2
