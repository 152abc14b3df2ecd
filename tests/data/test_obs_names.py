"""Names of dimensions, keys and cameras."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from counterbc.data.demonstrations import Demonstrations, Episode
from counterbc.errors import DataError

IMAGES = np.zeros((2, 4, 4, 3), np.uint8)


def dataset(obs: Any = ((0, 0), (1, 1)), **images: Any) -> tuple[Episode, ...]:
    return (Episode(np.asarray(obs), np.zeros((2, 1)), images=images),)


def test_names_that_are_missing_are_filled_in() -> None:
    demos = Demonstrations(dataset(top=IMAGES))
    assert (demos.obs_keys, demos.obs_names) == ((("state", 2),), ("state[0]", "state[1]"))
    assert (demos.camera, demos.cameras, demos.image) == ("", {"top": (4, 4, 3)}, (4, 4, 3))
    single_part = Demonstrations(dataset(IMAGES))
    assert (single_part.camera, single_part.obs_keys) == ("image", ())
    assert Demonstrations(dataset(IMAGES, wrist=IMAGES)).image == (4, 4, 3) * 2


@pytest.mark.parametrize(
    ("episodes", "names", "sentence"),
    [
        (dataset(state=IMAGES), {}, "two parts of the observation are named 'state'"),
        (dataset(IMAGES, image=IMAGES), {}, "two parts of the observation are named 'image'"),
        (dataset(), {"camera": "top"}, "camera names images in obs; leave it out"),
        (dataset(IMAGES), {"obs_names": ("a",)}, "obs_keys and obs_names are for vectors"),
        (dataset(), {"obs_keys": (("a", 3),)}, "do not add up to 2"),
        (dataset(), {"obs_keys": (("a", 1), ("a", 1))}, "name a part twice"),
        (dataset(), {"action_names": ("a", "b")}, "2 action names for 1 action dimensions"),
    ],
)
def test_names_that_do_not_fit_are_refused(
    episodes: tuple[Episode, ...], names: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(DataError, match=sentence):
        Demonstrations(episodes, **names)


def test_images_that_are_none_and_cameras_that_differ_are_refused() -> None:
    with pytest.raises(DataError, match=r"camera 'top' of an episode have shape \(2, 4\)"):
        dataset(top=np.zeros((2, 4), np.uint8))
    with pytest.raises(DataError, match=r"expected \(2, H, W, C\) in uint8"):
        dataset(top=IMAGES.astype(float))
    with pytest.raises(DataError, match=r"expected \(2, H, W, C\) in uint8"):
        dataset(top=IMAGES[:1])
    with pytest.raises(DataError, match="cameras of episode 'demo_1' are none; those of 'demo_0'"):
        Demonstrations((*dataset(top=IMAGES), *dataset()))


def test_images_count_in_the_fingerprint() -> None:
    black, grey = (Demonstrations(dataset(top=IMAGES + x)) for x in (0, 9))
    prints = {d.fingerprint() for d in (black, grey, Demonstrations(dataset()))}
    assert len(prints) == 3
