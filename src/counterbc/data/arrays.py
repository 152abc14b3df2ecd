"""The type of the arrays, and the checks that every array of a dataset passes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from counterbc.errors import DataError

Array = NDArray[Any]
"""A numpy array of any type; the code that takes one says its shape."""


def read_only(array: Any, dtype: Any, label: str) -> Array:
    """Return a read-only copy as `dtype`, or with its own type for None.

    An array that owns its numbers and is read-only already is returned as it is.
    """
    is_safe = type(array) is np.ndarray and array.base is None and not array.flags.writeable
    if is_safe and dtype in (None, array.dtype):
        return array  # type: ignore[no-any-return]  # it is an array
    try:
        with np.errstate(over="ignore"):  # float64 beyond float32 becomes infinite, refused later
            out = np.array(array, dtype=dtype)
    except (TypeError, ValueError) as error:
        raise DataError(f"{label} cannot be read as numbers: {error}") from None
    out.setflags(write=False)
    return out


def check_finite(array: Array, label: str) -> None:
    """Refuse NaN and infinite values."""
    flat = array.ravel()
    with np.errstate(over="ignore"):
        square = np.dot(flat, flat)  # cheap: one NaN or infinite value makes the product so, too
    if math.isfinite(square):
        return
    bad = ~np.isfinite(array)
    if bad.any():
        row = int(np.argwhere(bad)[0][0])
        raise DataError(
            f"{label} has {int(bad.sum())} values that are NaN or infinite, the first in row {row};"
            " remove or repair those rows"
        )
