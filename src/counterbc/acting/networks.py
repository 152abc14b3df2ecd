"""The networks of policies in the operations of `ops.py`.

Each class reads scaled observations, (B, S) or (B, history, S), or `Parts` where there are images,
and returns the policy's action, (B, D) with the D = H · A numbers of a chunk. With N networks to
average, weights have a leading dimension of N, and results are (N, B, D).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import partial
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
import torch

from counterbc.acting.encoder import CameraEncoder
from counterbc.acting.ops import Ops, Value, Weights
from counterbc.policies import (
    Chunk,
    Flow,
    FlowCNN,
    GaussianCNN,
    GaussianCNNGRU,
    GaussianGRU,
    GaussianMLP,
    Mixture,
    Policy,
)
from counterbc.policies.flow import waves
from counterbc.policies.gaussian import LOG_STD_RANGE


class Network(ABC):
    """The network of one kind of policy."""

    samples: ClassVar[bool] = True
    """Whether noise decides a sampled action; else only the deterministic one is known here."""

    def __init__(self, policy: Any, weights: Weights, action_size: int) -> None:
        self.policy, self.weights = policy, dict(weights)
        self.size = action_size * policy.horizon  # D

    @abstractmethod
    def __call__(self, ops: Ops, obs: Value, noise: Value) -> Value:
        """Return the action at scaled observations; with `noise` (B, D), a sampled one."""

    def _split(self, name: str, widths: Mapping[str, int]) -> None:
        """Replace a layer by layers of consecutive columns of it."""
        start = 0
        for new, width in widths.items():
            for part in ("weight", "bias"):
                columns = self.weights[f"{name}.{part}"][..., start : start + width]
                self.weights[f"{new}.{part}"] = np.ascontiguousarray(columns)
            start += width
        del self.weights[f"{name}.weight"], self.weights[f"{name}.bias"]

    def _linear(self, x: Value, name: str) -> Value:
        return x @ self.weights[f"{name}.weight"] + self.weights[f"{name}.bias"]

    def _state(self, ops: Ops, obs: Value) -> Value:
        """Return what the first layer reads of the observations: (B, F)."""
        return obs if self.policy.history == 1 else ops.flat(obs)

    def _relu_layers(self, ops: Ops, x: Value, layers: int) -> Value:
        for i in range(layers):
            x = ops.relu(self._linear(x, f"layer{i}"))
        return x

    def _residual_layers(self, ops: Ops, first: Value) -> Value:
        """Return the features that `policies/residual.py` defines."""
        width, h = self.policy.widths[0], ops.gelu(first)
        for i in range(1, len(self.policy.widths)):
            h = h + ops.gelu(self._linear(ops.layer_norm(h, width), f"layer{i}"))
        return ops.layer_norm(h, width)

    def _bounded(self, ops: Ops, mean: Value) -> Value:
        reach = self.policy.reach
        return ops.tanh(mean) if reach == 1 else ops.tanh(mean / reach) * reach


class MLP(Network):
    """ReLU layers and a Gaussian head."""

    def __init__(self, policy: Any, weights: Weights, action_size: int) -> None:
        super().__init__(policy, weights, action_size)
        self._split("head", {"mean": self.size, "log_std": self.size})

    def __call__(self, ops: Ops, obs: Value, noise: Value) -> Value:
        x = self._features(ops, obs)
        action = self._bounded(ops, self._linear(x, "mean"))
        if noise is not None:
            log_std = ops.clip(self._linear(x, "log_std"), *LOG_STD_RANGE)
            action = action + ops.exp(log_std) * noise
        return action

    def _features(self, ops: Ops, obs: Value) -> Value:
        return self._relu_layers(ops, self._state(ops, obs), len(self.policy.hidden))


class GRU(MLP):
    """A GRU over the last observations, ReLU layers and a Gaussian head."""

    def _features(self, ops: Ops, obs: Value) -> Value:
        units, *layers = self._hidden()
        two, three = 2 * units, 3 * units
        h: Value = np.zeros((1, units), np.float32)
        for row in self._rows(ops, obs):
            x = self._linear(row, "gru.input")  # (B, 3H)
            u = self._linear(h, "gru.state")
            gates = ops.sigmoid(ops.columns(x, 0, two) + ops.columns(u, 0, two))
            r, z = ops.columns(gates, 0, units), ops.columns(gates, units, two)
            n = ops.tanh(ops.columns(x, two, three) + r * ops.columns(u, two, three))
            h = n + z * (h - n)
        return self._relu_layers(ops, h, len(layers))

    def _hidden(self) -> tuple[int, ...]:
        """Return the units of the GRU and of the layers after it."""
        hidden: tuple[int, ...] = self.policy.hidden
        return hidden

    def _rows(self, ops: Ops, obs: Value) -> list[Value]:
        """Return what the GRU reads of each observation: (B, F)."""
        history = self.policy.history
        return [ops.at(obs, t) for t in range(history)] if history > 1 else [obs]


class Modes(Network):
    """ReLU layers and the heaviest of several modes."""

    samples: ClassVar[bool] = False

    def __init__(self, policy: Any, weights: Weights, action_size: int) -> None:
        super().__init__(policy, weights, action_size)
        self._split("head", {"logits": policy.modes, "means": policy.modes * self.size})

    def __call__(self, ops: Ops, obs: Value, noise: Value) -> Value:
        x = self._relu_layers(ops, self._state(ops, obs), len(self.policy.hidden))
        return self._bounded(ops, self._heaviest(ops, x))

    def _heaviest(self, ops: Ops, x: Value) -> Value:
        """Return the mean of the mode with the largest weight, the first of equal ones."""
        logits, means = self._linear(x, "logits"), self._linear(x, "means")
        top, mean = ops.columns(logits, 0, 1), ops.columns(means, 0, self.size)
        for k in range(1, self.policy.modes):
            logit = ops.columns(logits, k, k + 1)
            is_heavier = logit > top
            top = ops.where(is_heavier, logit, top)
            columns = ops.columns(means, k * self.size, (k + 1) * self.size)
            mean = ops.where(is_heavier, columns, mean)
        return mean


class ResidualModes(Modes):
    """Residual layers, and one prediction or the heaviest of several modes, without bounds."""

    def __init__(self, policy: Any, weights: Weights, action_size: int) -> None:
        if policy.modes == 1:
            Network.__init__(self, policy, weights, action_size)
        else:
            super().__init__(policy, weights, action_size)

    def __call__(self, ops: Ops, obs: Value, noise: Value) -> Value:
        x = self._residual_layers(ops, self._linear(self._state(ops, obs), "layer0"))
        return self._linear(x, "head") if self.policy.modes == 1 else self._heaviest(ops, x)


class EulerSteps(Network):
    """The Euler steps of a flow from the noise, which has been scaled by the temperature."""

    def __init__(self, policy: Any, weights: Weights, action_size: int) -> None:
        super().__init__(policy, weights, action_size)
        t = waves(torch.arange(policy.euler).unsqueeze(-1) / policy.euler).numpy()  # (K, waves)
        first = self.weights.pop("layer0.weight")
        ends = [first.shape[-2] - self.size - t.shape[-1], first.shape[-2] - self.size]
        by_state, by_time, by_action = np.split(first, ends, axis=-2)
        self.weights["state.weight"] = np.ascontiguousarray(by_state)
        self.weights["state.bias"] = self.weights.pop("layer0.bias")
        self.weights["action.weight"] = np.ascontiguousarray(by_action)
        times = t @ by_time  # (K, W)
        for k in range(policy.euler):
            self.weights[f"time{k}"] = np.ascontiguousarray(times[..., k : k + 1, :])

    def __call__(self, ops: Ops, obs: Value, noise: Value) -> Value:
        weights, euler = self.weights, self.policy.euler
        state = self._linear(self._state(ops, obs), "state")  # once for all steps
        x = noise
        for k in range(euler):
            first = state + weights[f"time{k}"]
            first = first if x is None else x @ weights["action.weight"] + first
            v = self._linear(self._residual_layers(ops, first), "head") / euler
            x = v if x is None else x + v
        return x


class CNN(MLP):
    """The encoder of the last frames and a Gaussian head."""

    def __init__(self, policy: Any, weights: Weights, action_size: int) -> None:
        super().__init__(policy, weights, action_size)
        self.encoder = CameraEncoder(policy, weights, policy.history)

    def _features(self, ops: Ops, obs: Value) -> Value:
        x = self.encoder(ops, obs)
        is_joint = "joint0.weight" in self.weights
        return ops.relu(self._linear(x, "joint0")) if is_joint else x


class CNNGRU(GRU):
    """The encoder of each frame, a GRU over the features, ReLU layers and a Gaussian head."""

    def __init__(self, policy: Any, weights: Weights, action_size: int) -> None:
        super().__init__(policy, weights, action_size)
        self.encoder = CameraEncoder(policy, weights, frames=1)

    def _hidden(self) -> tuple[int, ...]:
        return super()._hidden()[1:]

    def _rows(self, ops: Ops, obs: Value) -> list[Value]:
        history = self.policy.history
        frames = [obs.map(partial(ops.at, t=t)) for t in range(history)] if history > 1 else [obs]
        return [self.encoder(ops, parts) for parts in frames]


class CNNEulerSteps(EulerSteps):
    """The Euler steps of a flow that reads the features of the last frames."""

    def __init__(self, policy: Any, weights: Weights, action_size: int) -> None:
        super().__init__(policy, weights, action_size)
        self.encoder = CameraEncoder(policy, weights, policy.history)

    def _state(self, ops: Ops, obs: Value) -> Value:
        return self.encoder(ops, obs)


NETWORKS: Mapping[type[Policy], type[Network]] = MappingProxyType(
    {
        GaussianMLP: MLP, GaussianGRU: GRU, Mixture: Modes, Chunk: ResidualModes, Flow: EulerSteps,
        GaussianCNN: CNN, GaussianCNNGRU: CNNGRU, FlowCNN: CNNEulerSteps,
    }
)  # fmt: skip
"""By the exact class of the policy: a subclass may compute otherwise."""
