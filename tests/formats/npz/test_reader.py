from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from counterbc.errors import DataError, FormatError
from counterbc.formats import (
    load,
)
from tests.formats.npz.arrays import four, write_npz


def test_without_episodes_the_file_is_one(tmp_path: Path) -> None:
    demos = load(write_npz(tmp_path / "a.npz", **four()))
    assert (len(demos), demos.pairs, demos.obs_keys) == (1, 4, (("state", 2),))


@pytest.mark.parametrize(
    ("how", "names"),
    [
        ({"episode": [7, 7, 3, 3]}, ["demo_7", "demo_3"]),
        ({"episode": ["b", "b", "a", "a"]}, ["b", "a"]),
        ({"episode": [0.0, 0, 1, 1]}, ["demo_0", "demo_1"]),
        ({"episode_ends": [2, 4]}, ["demo_0", "demo_1"]),
    ],
)
def test_episodes_are_separated_by_ids_or_by_ends(
    how: dict[str, Any], names: list[str], tmp_path: Path
) -> None:
    demos = load(write_npz(tmp_path / "a.npz", **four(**how)))
    assert [(e.name, e.action[:, 0].tolist()) for e in demos.episodes] == [
        (names[0], [0, 1]),
        (names[1], [2, 3]),
    ]


@pytest.mark.parametrize("operators", [["ann", ""], ["ann", "ann", "", ""], [b"ann", b""]])
def test_operators_come_per_pair_or_per_episode(operators: list[Any], tmp_path: Path) -> None:
    arrays = four(episode_ends=[2, 4], operator=operators)
    demos = load(write_npz(tmp_path / "a.npz", **arrays))
    assert [e.operator for e in demos.episodes] == ["ann", None]


def test_rows_may_be_numbers_and_arrays_may_lie_column_by_column(tmp_path: Path) -> None:
    obs = np.asfortranarray(four()["obs"])
    path = write_npz(tmp_path / "a.npz", obs=obs, action=np.arange(4), episode_ends=[1, 4])
    demos = load(path)
    assert np.array_equal(demos.obs, obs)
    assert demos.action.tolist() == [[0], [1], [2], [3]]


@pytest.mark.parametrize(
    ("arrays", "sentence"),
    [
        ({"observations": [[1.0]]}, "no array 'obs'; it has observations"),
        (four(reward=np.zeros(3)), "reward has 3 rows but action has 4"),
        (four(action=3.0), "action is a single number"),
        (four(action=np.zeros((0, 1)), obs=np.zeros((0, 1))), "episode 'demo_0' is empty"),
        (four(action=["a", "b", "c", "d"]), "action holds values of type <U1"),
        (four(episode=[0, 1, 0, 0]), "episode 'demo_0' occurs in two"),
        (four(episode_ends=[3, 2, 4]), "episode_ends must be whole numbers that increase"),
        (four(episode_ends=[2, 5]), "increase up to the number of rows, 4"),
        (four(episode_ends=[2.0, 4.0]), "episode_ends must be whole"),
        (four(episode_ends=[2, 2, 4]), "episode 'demo_1' is empty"),
        (four(episode_ends=[2, 4], operator=["a", "b", "c"]), r"operator has shape \(3,\)"),
        (four(operator=["a", "a", "b", "b"]), "operator changes within an episode, in row 2"),
        (four(counterbc="[1]"), "counterbc"),
        (four(counterbc=json.dumps({"obs_keys": [1]})), "counterbc: obs_keys"),
    ],
)
def test_a_bad_npz_file_is_refused_in_words(
    arrays: dict[str, Any], sentence: str, tmp_path: Path
) -> None:
    with pytest.raises((FormatError, DataError), match=sentence):
        load(write_npz(tmp_path / "a.npz", **arrays))


def test_an_episode_index_that_does_not_fit_the_description_is_refused(tmp_path: Path) -> None:
    load(write_npz(tmp_path / "a.npz", **four(episode_ends=[2, 4]))).save(tmp_path / "b.npz")
    with np.load(tmp_path / "b.npz") as archive:
        arrays = dict(archive)
    del arrays["episode_ends"]
    with pytest.raises(FormatError, match="does not fit this dataset: it describes 2 episodes"):
        load(write_npz(tmp_path / "c.npz", **arrays))
