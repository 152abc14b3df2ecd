"""What is written is read back unchanged, in every format that keeps everything."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import h5py
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterbc.data.demonstrations import Demonstrations, Episode
from counterbc.formats import load, save

Make = Callable[..., Demonstrations]
AssertSame = Callable[[Demonstrations, Demonstrations], None]
pytestmark = pytest.mark.filterwarnings("ignore::counterbc.errors.AbsentEpisodes")
every_format = pytest.mark.parametrize("ending", [".hdf5", ".npz"])


@every_format
def test_a_written_file_reads_back_unchanged(
    tmp_path: Path, ending: str, small: Make, assert_same: AssertSame
) -> None:
    path = tmp_path / f"demos{ending}"
    assert save(small(), path) == []
    back = load(path)
    assert_same(small(), back)
    assert back.source == str(path)
    assert os.listdir(tmp_path) == [path.name]


@every_format
def test_what_was_not_recorded_is_not_guessed_on_the_way_back(
    tmp_path: Path, ending: str, small: Make, assert_same: AssertSame
) -> None:
    bare = small(
        action_low=None,
        action_high=None,
        action_set="box",
        rate=None,
        selected=None,
        masks={"better_operator_1": ("demo_1",)},
    )
    save(bare, tmp_path / f"bare{ending}")
    assert_same(bare, load(tmp_path / f"bare{ending}"))


@every_format
def test_images_read_back_unchanged(tmp_path: Path, ending: str, assert_same: AssertSame) -> None:
    frames = np.random.default_rng(0).integers(0, 256, (3, 4, 5, 3), dtype=np.uint8)
    demos = Demonstrations((Episode(obs=frames, action=np.zeros((3, 1))),))
    save(demos, tmp_path / f"images{ending}")
    assert_same(demos, load(tmp_path / f"images{ending}"))


@every_format
def test_the_order_of_episodes_survives(
    tmp_path: Path, ending: str, small: Make, assert_same: AssertSame
) -> None:
    turned = replace(small(selected=None), episodes=small().episodes[::-1])
    assert [e.name for e in turned.episodes] == ["demo_1", "demo_0"]
    save(turned, tmp_path / f"turned{ending}")
    assert_same(turned, load(tmp_path / f"turned{ending}"))


def test_names_and_order_survive_names_that_robomimic_cannot_read(
    tmp_path: Path, small: Make, assert_same: AssertSame
) -> None:
    named = [replace(e, name=n) for e, n in zip(small().episodes, ("b/ü", "a"), strict=True)]
    masks = {"first": ("b/ü",), "absent": ("demo_0", "demo_1")}
    demos = replace(small(), episodes=tuple(named), masks=masks)
    demos.save(tmp_path / "names.hdf5")
    assert_same(demos, load(tmp_path / "names.hdf5"))
    with h5py.File(tmp_path / "names.hdf5") as file:
        assert list(file["data"]) == ["demo_2", "demo_3"]
        assert file["mask/first"][()].tolist() == [b"demo_2"]


words = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=6)
hdf5_names = words.filter(lambda n: n not in ("", ".", "..") and "/" not in n)
floats = st.floats(-1e6, 1e6, width=32)


@st.composite
def datasets(draw: st.DrawFn) -> Demonstrations:
    widths = draw(st.lists(st.integers(1, 2), min_size=1, max_size=3))
    keys = draw(st.lists(hdf5_names, min_size=len(widths), max_size=len(widths), unique=True))
    numbered = st.integers(0, 12).map(lambda i: f"demo_{i}")
    own_name = words.filter(bool) | numbered
    names = draw(st.lists(own_name, min_size=1, max_size=3, unique=True))
    episodes = []
    for name in names:
        length = draw(st.integers(1, 3))
        row = st.lists(floats, min_size=sum(widths), max_size=sum(widths))
        rewards = st.lists(floats, min_size=length, max_size=length)
        episodes.append(
            Episode(
                obs=np.array(draw(st.lists(row, min_size=length, max_size=length))),
                action=np.full((length, 1), draw(floats)),
                reward=draw(st.none() | rewards.map(np.array)),
                operator=draw(st.none() | words),
                success=draw(st.none() | st.booleans()),
                name=name,
            )
        )
    total = sum(map(len, episodes))
    picks = st.lists(st.integers(0, total - 1), min_size=1, unique=True)
    members = st.lists(st.sampled_from(names) | numbered | words, max_size=3).map(tuple)
    return Demonstrations(
        tuple(episodes),
        obs_keys=tuple(zip(keys, widths, strict=True)),
        rate=draw(st.none() | st.floats(0.1, 1000)),
        env_args=draw(st.dictionaries(words, st.integers() | words | st.none(), max_size=2)),
        masks=draw(st.dictionaries(hdf5_names, members, max_size=3)),
        selected=draw(st.none() | picks.map(np.array)),
    )


@every_format
@settings(max_examples=60, deadline=None, derandomize=True)
@given(demos=datasets())
def test_any_dataset_reads_back_unchanged(
    ending: str, demos: Demonstrations, assert_same: AssertSame
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"any{ending}"
        assert save(demos, path) == []
        assert_same(demos, load(path))
