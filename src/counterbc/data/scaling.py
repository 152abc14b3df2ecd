"""The scales between the user's units and the policy's, which travel with the policy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from counterbc.data.action_scale import action_range
from counterbc.data.affine import scale, unscale
from counterbc.data.demonstrations import ActionSet, Demonstrations
from counterbc.data.feasible import Everywhere, Feasible, feasible_set
from counterbc.errors import DataError


@dataclass(frozen=True, eq=False)
class Scaling:
    """Observations are standardized, actions mapped to [-1, 1] by their bounds; P members at once.

    Images stay bytes, with one mean of 0 and one scale of 1; a network scales them to [0, 1].
    Methods take tensors whose first dimension is the member: (P, …, S) or (P, …, A).
    """

    obs_mean: Tensor  # (P, S)
    obs_scale: Tensor  # (P, S)
    action_low: Tensor  # (P, A)
    action_high: Tensor  # (P, A)
    action_set: ActionSet = "box"
    scale_actions: bool = True
    """Whether the policy works in [-1, 1]; else in the user's units."""
    bounds_from: str = "declared"
    """Where the action bounds come from: declared, or the data's 1–99 % range, which is the full
    range for dimensions that are rarely used."""
    target_mean: Tensor = None  # type: ignore[assignment]  # (P, H · A); 0 by default
    target_scale: Tensor = None  # type: ignore[assignment]  # (P, H · A); 1 by default
    relative: tuple[int, ...] = ()
    """For each action dimension the observation dimension it is relative to, −1 for an absolute
    one; empty where all are absolute."""
    angles: tuple[int, ...] = ()
    """The observation dimensions that a policy reads as cosine and sine instead."""

    def __post_init__(self) -> None:
        defaults = torch.zeros_like(self.action_low), torch.ones_like(self.action_low)
        for name, tensor in zip(("target_mean", "target_scale"), defaults, strict=True):
            if getattr(self, name) is None:
                object.__setattr__(self, name, tensor)

    @property
    def inputs(self) -> int:
        """The numbers that a policy reads of a vector observation."""
        return self.obs_mean.shape[1] + len(self.angles)

    @property
    def horizon(self) -> int:
        """H, the number of actions that a policy predicts at once."""
        return self.target_mean.shape[1] // self.action_low.shape[1]

    @staticmethod
    def fit(demos: Demonstrations, scale_obs: bool, scale_actions: bool) -> Scaling:
        """Return the scales of one dataset, from the pairs that are learned from."""
        image = len(demos.obs_shape) > 1
        size = 1 if image else demos.obs_shape[0]
        mean: Any = np.zeros(size)
        scale: Any = np.ones(size)
        if scale_obs and not image:
            obs = demos.obs[demos.learned]
            mean, scale = obs.mean(0, dtype=np.float64), obs.std(0, dtype=np.float64)
            constant = scale <= 1e-6 * np.maximum(1, np.abs(mean))
            scale = np.where(constant, 1, scale)
        low, high, bounds_from = action_range(demos)
        scales = (torch.tensor(x, dtype=torch.float32)[None] for x in (mean, scale, low, high))
        obs_mean, obs_scale, action_low, action_high = scales
        return Scaling(
            obs_mean, obs_scale, action_low, action_high, action_set=demos.action_set,
            scale_actions=scale_actions, bounds_from=bounds_from,
        )  # fmt: skip

    @staticmethod
    def stack(scales: list[Scaling]) -> Scaling:
        """Return the members of several as one."""
        if len({(s.relative, s.angles) for s in scales}) > 1:
            raise DataError(
                "members differ in what their actions are relative to; name it for all of them "
                "(relative), or train them separately"
            )
        tensors: dict[str, Any] = {n: torch.cat([getattr(s, n) for s in scales]) for n in TENSORS}
        return replace(scales[0], **tensors)

    def map(self, function: Callable[[Tensor], Tensor]) -> Scaling:
        """Return a copy with `function` applied to every tensor."""
        tensors: dict[str, Any] = {n: function(getattr(self, n)) for n in TENSORS}
        return replace(self, **tensors)

    def __getitem__(self, members: int | list[int]) -> Scaling:
        """Return the scales of some members."""
        indices = [members] if isinstance(members, int) else members
        return self.map(lambda x: x[indices])

    def keys(self) -> list[bytes]:
        """Return bytes for each member that are equal where scales are."""
        rows = torch.cat([getattr(self, n) for n in TENSORS], 1).numpy()
        return [row.tobytes() for row in rows]

    def obs(self, obs: Tensor) -> Tensor:
        """Return observations as the policy reads them."""
        if obs.dtype == torch.uint8:
            return obs
        scaled_obs = (obs - _like(self.obs_mean, obs)) / _like(self.obs_scale, obs)
        if not self.angles:
            return scaled_obs
        index = torch.tensor(self.angles, device=obs.device)
        angle = obs[..., index]
        return torch.cat([scaled_obs.index_copy(-1, index, angle.cos()), angle.sin()], -1)

    def action(self, action: Tensor) -> Tensor:
        """Return actions as the policy gives them."""
        return self._scale(action) if self.scale_actions else action

    def restore(self, action: Tensor) -> Tensor:
        """Return the policy's actions in the user's units, projected to A."""
        return self._unscale(action if self.scale_actions else self._scale(action))

    def targets(self, actions: Tensor, obs: Tensor) -> Tensor:
        """Return what a policy predicts at obs (P, …, S) for actions (P, …, H, A), both in the
        user's units: (P, …, H · A).

        Relative actions are differences to the observed part, scaled like the actions.
        """
        scaled_actions = self.action(actions)
        if self.relative:
            scaled_actions = scaled_actions - self._origin(obs)
        flat = scaled_actions.flatten(-2)
        return (flat - _like(self.target_mean, flat)) / _like(self.target_scale, flat)

    def restore_targets(self, targets: Tensor, obs: Tensor) -> Tensor:
        """Return the actions (P, …, H, A) that a policy predicted at obs, projected to A."""
        flat = targets * _like(self.target_scale, targets) + _like(self.target_mean, targets)
        scaled_actions: Tensor = flat.unflatten(-1, (self.horizon, -1))
        if self.relative:
            scaled_actions = scaled_actions + self._origin(obs)
        return self.restore(scaled_actions)

    def _origin(self, obs: Tensor) -> Tensor:
        """Return what scaled actions are relative to, 0 where they are absolute: (P, …, 1, A)."""
        index = torch.tensor(self.relative, device=obs.device)
        observed = self.action(obs[..., index.clamp(min=0)])
        return torch.where(index >= 0, observed, 0).unsqueeze(-2)

    def project(self, action: Tensor) -> Tensor:
        """Return recorded actions, in the user's units, projected to A."""
        return self._unscale(self._scale(action))

    def _unscale(self, scaled_action: Tensor) -> Tensor:
        scaled_action = feasible_set(self.action_set).project(scaled_action)
        low, high = _like(self.action_low, scaled_action), _like(self.action_high, scaled_action)
        action: Tensor = unscale(scaled_action, low, high)
        return action

    def _scale(self, action: Tensor) -> Tensor:
        low, high = _like(self.action_low, action), _like(self.action_high, action)
        scaled_action: Tensor = scale(action, low, high)
        return scaled_action


def scaled_feasible_set(demos: Demonstrations) -> Feasible:
    """Return A in the range [−1, 1]; without declared bounds every action is feasible."""
    return Everywhere() if demos.action_low is None else feasible_set(demos.action_set)


TENSORS = tuple(f.name for f in fields(Scaling) if "Tensor" in str(f.type))


def _like(scale: Tensor, x: Tensor) -> Tensor:
    """Return (P, D) with dimensions of size 1 inserted, to broadcast against (P, …, D)."""
    return scale.reshape(scale.shape[0], *([1] * (x.ndim - 2)), scale.shape[-1])
