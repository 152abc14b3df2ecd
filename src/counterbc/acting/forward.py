"""One member's way from observations to actions, in operations of numpy or of an ONNX graph.

`Actor` uses the numpy form, since torch spends much of its time on bookkeeping for one state at a
time; `onnx.py` writes the same operations to a file. Tests compare both with torch.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from counterbc.acting.act import Act
from counterbc.acting.encoder import Parts, split_rows
from counterbc.acting.networks import NETWORKS
from counterbc.acting.observations import Observed
from counterbc.acting.ops import Ops, Value, Weights
from counterbc.data.scaling import Scaling
from counterbc.policies import Params, Policy


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
    @property
    def observed(self) -> Observed: ...
    def tensor(self, obs: NDArray[Any]) -> Tensor: ...


def fits(policy: Policy) -> bool:
    """Return whether `Forward` computes the actions of a policy."""
    return type(policy) in NETWORKS


def decides_by_chunk(policy: Policy) -> bool:
    """Return whether a policy decides from whole windows, about one or several actions.

    Others take one observation at a time, and return the next window beside the action.
    """
    is_mixed = len(policy.images) + policy.reads_vector > 1
    return policy.horizon > 1 or policy.repeats_first or is_mixed


class Forward:
    """The forward pass of one member; with several shards, weights have a leading dimension."""

    def __init__(self, policies: TrainedNetworks, ops: Ops, act: Act = "mean") -> None:
        self.ops, self.policy, self.shards = ops, policies.policy, policies.shards
        network = NETWORKS[type(policies.policy)]
        self.network = network(policies.policy, _weights(policies), policies.action_size)
        temperature = None if act == "sample" else self.policy.temperature
        self.temperature = 1.0 if temperature is None else temperature
        s = policies.scales
        self.mean, self.scale = _array(s.obs_mean), _array(s.obs_scale)  # (1, S)
        self.low, self.span = _array(s.action_low), _array(s.action_high - s.action_low)  # (1, A)
        self.ball, self.scale_actions = s.action_set == "ball", s.scale_actions
        self.target_mean, self.target_scale = _array(s.target_mean), _array(s.target_scale)
        self.standardizes = bool(self.target_mean.any() or (self.target_scale != 1).any())
        self.relative = np.array(s.relative, np.int64)  # (A,)
        self.angles = np.array(s.angles, np.int64)
        size = self.mean.shape[1]
        self.order = np.arange(size + len(self.angles))  # of joined columns: angles as cosines
        self.order[self.angles] = size + np.arange(len(self.angles))
        self.order[size:] += len(self.angles)  # and their sines at the end

    def scaled(self, obs: Value) -> Value:
        """Return observations (…, S) as the network reads them, like `Scaling.obs`."""
        if isinstance(obs, Parts):
            return Parts(obs.images, None if obs.vector is None else self.scaled(obs.vector))
        if not self.policy.reads_vector:
            return obs
        scaled_obs = (obs - self.mean) / self.scale
        if not len(self.angles):
            return scaled_obs
        ops, angle = self.ops, self.ops.pick(obs, self.angles)
        return ops.pick(ops.join(scaled_obs, ops.cos(angle), ops.sin(angle)), self.order)

    def step(self, obs: Value, window: Value, noise: Value = None) -> tuple[Value, Value]:
        """Return the action (B, A) at obs (B, S), and the next window (B, history, S).

        Actions and observations are in the user's units. The window holds past scaled observations,
        zeros before the start. With `noise`, standard normal numbers (B, A) or (B, shards, A), the
        action is sampled.
        """
        network_input = self.scaled(obs)
        if self.policy.history > 1:
            network_input = window = self.ops.push(window, network_input)
        return self._restore(self.targets(network_input, noise), obs), window

    def chunk(self, obs: Value, noise: Value = None) -> Value:
        """Return the actions to execute at windows (B, history, S) of observations: (B, E, A).

        Both are in the user's units. All H actions are returned if the policy averages chunks.
        `noise` is as for `step`, with H · A numbers. Observations with images are `Parts`.
        """
        ops, policy = self.ops, self.policy
        parts = obs if isinstance(obs, Parts) else self._parts(obs)
        window = parts.map(partial(ops.at, t=0)) if policy.history == 1 else parts
        targets = self.targets(self.scaled(window if policy.images else window.vector), noise)
        last = ops.at(parts.vector, policy.history - 1) if len(self.relative) else None
        actions = self._restore(targets, last)
        if policy.horizon == 1:
            actions = ops.steps(actions, 1)
        is_whole = policy.average_chunks or policy.execute == policy.horizon
        return actions if is_whole else ops.first(actions, policy.execute)

    def targets(self, scaled_obs: Value, noise: Value) -> Value:
        """Return what the network predicts, averaged over shards: (B, H · A)."""
        ops = self.ops
        if noise is not None:
            noise = noise if self.shards == 1 else ops.shards_first(noise)
            noise = noise if self.temperature == 1 else noise * self.temperature
        if self.policy.images and not isinstance(scaled_obs, Parts):
            scaled_obs = self._parts(scaled_obs)
        targets = self.network(ops, scaled_obs, noise)
        return targets if self.shards == 1 else ops.average(targets, self.shards)

    def _parts(self, rows: Value) -> Parts:
        """Return the parts of vectors or of rows of bytes; a single part may be of a graph."""
        if not self.policy.images:
            return Parts((), rows)
        is_single = len(self.policy.images) == 1 and not self.policy.reads_vector
        return Parts((rows,)) if is_single else split_rows(self.policy, rows)

    def _restore(self, targets: Value, obs: Value) -> Value:
        """Return actions in the user's units, like `Scaling.restore_targets`: (B, A), (B, H, A)."""
        horizon = self.policy.horizon
        action = targets * self.target_scale + self.target_mean if self.standardizes else targets
        action = action if horizon == 1 else self.ops.steps(action, horizon)
        if len(self.relative):
            origin = self._origin(obs)
            action = action + (origin if horizon == 1 else self.ops.steps(origin, 1))
        return self._project(action)

    def _origin(self, obs: Value) -> Value:
        """Return what scaled actions are relative to, 0 where they are absolute: (B, A)."""
        observed = self.ops.pick(obs, self.relative.clip(0))
        if self.scale_actions:
            observed = (observed - self.low) * (2 / self.span) - 1
        is_relative = self.relative >= 0
        return observed if is_relative.all() else self.ops.where(is_relative, observed, 0.0)

    def _project(self, action: Value) -> Value:
        """Project to A and map to the user's units, like `Scaling.restore`."""
        if not self.scale_actions:
            action = (action - self.low) * (2 / self.span) - 1
        if self.ball:
            scaled_action = action / self.ops.clip(self.ops.length(action), 1.0, np.inf)
        else:
            scaled_action = self.ops.clip(action, -1.0, 1.0)
        return (scaled_action + 1) * (self.span / 2) + self.low


def _weights(policies: TrainedNetworks) -> Weights:
    """Return the parameters in shapes that broadcast."""
    weights = {}
    for name, value in policies.params.items():
        weight = value.unsqueeze(1) if name.endswith("bias") and policies.shards > 1 else value
        weights[name] = _array(weight if policies.shards > 1 else weight.squeeze(0))
    return weights


def _array(x: Tensor) -> NDArray[np.float32]:
    array: NDArray[np.float32] = x.detach().cpu().float().numpy()
    return array
