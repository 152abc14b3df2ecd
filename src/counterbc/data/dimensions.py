"""The dimensions of an observation, by name.

agent_x           the name of a dimension
state[0:2]        a slice of an observation key; state[0] is one of its dimensions
position          all dimensions of an observation key
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Protocol

from counterbc.data.names import shorten
from counterbc.errors import DataError

_PART = re.compile(r"(.+)\[(\d+)(?:(:)(\d+))?\]")  # key[3] or key[0:3]


class Named(Protocol):
    """A dataset or its header, with a name for each dimension."""

    @property
    def action_names(self) -> tuple[str, ...]: ...
    @property
    def obs_names(self) -> tuple[str, ...]: ...
    @property
    def obs_keys(self) -> tuple[tuple[str, int], ...]: ...


def find_dims(demos: Named, entry: str) -> list[int] | None:
    """Return the observation dimensions that an entry stands for; None if it names nothing, or a
    name that several dimensions have."""
    if (in_key := dims_of_key(demos, entry)) is not None:
        return in_key
    return [demos.obs_names.index(entry)] if demos.obs_names.count(entry) == 1 else None


def dims_of(demos: Named, entries: Iterable[str]) -> tuple[int, ...]:
    """Return the dimensions that entries stand for, in order; unknown entries are skipped."""
    return tuple(sorted({dim for entry in entries for dim in find_dims(demos, entry) or ()}))


def dims_of_key(demos: Named, entry: str) -> list[int] | None:
    """Return the dimensions of a whole key or of a part of one; None for anything else."""
    end, spans = 0, {}
    for key, width in demos.obs_keys:
        spans[key] = range(end, end + width)
        end += width
    if entry in spans:
        return list(spans[entry])
    part = _PART.fullmatch(entry)
    if part is None or part[1] not in spans or entry in demos.obs_names:
        return None
    key, first, colon, last = part.groups()
    begin, stop = int(first), int(last) if colon else int(first) + 1
    if not begin < stop <= len(spans[key]):
        return None
    return list(spans[key][begin:stop])


def dimension_text(demos: Named, dim: int) -> str:
    """Return an entry that stands for this dimension alone: its name, or a part of its key."""
    name = demos.obs_names[dim]
    if is_word(name) and find_dims(demos, name) == [dim]:
        return name
    key, index = [(key, i) for key, width in demos.obs_keys for i in range(width)][dim]
    return f"{key}[{index}]"


def is_word(name: str) -> bool:
    """Return whether a name can stand in a list that commas separate."""
    return name.strip() == name and name not in ("", "-", "none", "auto") and "," not in name


def existing_dims(demos: Named) -> str:
    """Return the keys and the dimensions in words."""
    keys = [f"{key} ({width})" for key, width in demos.obs_keys]
    return f"keys: {shorten(keys)}; dimensions: {shorten(demos.obs_names, 12)}"


def checked_angles(demos: Named, angles: Sequence[str]) -> tuple[str, ...]:
    """Return one entry for each observation dimension that is an angle, in order of dimensions."""
    check_angles(demos, angles)
    return tuple(dimension_text(demos, dim) for dim in dims_of(demos, angles))


def check_angles(demos: Named, angles: Sequence[str]) -> None:
    """Refuse angles that are not among the observations."""
    if isinstance(angles, str) or not all(isinstance(entry, str) for entry in angles):
        raise DataError(f"angles is {angles!r:.60}; expected a list of observation dimensions")
    if angles and not demos.obs_keys:
        raise DataError(
            f"{shorten(angles)} cannot be an angle: observations are images, which have none; "
            "leave --angle out, or choose vectors with --obs"
        )
    for entry in angles:
        if find_dims(demos, entry) is None:
            raise _no_angle(demos, entry)


def known_angles(demos: Named, angles: Sequence[str]) -> tuple[str, ...]:
    """Return the angles that are among the observations, of which a reader may choose some."""
    return tuple(entry for entry in angles if find_dims(demos, entry) is not None)


def _no_angle(demos: Named, entry: str) -> DataError:
    if entry in demos.action_names:
        return DataError(
            f"{entry!r} is an action; only observations can be declared angles, because policies "
            "predict numbers that do not wrap: record its cosine and sine, or how far to turn"
        )
    count = demos.obs_names.count(entry)
    reason = f"{count} dimensions are named so" if count else "there is no such observation"
    return DataError(
        f"{entry!r} cannot be an angle: {reason}; give KEY[INDEX] or the name of a dimension; "
        f"{existing_dims(demos)}"
    )
