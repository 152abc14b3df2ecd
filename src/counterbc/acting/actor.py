"""Policies that act: `Acting` for a whole population, `Actor` for one member."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from counterbc.acting.act import ACTS, AVERAGING, Act
from counterbc.acting.forward import Forward, TrainedNetworks, decides_by_chunk, fits
from counterbc.acting.observations import row_vectors, scaled_rows
from counterbc.acting.ops import Numpy
from counterbc.data import draws
from counterbc.errors import DataError, unknown
from counterbc.policies import Params


def average_overlap(plans: Sequence[Tensor]) -> Tensor:
    """Return the mean of what the last predictions say about the current step: (…, A).

    `plans` are chunks (…, H, A), oldest first, that were predicted one step after the other.
    """
    ages = range(len(plans) - 1, -1, -1)
    about = torch.stack([plan[..., age, :] for plan, age in zip(plans, ages, strict=True)])
    weights = torch.exp(-AVERAGING * torch.arange(len(about), device=about.device))
    mean: Tensor = torch.tensordot((weights / weights.sum()).to(about), about, 1)
    return mean


class Acting:
    """A whole population acting in E episodes each, with the memory that policies need.

    The random numbers of an episode depend on its number in `episodes` alone.
    """

    def __init__(
        self, policies: TrainedNetworks, episodes: Sequence[int], act: Act, seed: int
    ) -> None:
        if act not in ACTS:
            raise unknown("way of acting", act, ACTS)
        self.policies, self.act = policies, act
        self.episodes = torch.tensor(episodes)
        seeds = torch.tensor(policies.seeds)
        key = draws.bits(torch.tensor(seed), "acting", seeds, policies.shards)  # (P, shards)
        self.seeds = key.flatten().unsqueeze(1)  # (N, 1)
        self.forward: Forward | None = None
        """What computes the networks of a single member in numpy instead of torch."""
        self.reset()

    def reset(self) -> None:
        """Forget all observations."""
        p, shape = self.policies, (len(self.episodes), self.policies.policy.history)
        is_image = len(p.obs_shape) > 1 or bool(p.policy.images)
        kind, size = (torch.uint8, p.obs_size) if is_image else (torch.float32, p.scales.inputs)
        self.window = p.scales.obs_mean.new_zeros(len(p.seeds), *shape, size, dtype=kind)
        self.plans: list[Tensor] = []  # the last predicted actions (P, E, H, A), oldest first
        self.step = 0

    @torch.no_grad()
    def actions(self, obs: Tensor) -> Tensor:
        """Return actions for observations (P, E, S), both in the user's units: (P, E, A)."""
        policy = self.policies.policy
        self._observe(obs)
        if policy.average_chunks:
            self.plans = [*self.plans, self._predict(self.window, obs)][-policy.horizon :]
            action = average_overlap(self.plans)
        else:
            if self.step % policy.execute == 0:
                self.plans = [self._predict(self.window, obs)]
            action = self.plans[0][:, :, self.step % policy.execute]
        self.step += 1
        return action

    @torch.no_grad()
    def plan(self, obs: Tensor) -> Tensor:
        """Return all H actions that are predicted at observations (P, E, S): (P, E, H, A)."""
        self._observe(obs)
        self.step += 1
        return self._predict(self.window, obs)

    def _observe(self, obs: Tensor) -> None:
        """Append observations (P, E, S) to the window (P, E, history, S)."""
        p = self.policies
        scaled_obs = scaled_rows(p, obs.to(self.window)).unsqueeze(2)
        if self.step == 0 and p.policy.repeats_first:
            self.window = scaled_obs.expand_as(self.window)
        else:
            self.window = torch.cat([self.window[:, :, 1:], scaled_obs], dim=2)

    def _predict(self, window: Tensor, obs: Tensor) -> Tensor:
        """Return the next H actions in the user's units: (P, E, H, A)."""
        p = self.policies
        window = window if p.policy.history > 1 else window.squeeze(2)
        if self.forward is not None:
            targets = self._in_numpy(self.forward, window)
        else:
            targets = self._networks(window.repeat_interleave(p.shards, 0))  # (N, E, H · A)
            targets = targets.unflatten(0, (-1, p.shards)).mean(1)
        return p.scales.restore_targets(targets, row_vectors(p, obs).to(targets))

    @torch.no_grad()
    def predict(self, window: Tensor, obs: Tensor) -> Tensor:
        """Return the action for windows (P, E, history, S) that end with obs: (P, E, A)."""
        return self._predict(window, obs)[:, :, 0]

    def chances(self) -> Tensor:
        """Return the uniform numbers that decide the next actions: (N, E, numbers)."""
        index = self.episodes + (self.step << 32)
        return draws.uniform(self.seeds, "act", index, self._numbers())

    def _numbers(self) -> int:
        """Return how many uniform numbers decide about one action or chunk."""
        policy, size = self.policies.policy, self.policies.action_size
        return policy.act_numbers(policy.horizon * size, self.act == "sample")

    def _networks(self, window: Tensor) -> Tensor:
        policy, is_sampled = self.policies.policy, self.act == "sample"
        chances = self.chances().to(self.policies.scales.obs_mean)

        def act_one(params: Params, obs: Tensor, u: Tensor) -> Tensor:
            return policy.act(params, obs, u if u.shape[-1] else None, is_sampled)

        actions: Tensor = (act_one if policy.stacks else torch.func.vmap(act_one))(
            self.policies.params, window, chances
        )
        return actions

    def noise(self) -> NDArray[np.float32] | None:
        """Return the standard normal numbers of the only member's next actions, if it needs any.

        They are (E, numbers), or (E, shards, numbers) for several shards.
        """
        if not self._numbers():
            return None
        z = torch.special.ndtri(self.chances()).transpose(0, 1)  # (E, N, numbers)
        z = z.squeeze(1) if self.policies.shards == 1 else z
        return np.asarray(z.numpy(), np.float32)

    def _in_numpy(self, forward: Forward, window: Tensor) -> Tensor:
        with np.errstate(over="ignore", invalid="ignore"):  # inf and nan pass on, as in torch
            targets = forward.targets(window[0].cpu().numpy(), self.noise())
        return torch.from_numpy(targets).to(self.policies.scales.obs_mean).unsqueeze(0)


