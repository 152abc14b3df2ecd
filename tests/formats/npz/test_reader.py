from __future__ import annotations

import io
import json
import os
import pickle
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from counterbc.data.demonstrations import Demonstrations, Episode
from counterbc.errors import DataError, FormatError
from counterbc.formats import load, save


def four(**others: Any) -> dict[str, Any]:
    return {"obs": np.arange(8.0).reshape(4, 2), "action": np.arange(4.0)[:, None]} | others


def written(path: Path, **arrays: Any) -> Path:
    np.savez_compressed(path, allow_pickle=False, **arrays)
    return path


def test_without_episodes_the_file_is_one(tmp_path: Path) -> None:
    demos = load(written(tmp_path / "a.npz", **four()))
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
def test_episodes_are_told_by_ids_or_by_ends(
    how: dict[str, Any], names: list[str], tmp_path: Path
) -> None:
    demos = load(written(tmp_path / "a.npz", **four(**how)))
    assert [(e.name, e.action[:, 0].tolist()) for e in demos.episodes] == [
        (names[0], [0, 1]),
        (names[1], [2, 3]),
    ]


@pytest.mark.parametrize("operators", [["ann", ""], ["ann", "ann", "", ""], [b"ann", b""]])
def test_operators_come_per_pair_or_per_episode(operators: list[Any], tmp_path: Path) -> None:
    arrays = four(episode_ends=[2, 4], operator=operators)
    demos = load(written(tmp_path / "a.npz", **arrays))
    assert [e.operator for e in demos.episodes] == ["ann", None]


def test_rows_may_be_numbers_and_arrays_may_lie_column_by_column(tmp_path: Path) -> None:
    obs = np.asfortranarray(four()["obs"])
    path = written(tmp_path / "a.npz", obs=obs, action=np.arange(4), episode_ends=[1, 4])
    demos = load(path)
    assert np.array_equal(demos.obs, obs)
    assert demos.action.tolist() == [[0], [1], [2], [3]]


def test_numpy_reads_what_we_write(tmp_path: Path) -> None:
    episodes = [
        Episode(np.full((2, 3), i), np.full((2, 1), i), operator=who)
        for i, who in enumerate(("ann", None, "bob"))
    ]
    save(Demonstrations(tuple(episodes)), tmp_path / "a.npz")
    with np.load(tmp_path / "a.npz", allow_pickle=False) as arrays:
        assert sorted(arrays) == ["action", "counterbc", "episode_ends", "obs", "operator"]
        assert arrays["episode_ends"].tolist() == [2, 4, 6]
        assert arrays["operator"].tolist() == ["ann", "", "bob"]
        assert arrays["obs"].dtype == np.float32
        assert arrays["obs"][:, 0].tolist() == [0, 0, 1, 1, 2, 2]


def test_rewards_of_some_episodes_alone_are_kept_apart(tmp_path: Path) -> None:
    given: list[Any] = [None, [1.0, 2.0], None]
    episodes = [Episode(np.zeros((2, 1)), np.zeros((2, 1)), reward=r) for r in given]
    save(Demonstrations(tuple(episodes)), tmp_path / "a.npz")
    back = [e.reward for e in load(tmp_path / "a.npz").episodes]
    assert [None if r is None else r.tolist() for r in back] == given


class Harm:
    def __reduce__(self) -> Any:
        return os.mkdir, ("harm",)


def test_python_objects_are_refused_and_not_unpickled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    np.savez(tmp_path / "a.npz", obs=np.array([Harm()] * 4, dtype=object), action=np.zeros((4, 1)))
    with zipfile.ZipFile(tmp_path / "b.npz", "w") as archive:
        archive.writestr("obs.npy", pickle.dumps(Harm()))
        archive.writestr("action.npy", pickle.dumps(Harm()))
    for name in ("a.npz", "b.npz"):
        with pytest.raises(FormatError, match=r"type object|cannot be read"):
            load(tmp_path / name)
    assert not (tmp_path / "harm").exists()


def header(shape: tuple[int, ...], dtype: str = "<f4") -> bytes:
    file = io.BytesIO()
    told = {"descr": dtype, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(file, told)
    return file.getvalue()


@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_an_array_that_claims_terabytes_is_refused_before_it_is_read(
    compression: int, tmp_path: Path
) -> None:
    with zipfile.ZipFile(tmp_path / "bomb.npz", "w", compression) as archive:
        for name in ("obs", "action"):
            archive.writestr(f"{name}.npy", header((10**12, 2)) + b"\0" * 10_000)
    with pytest.raises(FormatError, match=r"claims 8,000\.0 GB but the file stores 0\.000"):
        load(tmp_path / "bomb.npz")


def test_an_array_that_is_shorter_than_it_says_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "short.npz", "w") as archive:
        for name in ("obs", "action"):
            archive.writestr(f"{name}.npy", header((10, 2)) + b"\0" * 20)
    with pytest.raises(FormatError, match="5 of 20 values"):
        load(tmp_path / "short.npz")


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
        load(written(tmp_path / "a.npz", **arrays))


def test_names_that_lead_elsewhere_are_refused(tmp_path: Path) -> None:
    written(tmp_path / "a.npz", **four())
    with zipfile.ZipFile(tmp_path / "a.npz", "a") as archive:
        archive.writestr("../evil.npy", header((0,)))
    with pytest.raises(FormatError, match=r"'\.\./evil' is not a valid name"):
        load(tmp_path / "a.npz")
