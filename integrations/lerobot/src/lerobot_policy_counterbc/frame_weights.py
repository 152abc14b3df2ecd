"""Weights of frames, read from the file that `counterbc score --weights` writes."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow.parquet as pq
import torch
from lerobot.utils.constants import ACTION
from torch import Tensor

from .counter_options import PAD, CounterOptions


class FrameWeights:
    """One weight per frame of a dataset, found by the frame's index in it.

    They are scaled to an average of 1 over all frames. So the loss keeps its size, and only the
    ratios of the weights in the file count.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = path
        table = pq.read_table(path, columns=["index", "weight"])
        index, weight = (table[name].to_numpy() for name in ("index", "weight"))
        if not len(index) or not np.array_equal(np.sort(index), np.arange(len(index))):
            raise ValueError(f"{path} does not number frames 0, 1, …; write it again")
        if not np.isfinite(weight).all() or (weight < 0).any():
            raise ValueError(f"{path} has weights below 0 or that are not numbers; write it again")
        if not (mean := weight.mean(dtype=np.float64)):
            raise ValueError(f"{path} gives all frames the weight 0; nothing is left to learn from")
        self.weight = torch.empty(len(index))
        self.weight[torch.tensor(index)] = torch.tensor(weight / mean, dtype=torch.float32)

    def at(self, index: Tensor) -> Tensor:
        """Return the weights of frames, given by their index in the dataset."""
        if int(index.max()) >= len(self.weight):
            raise ValueError(
                f"{self.path} has {len(self.weight)} weights, but the dataset has a frame "
                f"{int(index.max())}; write the weights of this dataset"
            )
        return self.weight.to(index.device)[index]


class Samples(NamedTuple):
    """How the samples of a batch count: (B,) each."""

    answered: Tensor
    """Whether an action of the episode answers the observation; others are left out of means."""
    weight: Tensor
    """What the loss of a sample is multiplied with. It is 1 on average over the dataset."""


class SampleWeights:
    """Tells how the samples of a batch count, from a policy's lag and its file of weights."""

    def __init__(self, options: CounterOptions, current: int) -> None:
        """`current` is the place of the current frame's action in a chunk."""
        self.options, self.current = options, current
        self._weights: FrameWeights | None = None

    def of(self, batch: dict[str, Tensor]) -> Samples:
        """Return how each sample counts; all count the same without a lag and weights."""
        weight = torch.ones(len(batch[ACTION]), device=batch[ACTION].device)
        answered = weight > 0
        if self.options.weights_path is not None:
            if "index" not in batch:
                raise ValueError("weights_path is set, but batches have no 'index' of their frames")
            self._weights = self._weights or FrameWeights(self.options.weights_path)
            weight = self._weights.at(batch["index"].flatten()).to(weight)
        if self.options.lag:  # the last frames of an episode have no action that answers them
            answered = ~batch[PAD][:, self.current]
        return Samples(answered, weight)


def reduce_steps(errors: Tensor, valid: Tensor | None, samples: Samples, reduction: str) -> Tensor:
    """Return the mean of weighted errors (B, H) over steps, and over samples if asked to.

        L = Σ_ih m_ih w_i e_ih / Σ_ih m_ih

    m_ih is 1 for the steps that count: those of answered samples that are `valid` (B, H). The
    weights w_i are not divided by their sum in the batch, so that a batch of light samples moves
    the parameters less. Samples with more such steps count more, as in LeRobot. With a `reduction`
    of none the result is (B,), the mean over the steps of each sample.
    """
    mask = torch.ones_like(errors) if valid is None else valid.to(errors)
    mask = mask * samples.answered.to(errors).unsqueeze(-1)
    weighted = errors * mask * samples.weight.to(errors).unsqueeze(-1)
    if reduction == "none":  # LeRobot may weight it again
        return weighted.sum(-1) / mask.sum(-1).clamp(min=1)
    return weighted.sum() / mask.sum().clamp(min=1)