class Actor:
    """One policy in one environment: numpy in, numpy out."""

    def __init__(self, acting: Acting) -> None:
        self._acting = acting
        p = acting.policies
        self._forward: Forward | None = None
        if fits(p.policy) and (acting.act == "mean" or not p.policy.has_density):
            forward = Forward(p, Numpy(), acting.act)
            if decides_by_chunk(p.policy):
                acting.forward = forward  # which keeps the window and the queue of actions
            else:
                self._forward = forward
        self.reset()

    def reset(self) -> None:
        """Start a new episode, with random numbers of its own."""
        if self._acting.step:
            self._acting.episodes += 1
        self._acting.reset()
        self._window = self._acting.window[0].cpu().numpy()  # (1, history, S), zeros

    def act(self, obs: Mapping[str, Any] | NDArray[Any]) -> NDArray[np.float32]:
        """Return the action (A,) at observation (S,), or at a dict of its parts by name."""
        policies = self._acting.policies
        if isinstance(obs, Mapping):
            parts = {name: np.asarray(values)[None] for name, values in obs.items()}
            row = policies.observed.rows(parts)[0]
        else:
            row = np.asarray(obs)
            if policies.observed.is_resized and row.ndim == 3:
                row = policies.observed.rows(row[None])[0].reshape(policies.obs_shape)
            if not policies.observed.is_mixed and row.shape != policies.obs_shape:
                raise DataError(
                    f"obs has shape {row.shape}; this policy reads {policies.obs_shape}"
                )
        if self._forward is None:
            action = self._acting.actions(policies.tensor(row[None])[None])[0, 0]
            return np.asarray(action.cpu().numpy(), dtype=np.float32)
        with np.errstate(over="ignore", invalid="ignore"):  # inf and nan pass on, as in torch
            row = row.reshape(1, -1).astype(self._window.dtype)
            actions, self._window = self._forward.step(row, self._window)
        return np.asarray(actions[0])
