"""The options that all policies of this package have, and how they change a batch.

Configurations are read by draccus, which needs annotations that are types and not texts.
"""

import math
from dataclasses import dataclass
from typing import Any

import torch
from lerobot.configs.types import FeatureType, NormalizationMode
from lerobot.utils.constants import ACTION
from torch import Tensor

PAD = "action_is_pad"


@dataclass
class CounterOptions:
    """Options of Counter-BC; `counterbc tune DATASET` chooses radius and lag from the data."""

    radius: float = 0.1
    """Δ, in units in which the recorded actions of each dimension span [−1, 1]."""
    lag: float = 0.0
    """Frames by which demonstrators acted late; a fraction lies between two frames."""
    weights_path: str | None = None
    """A Parquet file with one weight per frame, as `counterbc score --weights` writes it.
    Weights are scaled to an average of 1 over the dataset."""

    def check_counter_options(self) -> None:
        """Refuse values that mean nothing."""
        for name in ("radius", "lag"):
            value = getattr(self, name)
            if not 0 <= value < math.inf:
                raise ValueError(f"{name} is {value}; it must be 0 or more")


def lagged_indices(indices: list[int], lag: float) -> list[int]:
    """Return the frames whose actions answer the observation at 0, given those without a lag.

    A lag between two frames needs one more action, which `undo_lag` uses up.
    """
    first, extra = math.floor(lag), 1 if lag % 1 else 0
    return [i + first for i in indices] + [indices[-1] + first + 1] * extra


def undo_lag(batch: dict[str, Tensor], lag: float) -> dict[str, Tensor]:
    """Return a batch whose actions lie between those of two frames, where the lag does."""
    share = lag % 1
    if not share:
        return batch
    action, pad = batch[ACTION], batch[PAD]
    between = (1 - share) * action[:, :-1] + share * action[:, 1:]
    return {**batch, ACTION: between, PAD: pad[:, :-1] | pad[:, 1:]}


def normalized_radius(config: Any, stats: dict[str, Any] | None) -> Tensor | None:
    """Return Δ of each action dimension in the units that the policy learns in: (A,).

    None if these depend on statistics that are not there, as when a policy only acts.
    """
    size = config.action_feature.shape[0]
    mode = config.normalization_mapping.get(FeatureType.ACTION.value, NormalizationMode.IDENTITY)
    if mode is NormalizationMode.MIN_MAX:
        return torch.full((size,), config.radius)
    if stats is None or ACTION not in stats:
        return None
    values = {k: torch.as_tensor(v, dtype=torch.float64) for k, v in stats[ACTION].items()}
    units = {
        NormalizationMode.IDENTITY: lambda: torch.ones(size),
        NormalizationMode.MEAN_STD: lambda: values["std"],
        NormalizationMode.QUANTILES: lambda: (values["q99"] - values["q01"]) / 2,
        NormalizationMode.QUANTILE10: lambda: (values["q90"] - values["q10"]) / 2,
    }
    unit = units[mode]()
    ratio = (values["max"] - values["min"]) / 2 / unit.clamp(min=1e-8)
    return (config.radius * torch.where(unit > 0, ratio, 0)).float()
