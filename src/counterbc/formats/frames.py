"""Images and videos: decode PNG, JPEG and video to (T, H, W, C) uint8, and encode PNG."""

from __future__ import annotations

import importlib
import io
from collections.abc import Iterable, Sequence
from math import prod
from os.path import isfile
from pathlib import Path
from typing import Any

import numpy as np

from counterbc.data.arrays import Array
from counterbc.errors import FormatError
from counterbc.formats.guard import check_content
from counterbc.formats.untrusted import IMAGE_RATIO, MAX_FILM, check_at_most, check_size

_MODES = {1: "L", 3: "RGB"}
_CONTAINERS = {
    ".avi": "avi", ".m4v": "mov", ".mkv": "matroska", ".mov": "mov", ".mp4": "mov",
    ".webm": "matroska",
}  # fmt: skip
"""The demuxer of each suffix. FFmpeg would guess it from the content otherwise, and a playlist
reads other files, or addresses in the network."""


def decode(images: Iterable[bytes | None], shape: Sequence[int], label: str) -> Array:
    """Decode PNG or JPEG images to (T, H, W, C).

    `shape` is (H, W, C), (H, W) or (C, H, W) and is the same for all images.
    """
    library = _library("PIL.Image", "pillow", label)
    height, width, channels = _sizes(shape, label)
    frames = [np.empty((0, height, width, channels), np.uint8)]
    claimed = stored = 0
    for i, content in enumerate(images):
        if not content:
            raise FormatError(f"{label} has no image in row {i}; store the images inside the file")
        claimed, stored = claimed + height * width * channels, stored + len(content)
        check_size(label, claimed, stored, IMAGE_RATIO)
        try:
            image = library.open(io.BytesIO(content), formats=("PNG", "JPEG"))
            if image.size != (width, height):  # checked before the pixels are decoded
                raise FormatError(
                    f"{label} has an image of {image.size[0]}×{image.size[1]} pixels in row {i}; "
                    f"the metadata say {width}×{height}; correct one of them"
                )
            pixels = np.asarray(image.convert(_MODES[channels]))
        except (OSError, SyntaxError, ValueError) as error:
            raise FormatError(
                f"{label}: row {i} is not a PNG or JPEG image ({error}); "
                "store the images as PNG or JPEG"
            ) from None
        frames.append(pixels.reshape(1, height, width, channels))
    return np.concatenate(frames)


def decode_video(
    path: Path, *, begin: float, count: int, fps: float, shape: Sequence[int], label: str
) -> Array:
    """Decode `count` frames of a video from second `begin` on: (T, H, W, 3)."""
    if not isfile(path):
        raise FormatError(f"{path} is missing; download the videos, or choose other observations")
    check_content(path)
    if path.suffix.lower() not in _CONTAINERS:
        raise FormatError(
            f"{path} ends in {path.suffix!r}; videos are read from files that end in "
            f"{', '.join(_CONTAINERS)}; convert it, or choose other observations"
        )
    check_at_most(label, count * prod(shape), MAX_FILM, "bytes in the frames of an episode")
    av = _library("av", "av", label)
    frames: list[Array] = []
    try:
        with av.open(str(path), format=_CONTAINERS[path.suffix.lower()]) as container:
            stream = container.streams.video[0]
            container.seek(
                int(begin / stream.time_base), stream=stream
            )  # to the key frame before it
            for frame in container.decode(stream):
                late = frame.time - begin - len(frames) / fps
                if late > 0.5 / fps or len(frames) == count:
                    break
                if late >= -0.5 / fps:
                    frames.append(frame.to_ndarray(format="rgb24"))
    except (av.FFmpegError, OSError, IndexError, TypeError) as error:
        raise FormatError(
            f"{path} cannot be read as a video ({error}); download it again"
        ) from None
    if len(frames) < count:
        raise FormatError(
            f"{path} has {len(frames)} frames from second {begin:g} on at {fps:g} Hz; "
            f"expected {count}; download it again"
        )
    if frames and frames[0].shape != _sizes(shape, label):
        raise FormatError(
            f"{path} has frames of shape {frames[0].shape}; "
            f"the metadata say {shape}; correct one of them"
        )
    return np.stack(frames) if frames else np.empty((0, *_sizes(shape, label)), np.uint8)


def png(frame: Array) -> bytes:
    """Encode one image (H, W, C) as PNG, which is lossless."""
    from PIL import Image

    buffer = io.BytesIO()
    Image.fromarray(frame[..., 0] if frame.shape[-1] == 1 else frame).save(buffer, "PNG")
    return buffer.getvalue()


def _sizes(shape: Sequence[int], label: str) -> tuple[int, int, int]:
    """Return height, width and channels.

    Channels come last, unless only the first size can be a number of channels.
    """
    sizes = (*shape, 1) if len(shape) == 2 else tuple(shape)
    if len(sizes) == 3 and sizes[2] not in _MODES and sizes[0] in _MODES:
        sizes = (sizes[1], sizes[2], sizes[0])
    if len(sizes) != 3 or sizes[2] not in _MODES:
        raise FormatError(
            f"{label} has images of shape {shape}; expected (H, W, 3) or (H, W, 1); "
            "choose other observations"
        )
    return sizes[0], sizes[1], sizes[2]


def _library(module: str, package: str, label: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError:
        raise FormatError(
            f"reading {label} needs {package}, which is not installed; "
            f"install it with: pip install {package}, or choose other observations"
        ) from None
