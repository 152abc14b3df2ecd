"""Long arrays that hold episodes end to end, read one episode at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from counterbc.data.arrays import Array
from counterbc.errors import FormatError
from counterbc.formats.untrusted import MAX_EPISODES, check_at_most

_BLOCK = 2**22  # bytes per read: short episodes share compressed chunks with their neighbours


class Rows:
    """A long array whose rows are taken from start to end."""

    def __init__(self, read: Callable[[int, int], Array], shape: tuple[int, ...], row: int) -> None:
        """`read(start, stop)` returns rows and is called in order; a row has `row` bytes."""
        self._read, self._total = read, shape[0]
        self._block = max(1, _BLOCK // max(row, 1))
        self._rest, self._at = read(0, 0), 0

    def take(self, count: int) -> Array:
        """Return the next `count` rows; the array must still have that many."""
        parts = [self._rest[:count]]
        self._rest = self._rest[count:]
        remaining = count - len(parts[0])
        while remaining > 0:
            stop = min(self._total, self._at + max(self._block, remaining))
            block = self._read(self._at, stop)
            self._at = stop
            parts.append(block[:remaining])
            self._rest = block[remaining:]
            remaining -= len(parts[-1])
        return np.concatenate(parts)


def lengths_from_ends(ends: Array, total: int, label: str) -> Array:
    """Return the length of each episode, given the row after the last row of each."""
    proper = ends.ndim == 1 and ends.dtype.kind in "iu" and len(ends) > 0
    lengths = np.diff(ends.astype(np.int64), prepend=0) if proper else ends
    if proper:
        check_at_most(label, len(ends), MAX_EPISODES, "episodes")
    if not proper or int(ends[-1]) != total or (lengths < 0).any():
        raise FormatError(
            f"{label} must be whole numbers that increase up to the number of rows, {total}; "
            "each is the row after the last row of an episode; correct the array"
        )
    return lengths


def runs(ids: Array, label: str) -> tuple[list[str], Array]:
    """Return the name and length of each run of equal ids; an id must not occur in two runs."""
    changes = np.flatnonzero(ids[1:] != ids[:-1]) + 1
    starts = np.concatenate([[0], changes])
    check_at_most(label, len(starts), MAX_EPISODES, "episodes")
    names = [episode_name(i) for i in ids[starts].tolist()]
    check_unique(names, label)
    return names, np.diff(np.append(starts, len(ids)))


def check_unique(names: Sequence[str], label: str) -> None:
    """Raise a `FormatError` if a name occurs twice."""
    if len(set(names)) < len(names):
        twice = next(n for n, count in Counter(names).items() if count > 1)
        raise FormatError(
            f"{label} {twice!r} occurs in two separate blocks of rows; sort the rows by episode"
        )


def episode_name(value: Any) -> str:
    """Return demo_3 for the number 3 in any notation, and any other value as text."""
    text = value.decode(errors="replace") if isinstance(value, bytes) else str(value)
    number = text.removesuffix(".0")
    is_number = number.isascii() and number.isdigit()
    return f"demo_{number.lstrip('0') or '0'}" if is_number else text


def join(parts: Sequence[Array]) -> Array:
    """Return arrays of T rows side by side, (T, D); one image or matrix stays as it is."""
    return column(parts[0]) if len(parts) == 1 else np.concatenate(list(map(column, parts)), axis=1)


def vector_keys(
    keys: Sequence[str], shapes: Sequence[tuple[int, ...]], label: str
) -> tuple[tuple[str, int], ...]:
    """Return the keys of an observation and their widths; none for a single image."""
    if len(shapes) == 1 and len(shapes[0]) > 2:
        return ()
    for key, shape in zip(keys, shapes, strict=True):
        if len(shape) > 2:
            raise FormatError(
                f"{label}: {key} has shape {shape}, which cannot be joined with others; choose one "
                "image or only vectors"
            )
    return tuple((key, _width(shape)) for key, shape in zip(keys, shapes, strict=True))


def dimension_names(keys: Sequence[str], shapes: Sequence[tuple[int, ...]]) -> tuple[str, ...]:
    """Return a name for each number of a row: the key, with a number where it has several."""
    names: list[str] = []
    for key, shape in zip(keys, shapes, strict=True):
        width = _width(shape)
        names += [key] if width == 1 else [f"{key}[{i}]" for i in range(width)]
    return tuple(names)


def _width(shape: tuple[int, ...]) -> int:
    return 1 if len(shape) < 2 else shape[-1]


def column(values: Array) -> Array:
    """Return an array (T,) as (T, 1); others unchanged."""
    return values[:, None] if values.ndim == 1 else values
