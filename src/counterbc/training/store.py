"""The scaled pairs of a run, once in memory, from which steps gather by index."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import prod

import numpy as np
import torch
from torch import Tensor

from counterbc.data.arrays import Array
from counterbc.data.chunks import next_actions
from counterbc.data.demonstrations import Demonstrations
from counterbc.data.obs_rows import pack_arrays, pixel_rows
from counterbc.data.packing import pack
from counterbc.data.scaling import Scaling
from counterbc.data.windows import window_rows
from counterbc.training.censoring import lagged_sides
from counterbc.weightings.weighting import SIDE


@dataclass(frozen=True, eq=False)
class Store:
    """All pairs of all datasets in a row, in the policy's units."""

    obs: Tensor  # (T, S): the vectors; S is 0 where observations are images alone
    action: Tensor  # (T, H · A): the H actions that a policy predicts
    starts: Tensor  # (T,): the first pair of each pair's episode
    facts: dict[str, Tensor] = field(default_factory=dict)
    """(T, …) each: what weightings use of a pair beside state and action."""
    pixels: Tensor | None = None
    """(F, P) bytes: the images of each pair, once for each dataset however often it is scaled."""
    frame: Tensor | None = None
    """(T,): the row of `pixels` of each pair."""

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
        images = _Images()
        for data, scales, lag in datasets:
            scales = scales.map(lambda x: x.to(dtype))
            begins.append(total)
            images.add(data)
            raw_obs = _vectors(data, dtype)[None]
            obs.append(scales.obs(raw_obs)[0] if raw_obs.shape[-1] else raw_obs[0])
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
        store = Store(torch.cat(obs), torch.cat(action), torch.cat(starts), table)
        return replace(store, pixels=images.pixels, frame=images.frame), begins

    @property
    def obs_size(self) -> int:
        """The numbers of a vector; without one, the pixels of an observation."""
        return self.obs.shape[1] or self.row_size

    @property
    def row_size(self) -> int:
        """The numbers of a vector and the pixels of an observation."""
        return self.obs.shape[1] + (0 if self.pixels is None else self.pixels.shape[1])

    def to(self, device: torch.device) -> Store:
        return replace(
            self,
            obs=self.obs.to(device),
            action=self.action.to(device),
            starts=self.starts.to(device),
            facts={name: fact.to(device) for name, fact in self.facts.items()},
            pixels=None if self.pixels is None else self.pixels.to(device),
            frame=None if self.frame is None else self.frame.to(device),
        )

    def windows(self, pairs: Tensor, history: int, repeats_first: bool = False) -> Tensor:
        """Return what a policy reads at pairs (N, B): (N, B, S), or (N, B, history, S).

        Where there are images they are rows of bytes. Before the start of its episode a window
        holds zeros, or the first observation.
        """
        if history == 1:
            return self._rows(pairs)
        rows, inside = window_rows(pairs, self.starts[pairs], history)  # (N, B, history)
        return self._rows(rows) if repeats_first else self._rows(rows) * inside.unsqueeze(-1)

    def _rows(self, pairs: Tensor) -> Tensor:
        """Return the observations of pairs (…): (…, S), or rows of bytes."""
        if self.pixels is None or self.frame is None:
            return self.obs[pairs]
        pixels = self.pixels[self.frame[pairs]]
        return pack(pixels, self.obs[pairs]) if self.obs.shape[1] else pixels


class _Images:
    """The images of several datasets, of which some may be the same with other scales or lags."""

    def __init__(self) -> None:
        self._first: dict[tuple[int, ...], int] = {}  # row of a dataset's first image
        self._episodes: list[list[Array]] = []  # the images of each camera
        self._rows: list[Tensor] = []
        self._total = 0

    def add(self, data: Demonstrations) -> None:
        """Add the images of a dataset, unless those of another are the same arrays."""
        if not data.cameras:
            return
        episodes = [pixel_rows(e) for e in data.episodes]
        key = tuple(id(image) for images in episodes for image in images)
        count = sum(len(e) for e in data.episodes)
        if key not in self._first:
            self._first[key] = self._total
            self._total += count
            self._episodes += episodes
        self._rows.append(torch.arange(count) + self._first[key])

    @property
    def pixels(self) -> Tensor | None:
        if not self._episodes:
            return None
        size = sum(prod(image.shape[1:]) for image in self._episodes[0])
        pixels, end = torch.empty(self._total, size, dtype=torch.uint8), 0
        for images in self._episodes:  # one after the other: all of them may fill the memory
            start, end = end, end + len(images[0])
            pixels.numpy()[start:end] = pack_arrays(images, None)
        return pixels

    @property
    def frame(self) -> Tensor | None:
        return torch.cat(self._rows) if self._rows else None


def _vectors(data: Demonstrations, dtype: torch.dtype) -> Tensor:
    """Return the vectors of all pairs as (T, S) numbers, with S = 0 if there are only images."""
    if data.camera:
        return torch.empty(sum(len(e) for e in data.episodes), 0, dtype=dtype)
    return torch.tensor(data.obs, dtype=dtype)


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
