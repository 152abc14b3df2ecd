"""Arrays of episodes, stacked where they are equally long, so that one call serves many episodes.

Sums over the last dimensions of a stack have the bits of sums over each array alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from counterbc.data.arrays import Array

_ROWS = 2**17  # of a stack at most, so that stacks need little memory


def equal_lengths(*lists: Sequence[Array]) -> Iterator[tuple[Array, ...]]:
    """Yield indices (n,), and the arrays at these of each list, stacked: (n, T, …).

    Arrays of the same index have the same length in all lists. Empty arrays are left out.
    """
    lengths = np.array([len(x) for x in lists[0]])
    order = np.argsort(lengths, kind="stable")
    for same in np.split(order, np.flatnonzero(np.diff(lengths[order])) + 1):
        if not len(same) or not (length := int(lengths[same[0]])):
            continue
        size = max(_ROWS // length, 1)
        for begin in range(0, len(same), size):
            indices = same[begin : begin + size]
            yield indices, *(np.stack([x[i] for i in indices.tolist()]) for x in lists)
