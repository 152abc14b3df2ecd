"""Images in PNG, JPEG and films, as arrays (T, H, W, C) of uint8, and back to PNG."""

from __future__ import annotations

import importlib
import io
from collections.abc import Iterable, Sequence
from os.path import isfile
from pathlib import Path
from typing import Any

import numpy as np

from counterbc.data.episode import Array
from counterbc.errors import FormatError

_MODES = {1: "L", 3: "RGB"}


def decoded(images: Iterable[bytes | None], shape: Sequence[int], where: str) -> Array:
    """PNG or JPEG images of one shape (H, W, C), (H, W) or (C, H, W): (T, H, W, C)."""
    library = _library("PIL.Image", "pillow", where)
    height, width, channels = _sizes(shape, where)
    frames = [np.empty((0, height, width, channels), np.uint8)]
    for i, content in enumerate(images):
        if not content:
            raise FormatError(f"{where} has no image in row {i}; embed images in the file")
        try:
            image = library.open(io.BytesIO(content), formats=("PNG", "JPEG"))
            if image.size != (width, height):  # known before the pixels are unpacked
                raise FormatError(
                    f"{where} has an image of {image.size[0]}×{image.size[1]} pixels in row {i}; "
                    f"the metadata say {width}×{height}"
                )
            pixels = np.asarray(image.convert(_MODES[channels]))
        except (OSError, SyntaxError, ValueError) as error:
            raise FormatError(f"{where}: row {i} is not a PNG or JPEG image ({error})") from None
        frames.append(pixels.reshape(1, height, width, channels))
    return np.concatenate(frames)


def film(
    path: Path, begin: float, count: int, fps: float, shape: Sequence[int], where: str
) -> Array:
    """`count` frames of a film from second `begin` on: (T, H, W, 3)."""
    if not isfile(path):
        raise FormatError(f"{path} is missing; download the films, or choose other observations")
    av = _library("av", "av", where)
    frames: list[Array] = []
    try:
        with av.open(str(path)) as container:
            stream = container.streams.video[0]
            container.seek(int(begin / stream.time_base), stream=stream)  # to a frame before it
            for frame in container.decode(stream):
                late = frame.time - begin - len(frames) / fps
                if late > 0.5 / fps or len(frames) == count:
                    break
                if late >= -0.5 / fps:
                    frames.append(frame.to_ndarray(format="rgb24"))
    except (av.FFmpegError, OSError, IndexError, TypeError) as error:
        raise FormatError(f"{path} cannot be read as a film ({error}); download it again") from None
    if len(frames) < count:
        raise FormatError(
            f"{path} has {len(frames)} of the {count} frames from second {begin:g} on, "
            f"{fps:g} a second; download it again"
        )
    if frames and frames[0].shape != _sizes(shape, where):
        raise FormatError(f"{path} has frames of {frames[0].shape}; the metadata say {shape}")
    return np.stack(frames) if frames else np.empty((0, *_sizes(shape, where)), np.uint8)


def png(frame: Array) -> bytes:
    """One image (H, W, C) without loss."""
    from PIL import Image

    buffer = io.BytesIO()
    Image.fromarray(frame[..., 0] if frame.shape[-1] == 1 else frame).save(buffer, "PNG")
    return buffer.getvalue()


def _sizes(shape: Sequence[int], where: str) -> tuple[int, int, int]:
    """Height, width and channels; channels come last, or first where only those can be them."""
    sizes = (*shape, 1) if len(shape) == 2 else tuple(shape)
    if len(sizes) == 3 and sizes[2] not in _MODES and sizes[0] in _MODES:
        sizes = (sizes[1], sizes[2], sizes[0])
    if len(sizes) != 3 or sizes[2] not in _MODES:
        raise FormatError(f"{where} has images of shape {shape}; expected (H, W, 3) or (H, W, 1)")
    return sizes[0], sizes[1], sizes[2]


def _library(module: str, package: str, where: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError:
        raise FormatError(
            f"{where} needs {package} to be read, which is not installed; "
            f"install it with: pip install {package}, or choose other observations"
        ) from None
