"""The encoders of cameras in the operations of `ops.py`.

`policies/encoder.py` defines that of one camera, `policies/camera_encoder.py` that of several and
of a vector beside them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from counterbc.acting.ops import Ops, Value, Weights
from counterbc.policies import Policy
from counterbc.policies.encoder import CONVOLUTIONS
from counterbc.policies.pooling import mean_matrix, pooled_size

Image = tuple[int, int, int]


@dataclass(frozen=True)
class Parts:
    """The images of each camera, as bytes, and the vector of an observation or a window."""

    images: tuple[Value, ...]
    vector: Value = None

    def map(self, function: Callable[[Value], Value]) -> Parts:
        """Return the parts with a function applied to each."""
        vector = None if self.vector is None else function(self.vector)
        return Parts(tuple(map(function, self.images)), vector)


def split_rows(policy: Policy, rows: NDArray[np.uint8]) -> Parts:
    """Return the parts of observations that are rows of bytes (…, R), `data/obs_rows.py`."""
    ends = np.cumsum([prod(shape) for shape in policy.images]).tolist()
    *images, numbers = np.split(rows, ends, axis=-1)
    vector = np.ascontiguousarray(numbers).view(np.float32) if policy.reads_vector else None
    return Parts(tuple(images), vector)


class CameraEncoder:
    """The features of each camera, and the vector where there is one, as one row."""

    def __init__(self, policy: Any, weights: Weights, frames: int) -> None:
        names = ["frames", *(f"frames{i}" for i in range(1, len(policy.images)))]
        pairs = zip(names, policy.images, strict=True)
        self.cameras = [FrameEncoder(weights, name, image, frames) for name, image in pairs]
        self.frames = frames

    def __call__(self, ops: Ops, parts: Parts) -> Value:
        """Return features of windows: (B, F), or (N, B, F) for N networks."""
        pairs = zip(self.cameras, parts.images, strict=True)
        features = [encoder(ops, images) for encoder, images in pairs]
        if parts.vector is not None:
            vector = parts.vector if self.frames == 1 else ops.flat(parts.vector)
            count = len(self.cameras[0].networks)
            features.append(vector if count == 1 else ops.stack([vector] * count))
        return features[0] if len(features) == 1 else ops.join(*features)


class FrameEncoder:
    """ReLU convolutions, pooling and ReLU layers that turn frames, stacked as channels, into
    features."""

    def __init__(self, weights: Weights, name: str, image: Image, frames: int) -> None:
        self.image, self.frames = image, frames
        params = {
            k.removeprefix(f"{name}."): v for k, v in weights.items() if k.startswith(f"{name}.")
        }
        params["conv0.weight"] = params["conv0.weight"] / np.float32(255)  # scales bytes to [0, 1]
        self.pooling = _pooling(*image[:2])
        self.layers = sum(k.startswith("layer") and k.endswith("weight") for k in params)
        is_stacked = params["conv0.weight"].ndim == 3
        count = len(params["conv0.weight"]) if is_stacked else 1
        self.networks = [
            {k: v[n] if is_stacked else v for k, v in params.items()} for n in range(count)
        ]

    def __call__(self, ops: Ops, obs: Value) -> Value:
        """Return features of frames (B, frames, …), or (B, …) of one: (B, F), or (N, B, F)."""
        x = ops.channels(obs, self.frames, self.image)
        features = [self._features(ops, x, weights) for weights in self.networks]
        return features[0] if len(features) == 1 else ops.stack(features)

    def _features(self, ops: Ops, x: Value, weights: Weights) -> Value:
        for i, (_, side, stride) in enumerate(CONVOLUTIONS):
            weight, bias = weights[f"conv{i}.weight"], weights[f"conv{i}.bias"]
            x = ops.relu(ops.convolve(x, weight, bias.reshape(-1), side, stride))
        x = ops.flat(x if self.pooling is None else ops.pool(x, *self.pooling))
        for i in range(self.layers):
            x = ops.relu(x @ weights[f"layer{i}.weight"] + weights[f"layer{i}.bias"])
        return x


def _pooling(height: int, width: int) -> tuple[NDArray[np.float32], NDArray[np.float32]] | None:
    """Return the matrices that average the rows and columns of a feature map; None for a map that
    is small enough as it is."""
    for _, side, stride in CONVOLUTIONS:
        height, width = ((n - side) // stride + 1 for n in (height, width))
    rows, columns = pooled_size(height, width)
    if (rows, columns) == (height, width):
        return None
    return mean_matrix(height, rows).numpy(), mean_matrix(width, columns).numpy()
