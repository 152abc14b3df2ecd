"""lerobot-doctor accepts every kind of dataset that counterbc writes; this needs no LeRobot."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from doctor import failed_checks
from small_data import demonstrations, write_dataset
from version_2_1 import write_version_2_1

from counterbc import Demonstrations, Episode, load, save
from counterbc.formats.lerobot.relabel import write_relabeled


def filmed(has_state: bool) -> Demonstrations:
    """Return episodes with two cameras and a vector, or with one camera alone."""
    rng, episodes = np.random.default_rng(0), []
    for number in range(2):
        films = rng.integers(0, 256, (2, 40, 36, 36, 3), np.uint8)
        action = rng.normal(0, 0.3, (40, 2))
        if has_state:
            images = {"front": films[0], "wrist": films[1]}
            state = np.cumsum(action, 0)
            episodes.append(Episode(state, action, name=f"demo_{number}", images=images))
        else:
            episodes.append(Episode(films[0], action, name=f"demo_{number}"))
    return Demonstrations(tuple(episodes), rate=10.0, camera=None if has_state else "front")


def rewarded(demos: Demonstrations) -> Demonstrations:
    """Return demonstrations with rewards, successes, tasks and masks."""
    episodes = tuple(
        replace(e, reward=np.arange(float(len(e.action))), success=i > 2)
        for i, e in enumerate(demos.episodes)
    )
    masks = {"task: push": ("demo_0", "demo_2"), "task: pull": ("demo_1",), "best": ("demo_1",)}
    return replace(demos, episodes=episodes, masks=masks)


KINDS: dict[str, Callable[[], Demonstrations]] = {
    "vectors": demonstrations,
    "no-rate": lambda: replace(demonstrations(), rate=None),
    "fractional-rate": lambda: replace(demonstrations(), rate=29.97),
    "rewards": lambda: rewarded(demonstrations()),
    "images": lambda: filmed(has_state=True),
    "images-only": lambda: filmed(has_state=False),
    "many-episodes": lambda: demonstrations(episodes=520, steps=3),
}


@pytest.mark.parametrize("kind", KINDS)
def test_lerobot_doctor_accepts_what_is_written(kind: str, tmp_path: Path) -> None:
    save(KINDS[kind](), tmp_path / "demos", format="lerobot")
    assert failed_checks(tmp_path / "demos") == {}


@pytest.mark.parametrize("kind", ["vectors", "rewards", "images"])
def test_lerobot_doctor_accepts_a_copy_with_other_actions(kind: str, tmp_path: Path) -> None:
    save(KINDS[kind](), tmp_path / "demos", format="lerobot")
    write_relabeled(tmp_path / "demos", tmp_path / "copy", load(tmp_path / "demos").action / 2)
    assert failed_checks(tmp_path / "copy") == {}


def test_lerobot_doctor_accepts_a_copy_in_version_2_1(tmp_path: Path) -> None:
    source = write_version_2_1(write_dataset(tmp_path / "new"), tmp_path / "old")
    assert failed_checks(source) == {}
    action = load(source).action
    write_relabeled(source, tmp_path / "copy", action / 2)
    np.testing.assert_array_equal(load(tmp_path / "copy").action, action / 2)
    assert failed_checks(tmp_path / "copy") == {}


def test_lerobot_doctor_refuses_only_an_episode_of_one_frame(tmp_path: Path) -> None:
    demos = demonstrations(episodes=2)
    short = demos.episodes[0]
    short = replace(short, obs=short.obs[:1], action=short.action[:1], name="demo_2")
    save(replace(demos, episodes=(*demos.episodes, short)), tmp_path / "demos", format="lerobot")
    assert list(failed_checks(tmp_path / "demos")) == ["Episode Health"]
