"""The items of a LeRobot dataset without images, kept in memory.

LeRobot's `train` takes an Accelerator, and lets it prepare the loader of its batches. So one that
prepares a faster loader of the same batches needs no change of LeRobot.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from accelerate import Accelerator
from torch import Tensor
from torch.utils.data import DataLoader, Dataset

CHECKED = 20
"""Random items that are compared with LeRobot's own."""


class InMemoryAccelerator(Accelerator):  # type: ignore[misc]
    """The Accelerator that LeRobot makes for one process, with a loader that reads memory."""

    def __init__(self, device: str) -> None:
        super().__init__(step_scheduler_with_optimizer=False, cpu=device == "cpu")

    def prepare_data_loader(self, data_loader: Any, *args: Any, **kwargs: Any) -> Any:
        """Prepare a loader of the same batches in the same order."""
        fast = DataLoader(
            InMemory(data_loader.dataset), batch_size=data_loader.batch_size,
            sampler=data_loader.sampler, drop_last=data_loader.drop_last,
            collate_fn=complete, pin_memory=data_loader.pin_memory,
        )  # fmt: skip
        return super().prepare_data_loader(fast, *args, **kwargs)


def complete(batch: dict[str, Any]) -> dict[str, Any]:
    """Return a batch that needs no collation as it is."""
    return batch


class InMemory(Dataset):  # type: ignore[type-arg]
    """The batches of a LeRobot dataset, as slices of tensors.

    Some items are compared with those of LeRobot's loader, and must be the same.
    """

    def __init__(self, dataset: Any) -> None:
        self.dataset = dataset
        raw = dataset.hf_dataset.with_format("numpy")[:]
        self.columns = {name: torch.from_numpy(np.stack(raw[name])) for name in raw}
        self.columns = {
            k: v.float() if v.is_floating_point() else v for k, v in self.columns.items()
        }
        episode = self.columns["episode_index"]
        _, lengths = torch.unique_consecutive(episode, return_counts=True)
        ends = lengths.cumsum(0)
        self.first = (ends - lengths).repeat_interleave(lengths)  # (N,) of each frame's episode
        self.last = (ends - 1).repeat_interleave(lengths)
        self.task = dataset[0]["task"]
        for index in np.random.default_rng(0).integers(0, len(self), CHECKED).tolist():
            self._check(index)

    def __len__(self) -> int:
        return len(self.dataset)

    def __getitems__(self, indices: list[int]) -> dict[str, Any]:
        return {**self.batch(torch.tensor(indices)), "task": [self.task] * len(indices)}

    def batch(self, index: Tensor) -> dict[str, Tensor]:
        """Return the items at indices, (B, …) each."""
        items = {name: column[index] for name, column in self.columns.items()}
        for name, deltas in (self.dataset.reader.delta_indices or {}).items():
            wanted = index[:, None] + torch.tensor(deltas)  # (B, H)
            first, last = self.first[index][:, None], self.last[index][:, None]
            items[name] = self.columns[name][wanted.clamp(first, last)]
            items[f"{name}_is_pad"] = (wanted < first) | (wanted > last)
        return items

    def _check(self, index: int) -> None:
        batch, theirs = self.__getitems__([index]), self.dataset[index]
        ours = {name: values[0] for name, values in batch.items()}
        if set(ours) != set(theirs):
            raise ValueError(f"items have {set(ours) ^ set(theirs)} in one of two loaders only")
        for name, value in theirs.items():
            is_same = (
                torch.equal(ours[name], value) if isinstance(value, Tensor) else ours[name] == value
            )
            if not is_same:
                raise ValueError(f"{name} of item {index} is {ours[name]}, LeRobot's is {value}")
