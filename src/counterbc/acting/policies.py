"""Trained policies: what training gives and everything else acts with."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from counterbc.acting.forward import BODIES, Forward, Numpy
from counterbc.data import draws
from counterbc.data.scaling import Scaling
from counterbc.errors import DataError, OptionError, unknown
from counterbc.policies import Params, Policy

Act = Literal["mean", "sample"]
ACTS: tuple[Act, ...] = ("mean", "sample")


def radius_text(radius: tuple[float, ...]) -> str:
    """One number where all dimensions agree, else one per dimension."""
    return "/".join(f"{r:g}" for r in (radius[:1] if len(set(radius)) == 1 else radius))


@dataclass(frozen=True)
class Member:
    """One end-to-end run."""

    seed: int
    radius: tuple[float, ...]
    """Δ of each action dimension."""
    dataset: int = 0
    """Which of the population's datasets it learns from."""
    fingerprint: str = ""
    """The hash of that dataset."""

    @property
    def name(self) -> str:
        return f"seed {self.seed}, radius {radius_text(self.radius)}"


@dataclass(frozen=True, eq=False)
class Curve:
    """The loss while training, as (K, members) tensors at K steps."""

    steps: Tensor  # (K,)
    loss: Tensor
    held_out: Tensor | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Policies:
    """The members of a trained population; `policies[0]` is the first one alone."""

    policy: Policy
    params: Params
    """Stacked over networks: (members · shards, …), part after part of each member."""
    scales: Scaling
    """One row per member."""
    members: tuple[Member, ...]
    shards: int = 1
    method: str = "custom"
    config: dict[str, Any] = field(default_factory=dict)
    """What it was trained with: preset, settings, data, versions."""
    curve: Curve | None = None
    weighting_params: Params = field(default_factory=dict)
    """What the weighting learned beside the policy, e.g. ρ; stacked like `params`."""

    def __len__(self) -> int:
        return len(self.members)

    def __iter__(self) -> Iterator[Policies]:
        return (self[i] for i in range(len(self)))

    def __getitem__(self, index: int | slice) -> Policies:
        if not isinstance(index, slice):
            index = operator.index(index)
            if not -len(self) <= index < len(self):
                raise IndexError(f"member {index} does not exist; there are 0 … {len(self) - 1}")
            index = slice(index % len(self), index % len(self) + 1)
        chosen = list(range(len(self)))[index]
        if not chosen:
            raise IndexError(f"no member is in {index}; there are 0 … {len(self) - 1}")
        nets = [i * self.shards + k for i in chosen for k in range(self.shards)]
        curve = self.curve
        if curve is not None:
            held_out = None if curve.held_out is None else curve.held_out[:, chosen]
            curve = Curve(curve.steps, curve.loss[:, chosen], held_out)
        return replace(
            self,
            params={k: v[nets] for k, v in self.params.items()},
            weighting_params={k: v[nets] for k, v in self.weighting_params.items()},
            scales=self.scales[chosen],
            members=tuple(self.members[i] for i in chosen),
            curve=curve,
        )

    @property
    def obs_shape(self) -> tuple[int, ...]:
        """Of one observation: (S,), or (H, W, C)."""
        return self.policy.obs_shape(self.scales.obs_mean.shape[1])

    @property
    def obs_size(self) -> int:
        return math.prod(self.obs_shape)

    def tensor(self, obs: NDArray[Any]) -> Tensor:
        """Observations (n, …) for `Acting`: (n, S), numbers or, of images, bytes."""
        kind = torch.uint8 if len(self.obs_shape) > 1 else torch.float32
        return torch.tensor(np.asarray(obs), dtype=kind).flatten(1)

    def to(self, device: torch.device) -> Policies:
        """The same on another device."""
        params = {k: v.to(device) for k, v in self.params.items()}
        return replace(self, params=params, scales=self.scales.map(lambda x: x.to(device)))

    @property
    def action_size(self) -> int:
        return self.scales.action_low.shape[1]

    @property
    def diverged(self) -> NDArray[np.bool_]:
        """Whether each member's parameters are no longer finite: (members,)."""
        finite = torch.stack([v.flatten(1).isfinite().all(1) for v in self.params.values()])
        bad: NDArray[np.bool_] = (~finite.all(0)).view(-1, self.shards).any(1).cpu().numpy()
        return bad

    def __repr__(self) -> str:
        radii = sorted({m.radius for m in self.members})
        radius = ", ".join(radius_text(r) for r in radii)
        origin = self.config.get("radius_from", "given")
        text = origin if origin == "not used" else f"{radius} ({origin}){self._kept_text()}"
        kind = f"{type(self.policy).__name__}{self.policy.hidden}"
        shards = f" of {self.shards} networks each" if self.shards > 1 else ""
        lines = [
            f"Policies trained with {self.method}",
            f"  members  {len(self)}{shards}, seeds {_ranges([m.seed for m in self.members])}",
            f"  radius   {text}",
            f"  policy   {kind}: {'×'.join(map(str, self.obs_shape))} → {self.action_size}"
            + (f", reading {self.policy.history} observations" if self.policy.history > 1 else ""),
            f"  actions  {self._bounds_text()}",
        ]
        if self.diverged.any():
            lines.append(f"  diverged {', '.join(self.names(self.diverged))}")
        return "\n".join(lines)

    def _kept_text(self) -> str:
        """Which dimensions got no radius, as their actions take two values only."""
        names = self.config.get("action_names", [])
        widest = np.max([m.radius for m in self.members], 0)  # (A,)
        kept = [n for n in self.config.get("two_valued", []) if widest[names.index(n)] == 0]
        return f"; 0 for {', '.join(kept)}, which takes two values only" if kept else ""

    def _bounds_text(self) -> str:
        low, high = self.scales.action_low[0].tolist(), self.scales.action_high[0].tolist()
        each = [f"[{a:.4g}, {b:.4g}]" for a, b in zip(low, high, strict=True)]
        text = each[0] + " each" if len(set(each)) == 1 and len(each) > 1 else " ".join(each)
        if self.scales.action_set == "ball":
            text += ", within the ball"
        if self.scales.bounds_from == "data":
            text += ": the data's 1–99 % range, as no bounds are declared; actions stay within it"
        return text

    def names(self, chosen: NDArray[np.bool_]) -> list[str]:
        """The chosen members' names."""
        return [f"member {i} ({m.name})" for i, m in enumerate(self.members) if bool(chosen[i])]

    def actor(self, act: Act = "mean", seed: int = 0) -> Actor:
        """One member ready to act; `policies[i].actor()`."""
        if len(self) != 1:
            raise OptionError(
                f"an actor is one member, but there are {len(self)}; take policies[0].actor()"
            )
        return Actor(Acting(self, [0], act, seed))

    def save(self, folder: str | Path) -> None:
        """Write config.json and model.safetensors; refuses a folder that exists."""
        from counterbc.training import checkpoints

        checkpoints.save(self, Path(folder))

    @staticmethod
    def load(folder: str | Path) -> Policies:
        """Read what `save` or `counterbc train` wrote."""
        from counterbc.training import checkpoints

        return checkpoints.load(Path(folder))


