"""Every format that can be written reads back what was written, and is written whole or not."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterbc.data.demonstrations import Demonstrations, Episode
from counterbc.demonstrators import UniformNoise, demonstrate
from counterbc.envs import WORLDS
from counterbc.errors import AbsentEpisodes, DataError, FormatError
from counterbc.formats import load, save, writable_formats
from counterbc.formats.stream import Stream
from tests.formats.datasets import assert_same, disk_of_10_kb, small, uneven

pytestmark = pytest.mark.filterwarnings("ignore::counterbc.errors.AbsentEpisodes")
every_format = pytest.mark.parametrize("format", writable_formats())
formats_for_any_name = [name for name in writable_formats() if name != "robomimic"]


@every_format
def test_a_written_dataset_reads_back_unchanged(format: str, tmp_path: Path) -> None:
    save(small(), tmp_path / "demos", format=format)
    back = load(tmp_path / "demos")
    assert_same(small(), back)
    assert back.source == str(tmp_path / "demos")
    assert os.listdir(tmp_path) == ["demos"]


@every_format
@pytest.mark.parametrize("world", ["intersection", "cartpole", "air-hockey", "fork"])
def test_the_rate_of_a_demonstration_reads_back(format: str, world: str, tmp_path: Path) -> None:
    demos = demonstrate(world, UniformNoise(0.5), 5, seed=0)
    save(demos, tmp_path / "demos", format=format)
    assert load(tmp_path / "demos").rate == demos.rate == WORLDS[world].rate


@pytest.mark.parametrize("format", formats_for_any_name)
def test_a_dataset_with_gaps_and_odd_names_reads_back_unchanged(
    format: str, tmp_path: Path
) -> None:
    save(uneven(), tmp_path / "demos", format=format)
    assert_same(uneven(), load(tmp_path / "demos"))


@every_format
def test_values_that_were_not_recorded_are_not_guessed(format: str, tmp_path: Path) -> None:
    episodes = tuple(
        replace(e, reward=None, success=None, operator=None) for e in small().episodes
    )  # fmt: skip
    bare = Demonstrations(episodes, masks={"better_operator_1": ("demo_1",)})
    save(bare, tmp_path / "bare", format=format)
    assert_same(bare, load(tmp_path / "bare"))


@every_format
@pytest.mark.parametrize("shape", [(40, 33, 3), (40, 33, 1), (3, 5, 3), (1, 1, 1)])
def test_images_read_back_unchanged(format: str, shape: tuple[int, ...], tmp_path: Path) -> None:
    frames = np.random.default_rng(0).integers(0, 256, (3, *shape), dtype=np.uint8)
    demos = Demonstrations((Episode(obs=frames, action=np.zeros((3, 1))),))
    save(demos, tmp_path / "images", format=format)
    assert_same(demos, load(tmp_path / "images"))


@every_format
def test_a_stream_is_written_like_the_dataset_and_keeps_the_order_of_episodes(
    format: str, tmp_path: Path
) -> None:
    reversed_order = replace(small(selected=None), episodes=small().episodes[::-1])
    assert [e.name for e in reversed_order.episodes] == ["demo_1", "demo_0"]
    for name, data in (("first", small()), ("turned", reversed_order)):
        save(Stream.of(data), tmp_path / name, format=format)
        assert_same(data, load(tmp_path / name))


@every_format
def test_keys_are_read_in_the_order_of_choice_with_their_names(format: str, tmp_path: Path) -> None:
    save(small(), tmp_path / "demos", format=format)
    subset = load(tmp_path / "demos", obs=["angle", "position"])
    assert subset.obs_names == ("angle", "x", "y")
    assert np.array_equal(subset.obs, small().obs[:, [2, 0, 1]])
    assert subset.angles == ("angle",)
    assert load(tmp_path / "demos", obs=["position"]).angles == ()
    with pytest.raises(FormatError, match=r"speed.*; allowed: "):
        load(tmp_path / "demos", obs=["speed"])


@every_format
def test_the_multi_human_excerpt_keeps_its_operator_and_all_44_masks(
    format: str, data: Path, tmp_path: Path
) -> None:
    with pytest.warns(AbsentEpisodes):
        demos = load(data / "fixtures/robomimic_mh_lift_image_excerpt.hdf5")
    save(demos, tmp_path / "lift", format=format)
    back = load(tmp_path / "lift")
    assert_same(demos, back)
    assert len(back.masks) == 44
    assert back.operators == demos.operators != ()


words = st.text(st.characters(codec="utf-8"), max_size=6)
simple_words = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=6)
hdf5_names = simple_words.filter(lambda name: name not in ("", ".", "..") and "/" not in name)
lerobot_keys = st.sampled_from(["object", "state", "observation.state", "observation.speed"])
floats = st.floats(-1e6, 1e6, width=32)


@st.composite
def episodes(
    draw: st.DrawFn, names: list[str], width: int, size: int, text: st.SearchStrategy[str]
) -> tuple[Episode, ...]:
    result = []
    for name in names:
        length = draw(st.integers(1, 4))
        row = st.lists(floats, min_size=width, max_size=width)
        rewards = st.lists(floats, min_size=length, max_size=length)
        result.append(
            Episode(
                obs=np.array(draw(st.lists(row, min_size=length, max_size=length))),
                action=np.full((length, size), draw(floats)),
                reward=draw(st.none() | rewards.map(np.array)),
                operator=draw(st.none() | text),
                success=draw(st.none() | st.booleans()),
                name=name,
            )
        )
    return tuple(result)


@st.composite
def datasets(
    draw: st.DrawFn, keys: st.SearchStrategy[str], text: st.SearchStrategy[str]
) -> Demonstrations:
    """Draw any dataset whose observation keys and other texts a format can store."""
    widths = draw(st.lists(st.integers(1, 3), min_size=1, max_size=4))
    width, size = sum(widths), draw(st.integers(1, 3))
    unique_keys = st.lists(keys, min_size=len(widths), max_size=len(widths), unique=True)
    numbers = st.integers(0, 12).map(lambda i: f"demo_{i}")
    names = draw(st.lists(text.filter(bool) | numbers, min_size=1, max_size=4, unique=True))
    demos = draw(episodes(names, width, size, text))
    pairs = st.lists(st.integers(0, sum(map(len, demos)) - 1), min_size=1, unique=True)
    members = st.lists(st.sampled_from(names) | numbers | text, max_size=3).map(tuple)
    bound = draw(st.none() | st.floats(0.125, 1024, width=32))
    return Demonstrations(
        demos,
        action_low=None if bound is None else np.full(size, -bound),
        action_high=None if bound is None else np.full(size, bound),
        action_set="box" if bound is None else draw(st.sampled_from(["box", "ball"])),
        actions_are=draw(st.sampled_from([None, "asked", "taken"])),
        relative=draw(st.none() | text.filter(lambda name: name.strip() not in ("", "auto"))),
        action_names=tuple(draw(st.lists(words, min_size=size, max_size=size))),
        obs_keys=tuple(zip(draw(unique_keys), widths, strict=True)),
        obs_names=tuple(draw(st.lists(words, min_size=width, max_size=width))),
        rate=draw(st.none() | st.floats(0.1, 1000)),
        env_args=draw(st.dictionaries(words, st.integers() | words | st.none(), max_size=2)),
        masks=draw(
            st.dictionaries(text | text.map(lambda task: f"task: {task}"), members, max_size=3)
        ),
        selected=draw(st.none() | pairs.map(np.array)),
    )


@every_format
@settings(max_examples=40, derandomize=True)
@given(data=st.data())
def test_any_dataset_reads_back_unchanged(format: str, data: st.DataObject) -> None:
    if format == "robomimic":
        demos = data.draw(datasets(hdf5_names, simple_words))
    else:
        demos = data.draw(datasets(words | lerobot_keys, words))
    with tempfile.TemporaryDirectory() as folder:
        save(demos, Path(folder) / "any", format=format)
        assert_same(demos, load(Path(folder) / "any"))


@every_format
def test_an_existing_path_is_never_overwritten(format: str, tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("precious")
    with pytest.raises(FormatError, match="already exists; choose another name, or delete it"):
        save(small(), tmp_path / "mine", format=format)
    assert (tmp_path / "mine").read_text() == "precious"
    with pytest.raises(FormatError, match=r"folder .*nowhere does not exist; create it first"):
        save(small(), tmp_path / "nowhere" / "demos", format=format)


@every_format
@pytest.mark.parametrize(
    ("failure", "expected_error"),
    [
        (KeyboardInterrupt(), KeyboardInterrupt),
        (OSError(28, "No space left on device"), FormatError),
        (DataError("bad"), DataError),
    ],
)
def test_an_interrupted_write_leaves_nothing_behind(
    format: str, failure: BaseException, expected_error: type[BaseException], tmp_path: Path
) -> None:
    def interrupted() -> Iterator[Any]:
        yield from Stream.of(small()).raw_episodes
        assert os.listdir(tmp_path) != []
        raise failure

    stream = Stream(Stream.of(small()).header, interrupted())
    with pytest.raises(expected_error):
        save(stream, tmp_path / "demos", format=format)
    assert os.listdir(tmp_path) == []


@every_format
def test_a_full_disk_is_reported_and_leaves_nothing_behind(format: str, tmp_path: Path) -> None:
    obs = np.random.default_rng(0).normal(size=(50_000, 2))
    large = Demonstrations((Episode(obs=obs, action=obs[:, :1]),))
    with pytest.raises(FormatError, match=r"could not be written .* free space"), disk_of_10_kb():
        save(large, tmp_path / "demos", format=format)
    assert os.listdir(tmp_path) == []


@every_format
def test_values_that_json_cannot_represent_are_refused(format: str, tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"JSON.* rename or remove that value"):
        save(small(env_args={"space": object()}), tmp_path / "demos", format=format)
    assert os.listdir(tmp_path) == []
