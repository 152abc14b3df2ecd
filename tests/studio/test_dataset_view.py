"""Datasets of any format and size can be looked at."""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np
import pytest

from counterbc.data.demonstrations import Demonstrations
from counterbc.data.episode import Episode
from counterbc.errors import AbsentEpisodes, CounterBCError, OptionError
from counterbc.formats import save
from counterbc.studio.dataset_view import DatasetView
from tests.fixture_types import Make


@pytest.mark.parametrize(
    ("name", "format"),
    [("a.hdf5", None), ("a.npz", None), ("a.lerobot", "lerobot"), ("a.minari", "minari")],
)
def test_every_format_is_shown(
    make_demos: Make, tmp_path: Path, name: str, format: str | None
) -> None:
    demos = make_demos()
    save(demos, tmp_path / name, format=format)
    view = DatasetView.open(tmp_path / name)
    np.testing.assert_array_equal(view.demos.action, demos.action)
    assert [r["length"] for r in view.rows] == [10] * 4
    assert [r["operator"] for r in view.rows] == ["ada", "bob", "ada", "bob"]
    assert all(r["total"] < 0 for r in view.rows)
    assert view.world is None


def test_episodes_that_do_not_fit_are_listed_only(make_demos: Make, tmp_path: Path) -> None:
    demos = make_demos(episodes=6)
    demos.save(tmp_path / "a.hdf5")
    size = demos.episodes[0].obs.nbytes + demos.episodes[0].action.nbytes
    view = DatasetView.open(tmp_path / "a.hdf5", largest=2 * size)
    assert [r["shown"] for r in view.rows] == [True, True, False, False, False, False]
    assert len(view.demos.episodes) == 2
    with pytest.raises(OptionError, match="not shown"):
        view.contents("demo_4")


def test_contents_and_pairs_of_an_episode_agree(make_demos: Make, tmp_path: Path) -> None:
    make_demos().save(tmp_path / "a.hdf5")
    view = DatasetView.open(tmp_path / "a.hdf5")
    contents, pairs = view.contents("demo_2"), view.pairs(view.index("demo_2"))
    assert pairs == slice(20, 30)
    np.testing.assert_array_equal(np.float32(contents["action"]), view.demos.action[pairs])
    np.testing.assert_array_equal(np.float32(contents["obs"]), view.demos.obs[pairs])


def test_an_episode_that_cannot_be_read_is_left_out(make_demos: Make, tmp_path: Path) -> None:
    path = tmp_path / "a.hdf5"
    make_demos().save(path)
    with h5py.File(path, "a") as file:
        file["data/demo_1/actions"][3, 0] = np.nan
    view = DatasetView.open(path)
    assert [r["name"] for r in view.rows] == ["demo_0", "demo_2", "demo_3"]


def test_what_is_no_dataset_is_refused_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "a.hdf5").write_bytes(b"nonsense")
    with pytest.raises(CounterBCError):
        DatasetView.open(tmp_path / "a.hdf5")


def test_the_world_of_the_data_is_known(intersection_file: Path) -> None:
    view = DatasetView.open(intersection_file)
    assert view.world == "intersection"
    assert view.describe()["action_names"] == ["ego_dx", "ego_dy"]
    with pytest.raises(OptionError, match="no image"):
        view.image("demo_0", 0)


def test_real_recordings_are_shown(data: Path) -> None:
    with pytest.warns(AbsentEpisodes):
        view = DatasetView.open(data / "fixtures/robomimic_mh_lift_image_excerpt.hdf5")
    assert {row["operator"] for row in view.rows} == {"better_operator_1"}


def test_camera_frames_are_shown_one_by_one(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    images = rng.integers(0, 256, (6, 8, 9, 3)).astype(np.uint8)
    Demonstrations((Episode(images, rng.uniform(size=(6, 1))),)).save(tmp_path / "i.hdf5")
    view = DatasetView.open(tmp_path / "i.hdf5")
    assert view.describe()["images"] is True
    assert view.contents("demo_0")["obs"] is None
    np.testing.assert_array_equal(view.image("demo_0", 4), images[4])
    with pytest.raises(OptionError, match="no image"):
        view.image("demo_0", 6)
