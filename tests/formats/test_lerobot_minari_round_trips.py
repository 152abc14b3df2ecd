"""What is written as LeRobot or Minari reads back unchanged, and is written whole or not at all."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterbc.data.demonstrations import Demonstrations, Episode
from counterbc.errors import AbsentEpisodes, DataError, FormatError
from counterbc.formats import lerobot, load, minari
from counterbc.formats.extras import extras_json
from counterbc.formats.stream import Stream

Make = Callable[..., Demonstrations]
AssertSame = Callable[[Demonstrations, Demonstrations], None]
Disk = Callable[[], AbstractContextManager[None]]
both = pytest.mark.parametrize("module", [lerobot, minari])


# There and back


@both
def test_a_written_folder_reads_back_unchanged(
    tmp_path: Path, module: ModuleType, uneven: Make, assert_same: AssertSame
) -> None:
    path = tmp_path / "demos-v0"
    module.write(uneven(), path)
    back = load(path)
    assert_same(uneven(), back)
    assert back.source == str(path)
    assert os.listdir(tmp_path) == ["demos-v0"]


@both
def test_what_was_not_recorded_is_not_guessed_on_the_way_back(
    tmp_path: Path, module: ModuleType, uneven: Make, assert_same: AssertSame
) -> None:
    plain = tuple(replace(e, reward=None, success=None, operator=None) for e in uneven().episodes)
    bare = Demonstrations(plain, masks={"better_operator_1": ("demo_1",)})
    module.write(bare, tmp_path / "bare")
    assert_same(bare, load(tmp_path / "bare"))


@both
@pytest.mark.parametrize("shape", [(40, 33, 3), (40, 33, 1), (3, 5, 3), (1, 1, 1)])
def test_images_read_back_unchanged(
    tmp_path: Path, module: ModuleType, shape: tuple[int, ...], assert_same: AssertSame
) -> None:
    frames = np.random.default_rng(0).integers(0, 256, (3, *shape), dtype=np.uint8)
    demos = Demonstrations((Episode(obs=frames, action=np.zeros((3, 1))),))
    module.write(demos, tmp_path / "images")
    assert_same(demos, load(tmp_path / "images"))


@both
def test_a_stream_is_written_as_the_dataset_it_makes(
    tmp_path: Path, module: ModuleType, uneven: Make, assert_same: AssertSame
) -> None:
    demos = uneven()
    turned = replace(demos, episodes=demos.episodes[::-1], selected=None)
    for name, data in (("first", demos), ("turned", turned)):
        module.write(Stream.of(data), tmp_path / name)
        assert_same(data, load(tmp_path / name))


def test_rewards_that_a_stream_brings_late_are_kept_beside_the_data(
    tmp_path: Path, uneven: Make, assert_same: AssertSame
) -> None:
    without, with_reward = uneven().episodes[1], uneven().episodes[0]
    demos = Demonstrations((without, with_reward))
    said = lerobot.write(Stream.of(demos), tmp_path / "late")
    assert any("rewards of 1 episodes are only in meta/counterbc.json" in s for s in said)
    assert_same(demos, load(tmp_path / "late"))


@both
def test_chosen_keys_come_in_the_chosen_order_with_their_names(
    tmp_path: Path, module: ModuleType, uneven: Make
) -> None:
    module.write(uneven(), tmp_path / "demos")
    chosen = load(tmp_path / "demos", obs=["a/b", "position"])
    assert chosen.obs_names == ("red", "green", "blue", "x", "y")
    assert np.array_equal(chosen.obs, uneven().obs[:, [3, 4, 5, 0, 1]])
    with pytest.raises(FormatError, match="'speed'; allowed: position, object, a/b"):
        load(tmp_path / "demos", obs=["speed"])


def test_episodes_that_others_added_to_minari_are_read_with_what_is_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, uneven: Make
) -> None:
    monkeypatch.setattr(
        "counterbc.formats.minari.writer.extras_json", lambda h, e: extras_json(h, e[:-1])
    )
    minari.write(uneven(), tmp_path / "more")
    back = load(tmp_path / "more")
    assert [e.operator for e in back.episodes] == ["ann", None, None]
    assert [e.name for e in back.episodes] == ["demo_0", "demo_1", "demo_2"]


@pytest.mark.parametrize("kept", [[1, 2], [0, 1], [1, 0, 2]])
def test_operators_of_other_episodes_are_refused_until_they_are_removed(
    tmp_path: Path, kept: list[int], uneven: Make
) -> None:
    lerobot.write(uneven(), tmp_path / "demos")
    path = tmp_path / "demos/meta/counterbc.json"
    about = json.loads(path.read_text())
    about["episodes"] = [about["episodes"][i] for i in kept]
    path.write_text(json.dumps(about))
    with pytest.raises(FormatError, match=r"counterbc.json does not fit this dataset.*remove it"):
        load(tmp_path / "demos")
    path.unlink()
    assert [e.operator for e in load(tmp_path / "demos").episodes] == [None] * 3


def test_what_only_later_episodes_select_comes_back_from_lerobot(
    tmp_path: Path, uneven: Make
) -> None:
    parts = [replace(r, selected=None) for r in Stream.of(uneven(selected=None)).raw_episodes]
    parts[1] = replace(parts[1], selected=np.array([False, True]))
    said = lerobot.write(Stream(Stream.of(uneven()).header, iter(parts)), tmp_path / "demos")
    assert any("selected pairs of 1 episodes are only in meta" in s for s in said)
    selected = load(tmp_path / "demos").selected
    assert selected is not None
    assert selected.tolist() == [0, 1, 2, 4, 5]


words = st.text(max_size=6)
floats = st.floats(-1e6, 1e6, width=32)


@st.composite
def datasets(draw: st.DrawFn) -> Demonstrations:
    widths = draw(st.lists(st.integers(1, 3), min_size=1, max_size=4))
    known = st.sampled_from(["object", "state", "observation.state", "observation.state_of_others"])
    keys = draw(
        st.lists(words | known, min_size=len(widths), max_size=len(widths), unique=True)
    )  # fmt: skip
    names = draw(st.lists(words.filter(bool), min_size=1, max_size=4, unique=True))
    size = draw(st.integers(1, 3))
    episodes = []
    for name in names:
        length = draw(st.integers(1, 4))
        row = st.lists(floats, min_size=sum(widths), max_size=sum(widths))
        rewards = st.lists(floats, min_size=length, max_size=length)
        episodes.append(
            Episode(
                obs=np.array(draw(st.lists(row, min_size=length, max_size=length))),
                action=np.full((length, size), draw(floats)),
                reward=draw(st.none() | rewards.map(np.array)),
                operator=draw(st.none() | words),
                success=draw(st.none() | st.booleans()),
                name=name,
            )
        )
    total = sum(map(len, episodes))
    picks = st.lists(st.integers(0, total - 1), min_size=1, unique=True)
    members = st.lists(st.sampled_from(names) | words, max_size=3).map(tuple)
    masks = words | words.map(lambda task: f"task: {task}")
    bound = draw(st.none() | st.floats(0.125, 1024, width=32))
    return Demonstrations(
        tuple(episodes),
        action_low=None if bound is None else np.full(size, -bound),
        action_high=None if bound is None else np.full(size, bound),
        action_set="box" if bound is None else draw(st.sampled_from(["box", "ball"])),
        action_names=tuple(draw(st.lists(words, min_size=size, max_size=size))),
        obs_keys=tuple(zip(keys, widths, strict=True)),
        obs_names=tuple(draw(st.lists(words, min_size=sum(widths), max_size=sum(widths)))),
        rate=draw(st.none() | st.floats(0.1, 1000)),
        env_args=draw(st.dictionaries(words, st.integers() | words | st.none(), max_size=2)),
        masks=draw(st.dictionaries(masks, members, max_size=3)),
        selected=draw(st.none() | picks.map(np.array)),
    )


@both
@settings(max_examples=60, deadline=None, derandomize=True)
@given(demos=datasets())
def test_any_dataset_reads_back_unchanged(
    module: ModuleType, demos: Demonstrations, assert_same: AssertSame
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        module.write(demos, Path(folder) / "any")
        assert_same(demos, load(Path(folder) / "any"))


@both
def test_the_multi_human_excerpt_survives_with_its_operator_and_all_44_masks(
    data: Path, tmp_path: Path, module: ModuleType, assert_same: AssertSame
) -> None:
    path = data / "fixtures/robomimic_mh_lift_image_excerpt.hdf5"
    with pytest.warns(AbsentEpisodes):
        demos = load(path)
    module.write(demos, tmp_path / "lift")
    back = load(tmp_path / "lift")
    assert_same(demos, back)
    assert len(back.masks) == 44
    assert back.operators == demos.operators != ()


# Writing that fails


@both
def test_what_exists_is_never_overwritten(tmp_path: Path, module: ModuleType, uneven: Make) -> None:
    (tmp_path / "mine").mkdir()
    with pytest.raises(FormatError, match="already exists; choose another name, or delete it"):
        module.write(uneven(), tmp_path / "mine")
    assert os.listdir(tmp_path / "mine") == []
    with pytest.raises(FormatError, match=r"folder .*nowhere does not exist; create it first"):
        module.write(uneven(), tmp_path / "nowhere" / "demos")


@both
@pytest.mark.parametrize(
    ("failure", "seen"),
    [
        (KeyboardInterrupt(), KeyboardInterrupt),
        (OSError(28, "No space left on device"), FormatError),
        (DataError("bad"), DataError),
    ],
)
def test_an_interrupted_write_leaves_nothing_behind(
    tmp_path: Path,
    module: ModuleType,
    failure: BaseException,
    seen: type[BaseException],
    uneven: Make,
) -> None:
    def cut_short() -> Iterator[Any]:
        yield from list(Stream.of(uneven()).raw_episodes)[:2]
        assert os.listdir(tmp_path) != []
        raise failure

    with pytest.raises(seen):
        module.write(Stream(Stream.of(uneven()).header, cut_short()), tmp_path / "demos")
    assert os.listdir(tmp_path) == []


@both
def test_a_full_disk_is_said_in_words_and_leaves_nothing_behind(
    tmp_path: Path, module: ModuleType, disk_of_10_kb: Disk
) -> None:
    noise = np.random.default_rng(0).normal(size=(50_000, 2))
    large = Demonstrations((Episode(obs=noise, action=noise),))
    with pytest.raises(FormatError, match=r"could not be written .* free space"), disk_of_10_kb():
        module.write(large, tmp_path / "demos")
    assert os.listdir(tmp_path) == []


@both
def test_what_json_cannot_hold_is_refused(tmp_path: Path, module: ModuleType, uneven: Make) -> None:
    with pytest.raises(FormatError, match=r"JSON cannot represent a value .* rename or remove"):
        module.write(uneven(env_args={"space": object()}), tmp_path / "demos")
    assert os.listdir(tmp_path) == []
