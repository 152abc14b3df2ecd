"""Random numbers as functions of (seed, purpose, index): the same wherever and whenever computed.

A draw is a hash of its coordinates (the finalizer of SplitMix64), so numbers kept in memory and
numbers computed again are equal, a stopped training continues with the same ones, and one member
of a population does not change another's.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

_GOLDEN = 0x9E3779B97F4A7C15 - (1 << 64)
_FIRST = 0xBF58476D1CE4E5B9 - (1 << 64)
_SECOND = 0x94D049BB133111EB - (1 << 64)
_IN_CACHE = 1 << 14  # numbers


def _mix(x: Tensor) -> Tensor:
    """Apply a bijection of 64-bit integers in which every input bit affects every output bit."""
    x = (x ^ ((x >> 30) & ((1 << 34) - 1))) * _FIRST
    x = (x ^ ((x >> 27) & ((1 << 37) - 1))) * _SECOND
    return x ^ ((x >> 31) & ((1 << 33) - 1))


def _number(purpose: str) -> int:
    return int.from_bytes(hashlib.blake2b(purpose.encode(), digest_size=8).digest(), signed=True)


def row_keys(seed: Tensor, purpose: str, index: Tensor) -> Tensor:
    """Return the key that the numbers of each seed and index are hashed from."""
    key = _mix(_mix(seed + _GOLDEN) ^ _number(purpose))
    return _mix(key ^ _mix(index + _GOLDEN))


def bits(seed: Tensor, purpose: str, index: Tensor, count: int) -> Tensor:
    """Return hashed 64-bit integers: (…, count); … is the broadcast shape of seed and index."""
    return _hashes(row_keys(seed, purpose, index), count)


def _hashes(row: Tensor, count: int) -> Tensor:
    counter = torch.arange(1, count + 1, device=row.device) * _GOLDEN
    return _mix(row.unsqueeze(-1) + counter)


def uniform(seed: Tensor, purpose: str, index: Tensor, count: int) -> Tensor:
    """Return uniform numbers strictly between 0 and 1, float32 with 23 random bits: (…, count)."""
    row = row_keys(seed, purpose, index)
    if row.device.type == "cpu":
        numbers = _uniform(row.flatten().numpy().view(np.uint64), count, np.float32)
        return torch.from_numpy(numbers).view(*row.shape, count)
    return _fractions(_hashes(row, count))


def uniform_rows(
    seed: NDArray[Any], purpose: str, index: NDArray[Any], count: int
) -> NDArray[np.float64]:
    """Return the numbers of `uniform` for N seeds and indices, in numpy: (N, count)."""
    rows = row_keys(torch.from_numpy(seed), purpose, torch.from_numpy(index)).numpy()
    return _uniform(rows.view(np.uint64), count, np.float64)


def _fractions(words: Tensor) -> Tensor:
    """Return numbers between 0 and 1 from the upper bits of integers."""
    return ((words >> 41 & ((1 << 23) - 1)) + 0.5) * 2.0**-23


def _uniform(rows: NDArray[np.uint64], count: int, dtype: type[Any]) -> NDArray[Any]:
    """Return `_fractions(_hashes(rows, count))` on a CPU: (N, count).

    They are computed in portions and in place, so that they stay in the cache; this is ten times
    as fast on one core.
    """
    counter = np.arange(1, count + 1, dtype=np.uint64) * np.uint64(_GOLDEN + (1 << 64))
    out = np.empty((len(rows), count), dtype)
    step = max(1, _IN_CACHE // max(1, count))
    for i in range(0, len(rows), step):
        x = rows[i : i + step, None] + counter
        scratch = np.empty_like(x)
        for shift, factor in ((30, _FIRST), (27, _SECOND), (31, None)):
            np.right_shift(x, np.uint64(shift), out=scratch)
            np.bitwise_xor(x, scratch, out=x)
            if factor is not None:
                np.multiply(x, np.uint64(factor + (1 << 64)), out=x)
        np.right_shift(x, np.uint64(41), out=x)
        np.add(x, 0.5, out=out[i : i + step], casting="same_kind")
        out[i : i + step] *= 2.0**-23
    return out


def generator(seed: int, purpose: str) -> torch.Generator:
    """Return an ordinary CPU generator whose stream belongs to (seed, purpose)."""
    return next(generators([seed], purpose))


class Streams:
    """The generators of many seeds, from which numbers are drawn together: (N, …) at a time."""

    def __init__(self, seeds: Sequence[int], purpose: str) -> None:
        self.generators = list(generators(seeds, purpose))

    def rand(self, *shape: int) -> Tensor:
        """Return what `torch.rand` draws from each generator, to the bit: (N, …)."""
        numbers = torch.empty(len(self.generators), math.prod(shape))
        for row, stream in zip(numbers, self.generators, strict=True):
            row.uniform_(generator=stream)
        return numbers.view(-1, *shape)


Source = torch.Generator | Streams
"""Where initial weights are drawn from: of one network, or of many at once."""


def rand(source: Source, *shape: int) -> Tensor:
    """Return uniform numbers of one network, or of many: (N, …)."""
    if isinstance(source, Streams):
        return source.rand(*shape)
    return torch.rand(*shape, generator=source)


def generators(seeds: Sequence[int], purpose: str) -> Iterator[torch.Generator]:
    """Yield the generator of each seed; hashing many seeds at once takes as long as one."""
    keys = bits(torch.tensor(seeds), purpose, torch.tensor(0), 1).squeeze(-1)
    for key in keys.tolist():
        yield torch.Generator().manual_seed(key & ((1 << 63) - 1))
