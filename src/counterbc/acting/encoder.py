"""The encoder of frames in the operations of `ops.py`, as `policies/encoder.py` defines it."""

from __future__ import annotations

import numpy as np

from counterbc.acting.ops import Ops, Value, Weights
from counterbc.policies.encoder import CONVOLUTIONS


class FrameEncoder:
    """ReLU convolutions and ReLU layers that turn frames, stacked as channels, into features."""

    def __init__(
        self, weights: Weights, name: str, image: tuple[int, int, int], frames: int
    ) -> None:
        self.image, self.frames = image, frames
        own = {
            k.removeprefix(f"{name}."): v for k, v in weights.items() if k.startswith(f"{name}.")
        }
        own["conv0.weight"] = own["conv0.weight"] / np.float32(255)  # scales bytes to [0, 1]
        self.layers = sum(k.startswith("layer") and k.endswith("weight") for k in own)
        is_stacked = own["conv0.weight"].ndim == 3
        count = len(own["conv0.weight"]) if is_stacked else 1
        self.networks = [
            {k: v[n] if is_stacked else v for k, v in own.items()} for n in range(count)
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
        x = ops.flat(x)
        for i in range(self.layers):
            x = ops.relu(x @ weights[f"layer{i}.weight"] + weights[f"layer{i}.bias"])
        return x
