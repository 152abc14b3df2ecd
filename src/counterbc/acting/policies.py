"""Trained policies: the result of training, and what acts."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from counterbc.acting import checks, run_folder
from counterbc.acting.act import Act
from counterbc.acting.actor import Acting, Actor
from counterbc.acting.member import Member
from counterbc.acting.observations import Observed, pixel_count, scaled_rows
from counterbc.acting.run_config import RunConfig
from counterbc.acting.summary import summarize
from counterbc.data.demonstrations import Demonstrations
from counterbc.data.obs_rows import obs_rows
from counterbc.data.scaling import TENSORS, Scaling
from counterbc.data.windows import window_rows
from counterbc.errors import CounterBCError, FormatError, OptionError
from counterbc.files import reason
from counterbc.policies import POLICIES, Params, Policy


@dataclass(frozen=True, eq=False)
class Curve:
    """The loss while training, as (K, members) tensors at K steps."""

    steps: Tensor  # (K,)
    loss: Tensor
    held_out: Tensor | None = None
    """The squared error of actions of episodes that nothing learned from."""


@dataclass(frozen=True, eq=False, repr=False)
class Policies:
    """The members of a trained population; `policies[0]` is the first one alone."""

    policy: Policy
    params: Params
    """Stacked over networks: (members · shards, …), shard after shard of each member."""
    scales: Scaling
    """One row per member."""
    members: tuple[Member, ...]
    shards: int = 1
    method: str = "custom"
    config: dict[str, Any] = field(default_factory=dict)
    """The configuration of the training as JSON values: preset, settings, data, versions."""
    curve: Curve | None = None
    weighting_params: Params = field(default_factory=dict)
    """Parameters that the weighting learned, e.g. ρ; stacked like `params`."""

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
        indices = list(range(len(self)))[index]
        if not indices:
            raise IndexError(f"no member is in {index}; there are 0 … {len(self) - 1}")
        nets = [i * self.shards + k for i in indices for k in range(self.shards)]
        if (curve := self.curve) is not None:
            held_out = None if curve.held_out is None else curve.held_out[:, indices]
            curve = Curve(curve.steps, curve.loss[:, indices], held_out)
        return replace(
            self,
            params={k: v[nets] for k, v in self.params.items()},
            weighting_params={k: v[nets] for k, v in self.weighting_params.items()},
            scales=self.scales[indices],
            members=tuple(self.members[i] for i in indices),
            curve=curve,
        )

    @cached_property
    def run_config(self) -> RunConfig:
        """The configuration of the training."""
        return RunConfig.from_dict(self.config)

    @property
    def seeds(self) -> tuple[int, ...]:
        """The seed of each member."""
        return tuple(m.seed for m in self.members)

    @property
    def obs_shape(self) -> tuple[int, ...]:
        """The shape of one observation: (S,), or (H, W, C)."""
        return self.policy.obs_shape(self.scales.obs_mean.shape[1])

    @property
    def obs_size(self) -> int:
        """The numbers of a vector, or the bytes of an observation with images."""
        if not self.policy.images:
            return math.prod(self.obs_shape)
        return pixel_count(self.policy) + (4 * self.scales.inputs if self.observed.size else 0)

    @cached_property
    def observed(self) -> Observed:
        """The parts of an observation that are read."""
        policy, config = self.policy, self.run_config
        size = self.scales.obs_mean.shape[1] if policy.reads_vector else 0
        cameras, is_resized = tuple(config.cameras), bool(config.image_size)
        return Observed(config.obs_keys, size, cameras, policy.images, is_resized)

    def tensor(self, obs: Mapping[str, Any] | NDArray[Any]) -> Tensor:
        """Return observations (n, …) as `Acting` reads them: (n, S), bytes for images."""
        rows = self.observed.rows(obs)
        is_image = len(self.obs_shape) > 1 or bool(self.policy.images)
        return torch.tensor(rows, dtype=torch.uint8 if is_image else torch.float32)

    def windows(self, data: Demonstrations, pairs: NDArray[Any]) -> tuple[Tensor, Tensor]:
        """Return what each member reads at n pairs of a dataset, and the observations there.

        They are (P, n, history, S) and (P, n, S). Before the start of its episode a window holds
        what it does when the policies act.
        """
        starts, device = torch.tensor(data.starts[pairs]), self.scales.obs_mean.device
        rows, inside = window_rows(torch.tensor(pairs), starts, self.policy.history)  # (n, history)
        obs = self.tensor(obs_rows(data, rows.flatten().numpy())).to(device)
        obs = obs.expand(len(self), -1, -1)
        window = scaled_rows(self, obs).unflatten(1, rows.shape)
        if not self.policy.repeats_first:
            window = window * inside.unsqueeze(-1).to(device)
        return window, obs.unflatten(1, rows.shape)[:, :, -1]

    def to(self, device: torch.device) -> Policies:
        """Return the policies on another device."""
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
        return summarize(self)

    def names(self, indices: NDArray[np.bool_]) -> list[str]:
        """Return the names of the members where the flag is set."""
        return [f"member {i} ({m.name})" for i, m in enumerate(self.members) if bool(indices[i])]

    def actor(self, act: Act = "mean", seed: int = 0) -> Actor:
        """Return an actor for the only member; use `policies[i].actor()` for one of several."""
        if len(self) != 1:
            raise OptionError(
                f"an actor is one member, but there are {len(self)}; take policies[0].actor()"
            )
        if self.diverged.any():
            raise OptionError(f"{self.members[0].name} diverged and cannot act; train again")
        return Actor(Acting(self, [0], act, seed))

    def acting_with(
        self,
        *,
        execute: int | None = None,
        temperature: float | None = None,
        euler: int | None = None,
    ) -> Policies:
        """Return the same policies with other numbers that decide only how they act.

        `execute` actions of a chunk are executed before the next prediction; flows start from noise
        of scale `temperature` and take `euler` steps. None keeps the number of the training.
        """
        policy = self.policy.acting_with(execute=execute, temperature=temperature, euler=euler)
        return replace(self, policy=policy)

    def save(self, folder: str | Path, *, overwrite: bool = False) -> None:
        """Write config.json and model.safetensors.

        A folder that exists is refused; with `overwrite`, a run in it is replaced."""
        run_folder.save(Path(folder), *self.contents(), overwrite=overwrite)

    @staticmethod
    def load(folder: str | Path) -> Policies:
        """Read what `save` or `counterbc train` wrote."""
        config, tensors = run_folder.load(Path(folder))
        try:
            return Policies.from_contents(config, tensors)
        except CounterBCError:
            raise
        except Exception as error:  # a damaged folder can raise anything
            text = f"{type(error).__name__} {reason(error)}"
            raise FormatError(f"{folder} is damaged: {text}; train again") from error

    def contents(self) -> tuple[dict[str, Any], dict[str, Tensor]]:
        """Return the configuration and the tensors of a run folder."""
        config = {
            "method": self.method,
            "policy": {"kind": policy_kind(self.policy), **asdict(self.policy)},
            "shards": self.shards,
            "diverged": np.repeat(self.diverged, self.shards).nonzero()[0].tolist(),
            "members": [asdict(m) for m in self.members],
            "normalization": {
                "action_set": self.scales.action_set,
                "scale_actions": self.scales.scale_actions,
                "bounds_from": self.scales.bounds_from,
                "relative": list(self.scales.relative),
                "angles": list(self.scales.angles),
            },
            "config": self.config,
        }
        tensors = {f"policy/{k}": v for k, v in self.params.items()}
        tensors |= {f"weighting/{k}": v for k, v in self.weighting_params.items()}
        tensors |= {f"normalization/{n}": getattr(self.scales, n) for n in TENSORS}
        curve = {} if self.curve is None else vars(self.curve)
        tensors |= {f"curve/{k}": v for k, v in curve.items() if v is not None}
        return config, tensors

    @staticmethod
    def from_contents(config: dict[str, Any], tensors: dict[str, Tensor]) -> Policies:
        """Return the policies that `contents` describes; both may come from anybody."""
        scales = checks.read_scales(config["normalization"], _under(tensors, "normalization/"))
        members = tuple(Member.of(m) for m in config["members"])
        curve, params = _under(tensors, "curve/"), _under(tensors, "policy/")
        policy, shards = checks.read_policy(config["policy"], params), int(config["shards"])
        if shards < 1 or not members:
            raise ValueError(f"{len(members)} members of {shards} networks")
        networks, radii = len(members) * shards, [m.radius for m in members]
        diverged = config.get("diverged", None if config.get("version") == 1 else [])
        checks.check_scales(scales, len(members))
        checks.check_params(policy, params, scales, networks, diverged)
        checks.check_stacked(tensors, networks, len(members))
        checks.check_config(config["config"], config["method"], radii, scales.action_low.shape[1])
        method, run_config = checks.read_names(config["method"], config["config"])
        return Policies(
            policy=policy,
            params=params,
            scales=scales,
            members=members,
            shards=shards,
            method=method,
            config=run_config,
            curve=Curve(**curve) if curve else None,
            weighting_params=_under(tensors, "weighting/"),
        )


def policy_kind(policy: Policy) -> str:
    """Return the name of a policy in a run folder."""
    for name, kind in POLICIES.items():
        if type(policy) is kind:
            return name
    name = type(policy).__name__
    raise OptionError(
        f"the policy {name} has no name to be saved under; give it one first, and again before it "
        f'is loaded: counterbc.POLICIES["{name.lower()}"] = {name}'
    )


def _under(tensors: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {k.removeprefix(prefix): v for k, v in tensors.items() if k.startswith(prefix)}
