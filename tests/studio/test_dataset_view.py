"""Datasets of any format and size can be looked at."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest

from counterbc.data.demonstrations import Demonstrations
from counterbc.data.episode import Episode
from counterbc.errors import AbsentEpisodes, CounterBCError, DataError, OptionError
from counterbc.formats import save
from counterbc.studio import dataset_view
from counterbc.studio.dataset_view import DatasetView, read_episodes
from counterbc.studio.even_sample import EvenSample
from tests.fixture_types import Make


def sample_of(view: DatasetView) -> Demonstrations:
    assert view.sample is not None
    return view.sample


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
    assert view.is_whole
    assert view.sample is not None
    np.testing.assert_array_equal(view.sample.action, demos.action)
    assert [r["length"] for r in view.rows] == [10] * 4
    assert [r["operator"] for r in view.rows] == ["ada", "bob", "ada", "bob"]
    assert all(r["total"] < 0 for r in view.rows)
    assert view.world is None


@pytest.mark.parametrize(
    ("name", "format"),
    [("a.hdf5", None), ("a.npz", None), ("a.lerobot", "lerobot"), ("a.minari", "minari")],
)
def test_episodes_that_do_not_fit_are_listed_and_read_when_asked_for(
    make_demos: Make, tmp_path: Path, name: str, format: str | None
) -> None:
    demos = make_demos(episodes=7)
    save(demos, tmp_path / name, format=format)
    view = DatasetView.open(tmp_path / name, EvenSample(pairs=25))
    assert len(view.rows) == 7
    assert [e.name for e in sample_of(view).episodes] == ["demo_0", "demo_4"]
    assert not view.is_whole
    contents = view.contents("demo_5")
    np.testing.assert_array_equal(np.float32(contents["action"]), demos.episodes[5].action)
    np.testing.assert_array_equal(np.float32(contents["obs"]), demos.episodes[5].obs)
    with pytest.raises(OptionError, match="not in the sample"):
        view.pairs("demo_5")
    larger = view.with_episode("demo_3")  # stays in the order of the file, as the job reads it
    names = ["demo_0", "demo_3", "demo_4"]
    assert [e.name for e in sample_of(larger).episodes] == names
    again = read_episodes(view.path, view.format, view.keys, names)
    np.testing.assert_array_equal(sample_of(larger).action, again.action)
    assert larger.pairs("demo_4") == slice(20, 30)


def test_episodes_that_are_too_long_have_no_sample(make_demos: Make, tmp_path: Path) -> None:
    make_demos().save(tmp_path / "a.hdf5")
    view = DatasetView.open(tmp_path / "a.hdf5", EvenSample(pairs=5))
    assert (view.sample, view.describe()["sampled"], len(view.rows)) == (None, 0, 4)
    assert len(view.contents("demo_3")["action"]) == 10
    with pytest.raises(OptionError, match="too long"):
        view.with_episode("demo_3")


def test_a_page_gets_every_nth_step_of_a_long_episode(
    make_demos: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    demos = make_demos()
    demos.save(tmp_path / "a.hdf5")
    monkeypatch.setattr(dataset_view, "STEPS", 4)
    contents = DatasetView.open(tmp_path / "a.hdf5").contents("demo_1")
    assert (contents["every"], contents["length"]) == (3, 10)
    np.testing.assert_array_equal(np.float32(contents["obs"]), demos.episodes[1].obs[::3])


def test_a_file_that_changes_is_noticed(make_demos: Make, tmp_path: Path) -> None:
    make_demos().save(tmp_path / "a.hdf5")
    view = DatasetView.open(tmp_path / "a.hdf5", EvenSample(pairs=15))
    with h5py.File(tmp_path / "a.hdf5", "a") as file:
        del file["data/demo_3"]
        del file["mask"]
    with pytest.raises(DataError, match="changed since it was opened"):
        view.contents("demo_3")


def test_reading_is_reported(
    make_demos: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dataset_view, "_REPORT_EVERY", 2)
    make_demos(episodes=5).save(tmp_path / "a.hdf5")
    counts: list[int] = []
    DatasetView.open(tmp_path / "a.hdf5", report=counts.append)
    assert counts == [2, 4]


def test_contents_and_pairs_of_an_episode_agree(make_demos: Make, tmp_path: Path) -> None:
    make_demos().save(tmp_path / "a.hdf5")
    view = DatasetView.open(tmp_path / "a.hdf5")
    contents, pairs = view.contents("demo_2"), view.pairs("demo_2")
    assert pairs == slice(20, 30)
    np.testing.assert_array_equal(np.float32(contents["action"]), sample_of(view).action[pairs])
    np.testing.assert_array_equal(np.float32(contents["obs"]), sample_of(view).obs[pairs])
    with pytest.raises(OptionError, match="no episode"):
        view.contents("demo_9")


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
    assert view.cameras == ()


def test_real_recordings_are_shown(data: Path) -> None:
    with pytest.warns(AbsentEpisodes):
        view = DatasetView.open(data / "fixtures/robomimic_mh_lift_image_excerpt.hdf5")
    assert {row["operator"] for row in view.rows} == {"better_operator_1"}
    assert view.describe()["images"] is False
    assert view.cameras == ("agentview_image", "robot0_eye_in_hand_image")


def test_images_without_a_vector_are_not_kept_in_memory(tmp_path: Path) -> None:
    images = np.zeros((6, 8, 9, 3), np.uint8)
    Demonstrations((Episode(images, np.zeros((6, 1))),)).save(tmp_path / "i.hdf5")
    view = DatasetView.open(tmp_path / "i.hdf5")
    assert view.describe()["images"] is True
    assert view.cameras == ("image",)
    assert view.sample is None
    assert view.contents("demo_0")["obs"] is None


@pytest.mark.parametrize("name", ["a.hdf5", "a.npz"])
def test_cameras_beside_a_vector_are_listed_and_not_read(tmp_path: Path, name: str) -> None:
    rng = np.random.default_rng(0)
    images = {"front": np.zeros((6, 8, 9, 3), np.uint8), "wrist": np.ones((6, 4, 4, 3), np.uint8)}
    episode = Episode(rng.normal(size=(6, 2)), rng.uniform(size=(6, 1)), images=images)
    save(Demonstrations((episode,)), tmp_path / name)
    view = DatasetView.open(tmp_path / name)
    assert view.cameras == ("front", "wrist")
    assert dict(sample_of(view).images) == {}
    np.testing.assert_array_equal(sample_of(view).obs, episode.obs)


def write_large(path: Path, episodes: int, steps: int, numbers: int) -> None:
    """Write a file whose observations take no space on the disk until they are read."""
    with h5py.File(path, "w") as file:
        for i in range(episodes):
            demo = file.create_group(f"data/demo_{i}")
            demo["actions"] = np.full((steps, 1), i / episodes, np.float32)
            allocated = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
            allocated.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
            allocated.set_fill_time(h5py.h5d.FILL_TIME_NEVER)
            space = h5py.h5s.create_simple((steps, numbers))
            group = demo.create_group("obs").id
            kind = h5py.h5t.NATIVE_FLOAT
            h5py.h5d.create(group, b"state", kind, space, dcpl=allocated)
            demo["obs/state"][-1, -1] = i


LOOK = """
import resource, sys
import subprocess
import sys
from pathlib import Path
from counterbc.studio.look_room import DatasetView
def peak(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
before = peak()
view = DatasetView.open(Path(sys.argv[1]))
contents = view.contents(view.rows[-1]["name"])
print(len(view.rows), len(view.sample.episodes), contents["obs"][-1][-1], peak() - before)
"""


@pytest.mark.slow
def test_two_gigabytes_are_looked_at_in_bounded_memory(tmp_path: Path) -> None:
    path, episodes = tmp_path / "large.hdf5", 1001
    write_large(path, episodes, 100, 5000)
    assert path.stat().st_size > 2e9
    command = [sys.executable, "-W", "ignore", "-c", LOOK, str(path)]
    words = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    assert words[:3] == ["1001", "63", "1000.0"]  # every sixteenth episode is in the sample
    assert float(words[3]) < 450  # megabytes
