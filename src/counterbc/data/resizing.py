"""Images of another size: the mean of the pixels that a new pixel covers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

import numpy as np

from counterbc.data.arrays import Array
from counterbc.errors import OptionError

_size: ContextVar[tuple[int, ...]] = ContextVar("image_size", default=())


@contextmanager
def resizing(size: tuple[int, ...]) -> Iterator[None]:
    """Let readers resize images to this height and width while the block runs; (): as they are."""
    token = _size.set(size)
    try:
        yield
    finally:
        _size.reset(token)


def asked_size() -> tuple[int, ...]:
    """Return the height and width that images are resized to; empty where they are not."""
    return _size.get()


def checked_size(size: Sequence[int]) -> tuple[int, ...]:
    """Return height and width from one number for both, or from two; () stands for neither."""
    sizes = tuple(size) * 2 if len(size) == 1 else tuple(size)
    if len(sizes) not in (0, 2) or not all(type(n) is int and 1 <= n <= 4096 for n in sizes):
        raise OptionError(
            f"image_size is {list(size)}; give height and width in pixels, such as 96 96, or one "
            "number for both"
        )
    return sizes


def resize(images: Array, size: tuple[int, ...]) -> Array:
    """Return images (T, H, W, C) with this height and width; () or their own: as they are."""
    if not size or images.shape[1:3] == size:
        return images
    from PIL import Image

    height, width = size
    frames = [
        Image.fromarray(frame[..., 0] if frame.shape[-1] == 1 else frame).resize(
            (width, height), Image.Resampling.BOX
        )
        for frame in images
    ]
    stack = [np.asarray(frame).reshape(height, width, images.shape[-1]) for frame in frames]
    return np.stack(stack) if stack else np.empty((0, height, width, images.shape[-1]), np.uint8)
