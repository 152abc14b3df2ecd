"""The scaled pairs of a run, once in memory, from which steps gather by index."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import torch
from torch import Tensor

from counterbc.data.chunks import next_actions
from counterbc.data.demonstrations import Array, Demonstrations
from counterbc.data.scaling import Scaling
from counterbc.data.windows import window_rows
from counterbc.training.censoring import lagged_sides
from counterbc.weightings.weighting import SIDE


@dataclass(frozen=True, eq=False)
class Store:
    """All pairs of all datasets in a row, in the policy's units."""

    obs: Tensor  # (T, S); bytes where they are images
    action: Tensor  # (T, H · A): the H actions that a policy predicts
    starts: Tensor  # (T,): the first pair of each pair's episode
    facts: dict[str, Tensor] = field(default_factory=dict)
    """(T, …) each: what weightings use of a pair beside state and action."""

    @staticmethod
    def of(
        datasets: Sequence[tuple[Demonstrations, Scaling, tuple[float, ...]]],
        dtype: torch.dtype,
        project: bool,
        needs: Sequence[str] = (),
        operators: Sequence[str] = (),
        *,
        censored: bool = False,
    ) -> tuple[Store, list[int]]:
        """Return the store, and where each dataset begins in it; `project` projects actions to A.

        Each dataset has its scaling and its lag: the action of s_t is the one shown late, a_(t+k).
        Where actions are `censored`, the columns of their bounds and sides are added.
        `needs` are those of a weighting, `operators` the names of operators 0, 1, …
        """
        obs, action, starts, begins, total = [], [], [], [], 0
        facts: dict[str, list[Tensor]] = {}
        for data, scales, lag in datasets:
            scales = scales.map(lambda x: x.to(dtype))
            begins.append(total)
            raw_obs = _tensor(data.obs, dtype)[None]
            obs.append(scales.obs(raw_obs)[0])
            raw = torch.tensor(next_actions(data, lag, scales.horizon), dtype=dtype)[None]
            action.append(scales.targets(scales.project(raw) if project else raw, raw_obs)[0])
            starts.append(torch.tensor(data.starts) + total)
            columns = _facts(data, scales, needs, operators)
            if censored:
                columns |= _bounds(data, scales, lag)
            for name, fact in columns.items():
                facts.setdefault(name, []).append(fact)
            total += len(starts[-1])
        table = {name: torch.cat(values) for name, values in facts.items()}
        return Store(torch.cat(obs), torch.cat(action), torch.cat(starts), table), begins

    def to(self, device: torch.device) -> Store:
        return replace(
            self,
            obs=self.obs.to(device),
            action=self.action.to(device),
            starts=self.starts.to(device),
            facts={name: fact.to(device) for name, fact in self.facts.items()},
        )

    def windows(self, pairs: Tensor, history: int, repeats_first: bool = False) -> Tensor:
        """Return what a policy reads at pairs (N, B): (N, B, S), or (N, B, history, S).

        Before the start of its episode a window holds zeros, or the first observation.
        """
        if history == 1:
            return self.obs[pairs]
        rows, inside = window_rows(pairs, self.starts[pairs], history)  # (N, B, history)
        return self.obs[rows] if repeats_first else self.obs[rows] * inside.unsqueeze(-1)


def _tensor(obs: Array, dtype: torch.dtype) -> Tensor:
    """Return observations as (T, S) numbers, or bytes if they are images."""
    return torch.tensor(obs, dtype=torch.uint8 if obs.ndim > 2 else dtype).flatten(1)


def _facts(
    data: Demonstrations, scales: Scaling, needs: Sequence[str], operators: Sequence[str]
) -> dict[str, Tensor]:
    """Return the columns that `Pairs` has beside state and action: (T,) each."""
    lengths = np.array([len(e) for e in data.episodes])
    like = scales.obs_mean
    facts = {"log_volume": like.new_full((int(lengths.sum()),), _log_volume(scales))}
    if "operators" in needs:
        number = [operators.index(str(e.operator)) for e in data.episodes]
        facts["operator"] = torch.tensor(np.repeat(number, lengths))
    if "expert" in needs:
        expert = [e.name in data.masks.get("expert", ()) for e in data.episodes]
        facts["expert"] = torch.tensor(np.repeat(expert, lengths)).to(like)
    if "rewards" in needs:
        rewards = [e.reward for e in data.episodes if e.reward is not None]
        to_go = np.concatenate([r[::-1].cumsum(dtype=np.float64)[::-1] for r in rewards])
        facts["to_go"] = torch.tensor(to_go).to(like)
        time = np.concatenate([np.arange(n) for n in lengths]) / lengths.max()
        facts["time"] = torch.tensor(time).to(like)
    return facts


def _bounds(data: Demonstrations, scales: Scaling, lag: tuple[float, ...]) -> dict[str, Tensor]:
    """Return the bounds of each action and the side on which it is censored: (T, A) each."""
    side = torch.tensor(lagged_sides(data, lag)).to(scales.action_low)
    bounds = {"low": scales.action_low, "high": scales.action_high}
    columns = {name: scales.action(bound)[0].expand_as(side) for name, bound in bounds.items()}
    return {SIDE: side, **columns}


def _log_volume(scales: Scaling) -> float:
    """Return log ∫_A da in the units of the policy."""
    size = scales.action_low.shape[-1]
    log_volume = size * math.log(2)
    if scales.action_set == "ball":
        log_volume = size / 2 * math.log(math.pi) - math.lgamma(size / 2 + 1)
    if not scales.scale_actions:
        log_volume += float(((scales.action_high - scales.action_low) / 2).log().sum())
    return scales.horizon * log_volume - float(scales.target_scale.log().sum())
