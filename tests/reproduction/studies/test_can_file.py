"""The dataset of the six Can operators."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from counterbc.data.demonstrations import Episode
from counterbc.data.radii import two_valued
from counterbc.demonstrators import CAN_OPERATORS
from counterbc.envs import WORLDS
from counterbc.envs.can.layout import ACTION_NAMES, OBS_KEYS, OBS_NAMES
from counterbc.formats import load
from reproduction.studies.can_file import BLOCKS, join

Array = NDArray[Any]


def demonstrations() -> Any:
    """Four short ones of each operator."""
    rng, actions = np.random.default_rng(0), {}
    for name in CAN_OPERATORS:
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
