from __future__ import annotations

from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from counterbc.errors import FormatError
from counterbc.formats import d4rl as flat
from counterbc.formats import load


def write_flat(path: Path, **arrays: Any) -> Path:
    with h5py.File(path, "w") as file:
        for key, values in arrays.items():
            file[key] = np.asarray(values)
    return path


def six(**arrays: Any) -> dict[str, Any]:
    """Six pairs; the second ends an episode, the fifth runs out of time."""
    arrays = {
        "observations": np.arange(12.0).reshape(6, 2),
        "actions": np.arange(6.0)[:, None],
        "rewards": np.arange(6.0),
        "terminals": [0, 1, 0, 0, 0, 0],
        "timeouts": [0, 0, 0, 0, 1, 0],
    } | arrays
    return {k: v for k, v in arrays.items() if v is not None}


def test_episodes_end_at_terminals_and_timeouts_and_the_rest_is_one_too(tmp_path: Path) -> None:
    demos = load(write_flat(tmp_path / "flat.hdf5", **six()))
    assert [len(e) for e in demos.episodes] == [2, 3, 1]
    assert [e.name for e in demos.episodes] == ["demo_0", "demo_1", "demo_2"]
    assert demos.action[:, 0].tolist() == list(range(6))
    assert demos.episodes[1].obs.tolist() == [[4, 5], [6, 7], [8, 9]]
    rewards = [e.reward.tolist() for e in demos.episodes if e.reward is not None]
    assert rewards == [[0, 1], [2, 3, 4], [5]]


def test_a_file_whose_last_row_is_an_end_has_nothing_after_it(tmp_path: Path) -> None:
    ends = six(terminals=[0, 0, 1, 0, 0, 1], timeouts=None)
    assert [len(e) for e in load(write_flat(tmp_path / "flat.hdf5", **ends)).episodes] == [3, 3]


def test_other_arrays_are_named_as_left_out(tmp_path: Path) -> None:
    path = write_flat(tmp_path / "flat.hdf5", **six(next_observations=np.zeros((6, 2))))
    assert flat.stream(path).header.left_out == (
        "next_observations",
        "whether terminals or timeouts ended an episode",
        "digits beyond 32 bits",
    )


def test_many_short_episodes_are_cut_right_across_the_blocks_of_reading(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("counterbc.formats.rows._BLOCK", 64)  # four rows of two float64
    rng = np.random.default_rng(0)
    arrays = six(
        observations=rng.normal(size=(50, 2)), actions=rng.normal(size=(50, 1)),
        rewards=rng.normal(size=50), terminals=rng.uniform(size=50) < 0.3, timeouts=np.zeros(50),
    )  # fmt: skip
    demos = load(write_flat(tmp_path / "flat.hdf5", **arrays))
    assert len(demos) == arrays["terminals"][:-1].sum() + 1
    assert np.array_equal(demos.obs, arrays["observations"].astype(np.float32))
    assert np.array_equal(demos.action, arrays["actions"].astype(np.float32))


@pytest.mark.parametrize(
    ("arrays", "sentence"),
    [
        (six(rewards=np.zeros(5)), "rewards has 5 rows but actions has 6"),
        (six(terminals=None, timeouts=None), "add terminals or timeouts, or save .* npz"),
        (six(observations=np.array([b"a"] * 6)), "observations .* only numbers can be read"),
        (six(observations=np.float64(3)), "observations has 0 rows"),
    ],
)
def test_a_bad_flat_file_is_refused_in_words(
    arrays: dict[str, Any], sentence: str, tmp_path: Path
) -> None:
    with pytest.raises(FormatError, match=sentence):
        load(write_flat(tmp_path / "flat.hdf5", **arrays))
