"""Some episodes and rows of a file are read as if all of it had been, in every format."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import h5py
import numpy as np
import pytest

from counterbc.data.demonstrations import Demonstrations
from counterbc.data.episode import Episode
from counterbc.data.raw_episode import RawEpisode
from counterbc.formats import load, open_stream, save
from counterbc.formats.asked import WHOLE, AskedPart, asked_rows, asking, is_asked
from tests.fixture_types import Make

FORMATS = [("a.hdf5", None), ("a.npz", None), ("a.lerobot", "lerobot"), ("a.minari", "minari")]


@pytest.fixture
def camera_demos(make_demos: Make) -> Demonstrations:
    """Episodes with names of their own, rewards, and two cameras beside the vector."""
    rng = np.random.default_rng(0)

    def with_cameras(i: int, episode: Episode) -> Episode:
        images = {
            name: rng.integers(0, 256, (len(episode), 4 + i, 6, 3)).astype(np.uint8)
            for i, name in enumerate(("front", "wrist"))
        }
        return replace(episode, name=f"take {i}", images=images)

    demos = make_demos()
    return replace(
        demos, masks={}, episodes=tuple(with_cameras(*pair) for pair in enumerate(demos.episodes))
    )


def read(path: Path, part: AskedPart, **options: object) -> list[RawEpisode]:
    return list(open_stream(path, part=part, **options).raw_episodes)  # type: ignore[arg-type]


@pytest.mark.parametrize(("name", "format"), FORMATS)
def test_asked_episodes_and_rows_are_those_of_the_whole_file(
    make_demos: Make, tmp_path: Path, name: str, format: str | None
) -> None:
    save(make_demos(), tmp_path / name, format=format)
    whole = load(tmp_path / name)
    names = [whole.episodes[i].name for i in (1, 3)]
    for begin, end in ((0, None), (2, 5), (8, 99), (99, None)):
        raws = read(tmp_path / name, AskedPart(frozenset(names), begin, end))
        assert [raw.name for raw in raws] == names
        for raw, episode in zip(raws, (whole.episodes[1], whole.episodes[3]), strict=True):
            np.testing.assert_array_equal(raw.obs, episode.obs[begin:end])
            np.testing.assert_array_equal(raw.action, episode.action[begin:end])
            assert raw.reward is not None
            assert episode.reward is not None
            np.testing.assert_array_equal(raw.reward, episode.reward[begin:end])
            assert raw.operator == episode.operator


@pytest.mark.parametrize(("name", "format"), FORMATS[:3])  # Minari has no cameras beside vectors
@pytest.mark.parametrize("camera", ["front", "wrist"])
def test_rows_of_one_camera_are_read(
    camera_demos: Demonstrations, tmp_path: Path, name: str, format: str | None, camera: str
) -> None:
    save(camera_demos, tmp_path / name, format=format)
    for rows in (slice(0, 10), slice(3, 5), slice(9, 10)):
        part = AskedPart(frozenset({"take 2"}), rows.start, rows.stop)
        (raw,) = read(tmp_path / name, part, obs=[camera])
        np.testing.assert_array_equal(raw.obs, camera_demos.episodes[2].images[camera][rows])


def test_episodes_that_are_not_asked_for_are_not_read(make_demos: Make, tmp_path: Path) -> None:
    make_demos().save(tmp_path / "a.hdf5")
    with h5py.File(tmp_path / "a.hdf5", "a") as file:
        del file["data/demo_1/actions"]
    (raw,) = read(tmp_path / "a.hdf5", AskedPart(frozenset({"demo_2"})))
    assert raw.error is None
    (raw,) = read(tmp_path / "a.hdf5", AskedPart(frozenset({"demo_1"})))
    assert raw.error is not None


def test_nothing_is_left_of_names_that_do_not_exist(make_demos: Make, tmp_path: Path) -> None:
    make_demos().save(tmp_path / "a.hdf5")
    assert read(tmp_path / "a.hdf5", AskedPart(frozenset({"demo_9"}))) == []
    assert read(tmp_path / "a.hdf5", AskedPart(frozenset())) == []
    assert len(read(tmp_path / "a.hdf5", WHOLE)) == 4


def test_reading_ends_after_the_last_episode_that_is_asked_for(
    make_demos: Make, tmp_path: Path
) -> None:
    rows = "episode,x,a\n" + "".join(f"{e},{t},0\n" for e in (1, 2, 3) for t in range(4))
    (tmp_path / "a.csv").write_text(rows + "3,nonsense")  # only the last episode is damaged
    part = AskedPart(frozenset({"demo_2"}))
    (raw,) = read(tmp_path / "a.csv", part, obs=["x"], action=["a"])
    assert raw.obs[:, 0].tolist() == [0, 1, 2, 3]


def test_a_part_counts_only_while_it_is_asked_for() -> None:
    with asking(AskedPart(frozenset({"a"}), 2, 4)):
        assert is_asked("a")
        assert not is_asked("b")
        assert asked_rows(10) == slice(2, 4)
        assert asked_rows(3) == slice(2, 3)
        assert asked_rows(1) == slice(1, 1)
    assert is_asked("b")
    assert asked_rows(3) == slice(0, 3)
