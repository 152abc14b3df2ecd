"""Episodes that lie end to end in long arrays, cut out in flat memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from counterbc.data.episode import Array
from counterbc.errors import FormatError

_BLOCK = 2**22  # bytes read at once: episodes are short, and neighbours share compressed chunks


class Rows:
    """The rows of a long array, taken from its start to its end."""

    def __init__(self, read: Callable[[int, int], Array], shape: tuple[int, ...], row: int) -> None:
        """`read(start, stop)` gives rows, asked for in order; `row` is the bytes of one."""
        self._read, self._total = read, shape[0]
        self._block = max(1, _BLOCK // max(row, 1))
        self._rest, self._at = read(0, 0), 0

    def take(self, count: int) -> Array:
        """The next `count` rows, of which there must be so many."""
        parts = [self._rest[:count]]
        self._rest = self._rest[count:]
        missing = count - len(parts[0])
        while missing > 0:
            stop = min(self._total, self._at + max(self._block, missing))
            block = self._read(self._at, stop)
            self._at = stop
            parts.append(block[:missing])
            self._rest = block[missing:]
            missing -= len(parts[-1])
        return np.concatenate(parts)


def lengths_from_ends(ends: Array, total: int, what: str) -> Array:
    """How long each episode is, from the row after each one's last."""
    proper = ends.ndim == 1 and ends.dtype.kind in "iu" and len(ends) > 0
    lengths = np.diff(ends.astype(np.int64), prepend=0) if proper else ends
    if not proper or int(ends[-1]) != total or (lengths < 0).any():
        raise FormatError(
            f"{what} must be whole numbers that rise to the number of rows, {total}; "
            "each is the row after an episode's last"
        )
    return lengths


def runs(ids: Array, what: str) -> tuple[list[str], Array]:
    """The name and length of each stretch of equal ids; an id that comes back is refused."""
    changes = np.flatnonzero(ids[1:] != ids[:-1]) + 1
    starts = np.concatenate([[0], changes])
    names = [episode_name(i) for i in ids[starts].tolist()]
    check_unique(names, what)
    return names, np.diff(np.append(starts, len(ids)))


def check_unique(names: Sequence[str], what: str) -> None:
    if len(set(names)) < len(names):
        twice = next(n for i, n in enumerate(names) if n in names[:i])
        raise FormatError(
            f"{what} {twice!r} comes back after another one; put the rows of an episode together"
        )


def episode_name(value: Any) -> str:
    """demo_3 for the number 3 in whatever form, else the value as text."""
    text = value.decode(errors="replace") if isinstance(value, bytes) else str(value)
    number = text.removesuffix(".0")
    return f"demo_{int(number)}" if number.isascii() and number.isdigit() else text


def column(values: Array) -> Array:
    """(T,) as (T, 1)."""
    return values[:, None] if values.ndim == 1 else values
