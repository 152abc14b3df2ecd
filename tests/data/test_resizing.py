"""Images of another size."""

from __future__ import annotations

import numpy as np
import pytest

from counterbc.data.resizing import asked_size, checked_size, resize, resizing
from counterbc.errors import OptionError


@pytest.mark.parametrize("channels", [1, 3])
def test_a_new_pixel_is_the_mean_of_those_it_covers(channels: int) -> None:
    rng = np.random.default_rng(0)
    images = rng.integers(0, 256, (2, 4, 6, channels), np.uint8)
    small = resize(images, (2, 3))
    means = images.reshape(2, 2, 2, 3, 2, channels).mean((2, 4))
    assert small.shape == (2, 2, 3, channels)
    assert small.dtype == np.uint8
    assert np.abs(small - means).max() <= 1


def test_images_of_that_size_and_without_a_wish_stay_the_same() -> None:
    images = np.zeros((2, 4, 6, 3), np.uint8)
    assert resize(images, (4, 6)) is images
    assert resize(images, ()) is images
    assert resize(images[:0], (2, 3)).shape == (0, 2, 3, 3)


def test_a_size_is_asked_for_while_a_block_runs() -> None:
    with resizing((2, 3)):
        assert asked_size() == (2, 3)
    assert asked_size() == ()


def test_one_number_stands_for_both_and_nonsense_is_refused() -> None:
    assert checked_size([96]) == (96, 96)
    assert checked_size((48, 64)) == (48, 64)
    assert checked_size(()) == ()
    for size in ((1, 2, 3), (0, 5), (96, 10_000), (9.5, 9.5)):
        with pytest.raises(OptionError, match="give height and width in pixels, such as 96 96"):
            checked_size(size)  # type: ignore[arg-type]  # a mistake of a user
