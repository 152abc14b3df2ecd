"""Without an environment, a policy is tested on whole episodes that it did not see."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from counterbc.data.demonstrations import Demonstrations, Episode
from counterbc.errors import OptionError
from counterbc.experiments.file_data import Subset
from counterbc.experiments.held_out_cell import (
    HeldOutCell,
    deterministic_actions,
    held_out_error,
)


@pytest.fixture
def cell(tiny: Demonstrations, tmp_path: Path) -> HeldOutCell:
    tiny.save(tmp_path / "demos.npz")
    file = tmp_path / "demos.npz"
    return HeldOutCell(
        world=None, file=file, method="bc", seeds=2, steps=3, changes={"hidden": (4,)},
        test_share=0.5,
    )  # fmt: skip


def test_each_seed_holds_out_its_own_episodes_and_never_learns_from_them(cell: HeldOutCell) -> None:
    for seed in range(2):
        training, test = cell.split(seed)
        names = [{e.name for e in demos.episodes} for demos in (training, test)]
        assert names[0] | names[1] == {f"demo_{i}" for i in range(4)}
        assert not names[0] & names[1]
    seven_pairs = replace(cell, subset=Subset(pairs=7))
    assert seven_pairs.split(0)[0].pairs == 7
    assert seven_pairs.split(0)[1].pairs == 20  # all pairs of the held-out episodes


def test_rows_have_the_held_out_error_of_each_seed(cell: HeldOutCell) -> None:
    rows = cell.rows("cpu").to_pylist()
    assert [(r["seed"], r["act"], r["held_out_pairs"]) for r in rows] == [
        (0, "mean", 20), (1, "mean", 20),
    ]  # fmt: skip
    assert all(np.isfinite(r["held_out_error"]) for r in rows)
    assert cell.performance == "held_out_error"
    assert cell.name.startswith("held-out-all-bc-")


@pytest.mark.parametrize("method", ["bc", "bc-rnn"])
def test_actions_are_those_of_an_actor_that_plays_the_episodes(
    method: str, tiny: Demonstrations, quick: Any
) -> None:
    first, second = tiny.episodes[:2]
    short = Episode(first.obs[:6], first.action[:6])
    demos = replace(tiny, episodes=(short, Episode(second.obs, second.action)), masks={})
    policy = quick(tiny, method)[0]
    actor, actions = policy.actor(), []
    for episode in demos.episodes:
        actor.reset()
        actions += [actor.act(obs) for obs in episode.obs]
    np.testing.assert_allclose(deterministic_actions(policy, demos), actions, rtol=1e-5, atol=1e-6)


def test_the_error_is_measured_where_actions_span_one_to_minus_one(
    tiny: Demonstrations, quick: Any
) -> None:
    policy = quick(tiny)[0]
    actions = deterministic_actions(policy, tiny)
    low, high = (np.asarray(x, float) for x in (tiny.action_low, tiny.action_high))
    scaled_error = 2 * (actions - tiny.action) / (high - low)
    assert held_out_error(policy, tiny) == pytest.approx(float((scaled_error**2).mean()), rel=1e-6)


def test_a_world_and_an_impossible_share_are_refused(cell: HeldOutCell) -> None:
    with pytest.raises(OptionError, match="a HeldOutCell has none, use FileCell"):
        replace(cell, world="intersection")
    with pytest.raises(OptionError, match="test_share is 1; it must be above 0 and below 1"):
        replace(cell, test_share=1)


def test_without_an_environment_the_one_that_the_file_names_chooses_observations(
    data: Path,
) -> None:
    file = data / "pusht_human_206.hdf5"
    cell = HeldOutCell(world=None, file=file, method="bc", seeds=1, steps=2)
    assert cell.note.startswith("Of pusht_human_206.hdf5, reads state, as the environment that it")
    assert cell.split(0)[0].obs_keys == (("state", 5),)
    assert cell.name == replace(cell, obs=("state",)).name
    assert cell.name != replace(cell, obs=("keypoints", "state")).name
