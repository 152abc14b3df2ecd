"""What small arrays of an .npz file declare: bounds, angles and rate."""

from __future__ import annotations

from typing import Any

import numpy as np

from counterbc.data.dimensions import check_angles
from counterbc.errors import FormatError
from counterbc.formats.npz.members import Members
from counterbc.formats.stream import Header

ARRAYS = ("low", "high", "angles", "rate")
"""The names of the arrays that declare something."""
_RENAME = "rename it if it is something else"


def read_bounds(members: Members, size: int) -> dict[str, Any]:
    """Return one lower and one upper bound for each of `size` action dimensions, if declared."""
    bounds = {}
    for name in ("low", "high"):
        if name not in members.names:
            continue
        values = members.array(name)
        if values.dtype.kind not in "iuf" or values.shape not in ((), (1,), (size,)):
            raise FormatError(
                f"{members.path}: {name} has shape {values.shape}; expected one number, or one "
                f"bound for each of {size} action dimensions; {_RENAME}"
            )
        bounds[f"action_{name}"] = np.broadcast_to(values, (size,))
    return bounds


def read_angles(members: Members, header: Header) -> dict[str, Any]:
    """Return the observation dimensions that are angles; those of arrays not read are dropped."""
    if "angles" not in members.names:
        return {}
    entries = members.array("angles")
    if entries.dtype.kind != "U" or entries.ndim > 1:
        raise FormatError(
            f"{members.path}: angles has type {entries.dtype} and shape {entries.shape}; "
            f"expected a list of names such as state[2]; {_RENAME}"
        )
    keys = dict(header.obs_keys)
    absent = {*members.names, "state"} - keys.keys()  # state is the key of the array obs
    angles = [a for a in np.atleast_1d(entries).tolist() if a.split("[")[0] not in absent]
    check_angles(header, angles)
    return {"angles": tuple(angles)}


def read_rate(members: Members) -> dict[str, Any]:
    """Return the pairs per second, if declared."""
    if "rate" not in members.names:
        return {}
    rate = members.array("rate")
    if rate.size != 1 or rate.dtype.kind not in "iuf":
        raise FormatError(
            f"{members.path}: rate has shape {rate.shape}; expected one number, the pairs per "
            f"second; {_RENAME}"
        )
    return {"rate": float(rate.reshape(()))}