class Acting:
    """A whole population acting in E episodes each, with the memory that policies need."""

    def __init__(self, policies: Policies, episodes: Sequence[int], act: Act, seed: int) -> None:
        """`episodes` are numbers of one's own: an episode's chances depend on its number alone."""
        if act not in ACTS:
            raise unknown("way of acting", act, ACTS)
        self.policies, self.act = policies, act
        self.episodes = torch.tensor(episodes)
        seeds = torch.tensor([m.seed for m in policies.members])
        key = draws.bits(torch.tensor(seed), "acting", seeds, policies.shards)  # (P, shards)
        self.seeds = key.flatten().unsqueeze(1)  # (N, 1)
        self.reset()

    def reset(self) -> None:
        """Forget everything seen."""
        p, shape = self.policies, (len(self.episodes), self.policies.policy.history)
        kind = torch.uint8 if len(p.obs_shape) > 1 else torch.float32
        self.window = p.scales.obs_mean.new_zeros(len(p), *shape, p.obs_size, dtype=kind)
        self.step = 0

    @torch.no_grad()
    def actions(self, obs: Tensor) -> Tensor:
        """Actions for observations (P, E, S), both in the user's units: (P, E, A)."""
        p = self.policies
        seen = p.scales.obs(obs.to(self.window)).unsqueeze(2)
        self.window = torch.cat([self.window[:, :, 1:], seen], dim=2)  # (P, E, history, S)
        window = self.window if p.policy.history > 1 else seen.squeeze(2)
        each = self._networks(window.repeat_interleave(p.shards, 0))  # (N, E, A)
        self.step += 1
        return p.scales.restore(each.unflatten(0, (-1, p.shards)).mean(1))

    def chances(self) -> Tensor:
        """The uniform numbers that decide the next sample: (N, E, A)."""
        index = self.episodes + (self.step << 32)
        return draws.uniform(self.seeds, "act", index, self.policies.action_size)

    def _networks(self, window: Tensor) -> Tensor:
        policy = self.policies.policy
        chances = [self.chances().to(self.policies.scales.obs_mean)] if self.act == "sample" else []

        def one(params: Params, obs: Tensor, u: Tensor | None = None) -> Tensor:
            head = policy.head(params, obs)
            return policy.mean(head) if u is None else policy.sample(head, u)

        actions: Tensor = (one if policy.stacks else torch.func.vmap(one))(
            self.policies.params, window, *chances
        )
        return actions


class Actor:
    """One policy in one world: numpy in, numpy out."""

    def __init__(self, acting: Acting) -> None:
        self._acting = acting
        known = acting.act == "mean" and type(acting.policies.policy) in BODIES
        self._forward = Forward(acting.policies, Numpy()) if known else None
        self.reset()

    def reset(self) -> None:
        """Forget the episode so far; the next one takes its own chances."""
        if self._acting.step:
            self._acting.episodes += 1
        self._acting.reset()
        p = self._acting.policies
        self._window = np.zeros((1, p.policy.history, p.obs_size), np.float32)

    def act(self, obs: NDArray[Any]) -> NDArray[np.float32]:
        """The action (A,) at observation (S,)."""
        policies, obs = self._acting.policies, np.asarray(obs)
        if obs.shape != policies.obs_shape:
            raise DataError(f"obs has shape {obs.shape}; this policy reads {policies.obs_shape}")
        if self._forward is None:
            action = self._acting.actions(policies.tensor(obs[None])[None])[0, 0]
            return np.asarray(action.cpu().numpy(), dtype=np.float32)
        with np.errstate(over="ignore", invalid="ignore"):  # as torch does: inf and nan pass on
            actions, self._window = self._forward.step(obs[None].astype(np.float32), self._window)
        return np.asarray(actions[0])


def _ranges(seeds: list[int]) -> str:
    """0 … 9 for a run of seeds, else a list."""
    unique = list(dict.fromkeys(seeds))
    if len(unique) > 2 and unique == list(range(unique[0], unique[0] + len(unique))):
        return f"{unique[0]} … {unique[-1]}"
    return ", ".join(map(str, unique))
