"""One member's step from observation to action, in operations that numpy computes and ONNX records.

`Actor` uses the numpy form, since torch spends most of its time on bookkeeping for such small
networks; `onnx.py` writes the same operations to a file. Tests compare both with torch.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from counterbc.data.scaling import Scaling
from counterbc.policies import GaussianGRU, GaussianMLP, Params, Policy
from counterbc.policies.gaussian import LOG_STD_RANGE

Value = Any
"""A numpy array, or a value of an ONNX graph."""
Weights = dict[str, NDArray[np.float32]]


class TrainedNetworks(Protocol):
    """What acting reads of `Policies`."""

    @property
    def policy(self) -> Policy: ...
    @property
    def params(self) -> Params: ...
    @property
    def scales(self) -> Scaling: ...
    @property
    def shards(self) -> int: ...
    @property
    def seeds(self) -> tuple[int, ...]: ...
    @property
    def obs_shape(self) -> tuple[int, ...]: ...
    @property
    def obs_size(self) -> int: ...
    @property
    def action_size(self) -> int: ...
    def tensor(self, obs: NDArray[Any]) -> Tensor: ...


class Ops(Protocol):
    """The operations needed in addition to + − * / @."""

    def relu(self, x: Value) -> Value: ...
    def tanh(self, x: Value) -> Value: ...
    def sigmoid(self, x: Value) -> Value: ...
    def exp(self, x: Value) -> Value: ...
    def clip(self, x: Value, low: float, high: float) -> Value: ...
    def length(self, x: Value) -> Value:
        """Return the length of each row: (…, 1)."""

    def columns(self, x: Value, begin: int, end: int) -> Value:
        """Return x[…, begin:end]."""

    def average(self, x: Value, shards: int) -> Value:
        """Average over the first dimension."""

    def shards_first(self, x: Value) -> Value:
        """Return (B, N, A) as (N, B, A)."""

    def push(self, window: Value, scaled_obs: Value) -> Value:
        """Drop the oldest row of the window (B, T, S) and append a new one (B, S)."""

    def at(self, window: Value, t: int) -> Value:
        """Return row t of the window: (B, S)."""

    def flat(self, window: Value) -> Value:
        """Return the window as one row per state: (B, T · S)."""


class Numpy:
    """The operations in numpy."""

    def relu(self, x: Value) -> Value:
        return np.maximum(x, 0)

    def tanh(self, x: Value) -> Value:
        return np.tanh(x)

    def sigmoid(self, x: Value) -> Value:
        return 0.5 * np.tanh(0.5 * x) + 0.5  # unlike 1 / (1 + exp(−x)) it cannot overflow

    def exp(self, x: Value) -> Value:
        return np.exp(x)

    def clip(self, x: Value, low: float, high: float) -> Value:
        return np.minimum(np.maximum(x, low), high)  # a fifth of the time of np.clip

    def length(self, x: Value) -> Value:
        return np.sqrt(np.add.reduce(x * x, -1, keepdims=True))

    def columns(self, x: Value, begin: int, end: int) -> Value:
        return x[..., begin:end]

    def average(self, x: Value, shards: int) -> Value:
        return np.add.reduce(x, 0) / shards

    def shards_first(self, x: Value) -> Value:
        return x.swapaxes(0, 1)

    def push(self, window: Value, scaled_obs: Value) -> Value:
        return np.concatenate([window[:, 1:], scaled_obs[:, None]], 1)

    def at(self, window: Value, t: int) -> Value:
        return window[:, t]

    def flat(self, window: Value) -> Value:
        return window.reshape(len(window), -1)


Body = Callable[[Ops, Weights, Policy, Value, Value], Value]
"""Computes the layers before the Gaussian head: (B, H), or (N, B, H)."""


def _relu_layers(ops: Ops, p: Weights, x: Value, layers: int) -> Value:
    for i in range(layers):
        x = ops.relu(x @ p[f"layer{i}.weight"] + p[f"layer{i}.bias"])
    return x


def _mlp(ops: Ops, p: Weights, policy: Policy, scaled_obs: Value, window: Value) -> Value:
    x = scaled_obs if policy.history == 1 else ops.flat(window)
    return _relu_layers(ops, p, x, len(policy.hidden))


def _gru(ops: Ops, p: Weights, policy: Policy, scaled_obs: Value, window: Value) -> Value:
    units = policy.hidden[0]
    two, three = 2 * units, 3 * units
    rows = (
        [ops.at(window, t) for t in range(policy.history)] if policy.history > 1 else [scaled_obs]
    )
    h: Value = np.zeros((1, units), np.float32)
    for row in rows:
        x = row @ p["gru.input.weight"] + p["gru.input.bias"]  # (B, 3H)
        u = h @ p["gru.state.weight"] + p["gru.state.bias"]
        gates = ops.sigmoid(ops.columns(x, 0, two) + ops.columns(u, 0, two))
        r, z = ops.columns(gates, 0, units), ops.columns(gates, units, two)
        n = ops.tanh(ops.columns(x, two, three) + r * ops.columns(u, two, three))
        h = n + z * (h - n)
    return _relu_layers(ops, p, h, len(policy.hidden) - 1)


# By the exact class: a subclass may compute otherwise.
BODIES: dict[type[Policy], Body] = {GaussianMLP: _mlp, GaussianGRU: _gru}


def fits(policy: Policy, scales: Scaling) -> bool:
    """Return whether `Forward` computes the actions of a policy."""
    return type(policy) in BODIES and policy.horizon == 1 and not scales.relative + scales.angles


class Forward:
    """The step of one member; with several shards, weights have a leading shard dimension."""

    def __init__(self, policies: TrainedNetworks, ops: Ops) -> None:
        self.ops, self.policy, self.shards = ops, policies.policy, policies.shards
        self.body = BODIES[type(policies.policy)]
        self.weights = _weights(policies)
        s = policies.scales
        self.mean, self.scale = _array(s.obs_mean), _array(s.obs_scale)  # (1, S)
        self.low, self.span = _array(s.action_low), _array(s.action_high - s.action_low)  # (1, A)
        self.ball, self.scale_actions = s.action_set == "ball", s.scale_actions

    def step(self, obs: Value, window: Value, noise: Value = None) -> tuple[Value, Value]:
        """Return the action (B, A) at obs (B, S), and the next window (B, history, S).

        Actions and observations are in the user's units. The window holds past scaled observations,
        zeros before the start. With `noise`, standard normal numbers (B, A) or (B, shards, A), the
        action is sampled.
        """
        ops, p = self.ops, self.weights
        scaled_obs = (obs - self.mean) / self.scale
        if self.policy.history > 1:
            window = ops.push(window, scaled_obs)
        x = self.body(ops, p, self.policy, scaled_obs, window)
        action = x @ p["mean.weight"] + p["mean.bias"]  # (B, A), or (N, B, A)
        reach = self.policy.reach
        action = ops.tanh(action) if reach == 1 else ops.tanh(action / reach) * reach
        if noise is not None:
            log_std = ops.clip(x @ p["log_std.weight"] + p["log_std.bias"], *LOG_STD_RANGE)
            noise = noise if self.shards == 1 else ops.shards_first(noise)
            action = action + ops.exp(log_std) * noise
        action = action if self.shards == 1 else ops.average(action, self.shards)
        return self._restore(action), window

    def _restore(self, action: Value) -> Value:
        """Project to A and map to the user's units, like `Scaling.restore`."""
        if not self.scale_actions:
            action = (action - self.low) * (2 / self.span) - 1
        if self.ball:
            scaled_action = action / self.ops.clip(self.ops.length(action), 1.0, np.inf)
        else:
            scaled_action = self.ops.clip(action, -1.0, 1.0)
        return (scaled_action + 1) * (self.span / 2) + self.low


def _weights(policies: TrainedNetworks) -> Weights:
    """Return the parameters in shapes that broadcast, with the head split in two."""
    weights = {}
    for name, value in policies.params.items():
        weight = value.unsqueeze(1) if name.endswith("bias") and policies.shards > 1 else value
        array = _array(weight if policies.shards > 1 else weight.squeeze(0))
        if name.startswith("head."):
            half = policies.action_size
            for head, part in (("mean", array[..., :half]), ("log_std", array[..., half:])):
                weights[name.replace("head", head)] = np.ascontiguousarray(part)
        else:
            weights[name] = array
    return weights


def _array(x: Tensor) -> NDArray[np.float32]:
    array: NDArray[np.float32] = x.detach().cpu().float().numpy()
    return array
