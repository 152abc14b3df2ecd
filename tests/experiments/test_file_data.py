"""A file is known by its content, and a seed by the pairs that it draws."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from counterbc.data.demonstrations import Demonstrations
from counterbc.errors import CounterBCError, OptionError
from counterbc.experiments.file_data import ALL, Subset, content_hash, default_obs, load_file


@pytest.fixture
def file(tiny: Demonstrations, tmp_path: Path) -> Path:
    path = tmp_path / "demos.npz"
    tiny.save(path)
    return path


def test_masks_and_operators_choose_episodes_before_pairs_are_drawn(tiny: Demonstrations) -> None:
    assert [e.name for e in Subset(mask="expert").of(tiny, 0).episodes] == ["demo_0", "demo_2"]
    half = Subset(operators=("bob",), share=0.5).of(tiny, 3)
    assert len(half) == 1
    assert half.operators == ("bob",)
    assert Subset(mask="expert", operators=("ada",), pairs=7).of(tiny, 0).pairs == 7
    assert ALL.of(tiny, 0) is tiny


def test_seeds_draw_different_pairs_and_a_seed_always_the_same(tiny: Demonstrations) -> None:
    subset = Subset(pairs=10)
    first, repeat, other_seed = (subset.of(tiny, seed).fingerprint() for seed in (0, 0, 1))
    assert first == repeat != other_seed
    assert subset.random
    assert Subset(share=0.5).random
    assert not Subset(mask="expert").random


def test_episodes_are_chosen_by_success_and_left_out_by_name_or_number(
    tiny: Demonstrations,
) -> None:
    episodes = tuple(replace(e, success=i != 2) for i, e in enumerate(tiny.episodes))
    judged = replace(tiny, episodes=episodes)
    for subset, names in (
        (Subset(success=True), ["demo_0", "demo_1", "demo_3"]),
        (Subset(exclude=("demo_1", "3")), ["demo_0", "demo_2"]),
        (Subset(mask="expert", success=True), ["demo_0"]),
    ):
        assert [e.name for e in subset.of(judged, 0).episodes] == names
    with pytest.raises(OptionError, match="unknown episode 'demo_9'"):
        Subset(exclude=("demo_9",)).of(tiny, 0)
    with pytest.raises(OptionError, match="do not record success"):
        Subset(success=True).of(tiny, 0)


def test_options_that_are_not_used_do_not_change_what_a_subset_is_about() -> None:
    assert ALL.about == {"mask": None, "operators": (), "share": 1.0, "pairs": None}
    assert Subset(success=True).about == ALL.about | {"success": True}
    assert Subset(exclude=("3",)).about == ALL.about | {"exclude": ("3",)}


def test_a_subset_has_a_short_name() -> None:
    assert str(ALL) == "all"
    assert str(Subset("worse", ("a", "b"), 0.2, 30)) == "worse-a+b-20%-30pairs"
    assert str(Subset(success=True, exclude=("demo_3", "7"))) == "successful-without2"


def test_shares_and_pairs_outside_their_range_are_refused() -> None:
    with pytest.raises(OptionError, match=r"share is 1\.5; it must be above 0 and at most 1"):
        Subset(share=1.5)
    with pytest.raises(OptionError, match="pairs is 0; it must be 1 or more"):
        Subset(pairs=0)


def test_a_file_is_known_by_its_bytes_not_by_its_name(file: Path, tmp_path: Path) -> None:
    copy = tmp_path / "renamed.npz"
    shutil.copy(file, copy)
    assert content_hash(copy) == content_hash(file)
    copy.write_bytes(file.read_bytes() + b"!")
    assert content_hash(copy) != content_hash(file)


def test_a_folder_is_known_by_all_its_files(file: Path, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    shutil.copy(file, folder / "demos.npz")
    before = content_hash(folder)
    (folder / "more.txt").write_text("more")
    assert content_hash(folder) != before


def test_a_changed_file_is_read_again(file: Path, tiny: Demonstrations) -> None:
    first = load_file(file, ())
    assert load_file(file, ()) is first
    assert first.source == "demos.npz"  # no folders
    file.unlink()
    replace(tiny, episodes=tiny.episodes[:2]).save(file)
    assert len(load_file(file, ())) == 2


def test_by_default_a_file_is_read_as_its_environment_observes(
    tiny: Demonstrations, tmp_path: Path
) -> None:
    keys, path = (("keypoints", 2), ("state", 1)), tmp_path / "named.hdf5"
    named = replace(tiny, obs_keys=keys, obs_names=(), env_args={"env_name": "gym_pusht/PushT-v0"})
    named.save(path)
    assert default_obs(path, (), None) == ("state",)
    assert default_obs(path, (), "push-t") == ("state",)
    assert default_obs(path, (), "cartpole") == ()
    replace(named, env_args={}).save(path.with_name("nameless.hdf5"))
    assert default_obs(path.with_name("nameless.hdf5"), (), None) == ()


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(CounterBCError, match=r"nothing\.hdf5"):
        content_hash(tmp_path / "nothing.hdf5")
