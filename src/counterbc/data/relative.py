"""Relative actions: those that are learned as the difference to a part of the observation.

An action that is the place to move to says little alone; what was decided is how far it lies from
the place that is observed. For a relative dimension j and its observation dimension i, a policy
learns a_j − s_i, and s_i is added again when it acts.

A text names the observation dimension of each action dimension, in order, separated by commas:

    agent_x,agent_y       names of observation dimensions
    state[0:2]            a slice of an observation key; state[0] is one of its dimensions
    position              all dimensions of an observation key
    agent                 all dimensions whose name starts with this
    robot0_eef_pos,-      a dash for an absolute dimension, such as a gripper
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from counterbc.data.dimensions import (
    Named,
    dimension_text,
    dims_of_key,
    existing_dims,
    find_dims,
    is_word,
)
from counterbc.errors import DataError, OptionError

ABSOLUTE = -1
"""The place of an action dimension that is relative to nothing."""
_KEY_INSTEAD = "name it by its key, such as state[0]"


class Declaring(Named, Protocol):
    """A dataset or its header, which may declare what its actions are relative to."""

    @property
    def relative(self) -> str | None: ...


def check_relative(value: object) -> None:
    """Refuse a declaration that is not a text; what it names is looked up when it is used."""
    if value is not None and (not isinstance(value, str) or value.strip() in ("", "auto")):
        raise DataError(
            f"relative is {value!r:.40}; allowed: names of observation dimensions such as "
            "agent_x,agent_y, none for absolute actions, or None where it is not known"
        )


def relative_dims(demos: Declaring, relative: str) -> tuple[int, ...]:
    """Return for each action dimension the observation dimension that it is relative to.

    An absolute dimension has −1, and if all are absolute the result is empty. `relative` is a text
    as above, or "none", or "auto" for what the data declare.
    """
    text = (demos.relative or "none") if relative == "auto" else relative
    if text == "none":
        return ()
    if not demos.obs_keys:
        raise _refusal(text, "images have no dimension that an action can be relative to", "")
    dims = [dim for entry in _entries(demos, text) for dim in _dims(demos, text, entry.strip())]
    if len(dims) != len(demos.action_names):
        raise _refusal(
            text,
            f"that is {_count(dims, 'observation')} for {_count(demos.action_names, 'action')}",
            f"name one for each action and - for an absolute one; {existing_dims(demos)}",
        )
    return tuple(dims) if max(dims) > ABSOLUTE else ()


def relative_text(demos: Named, dims: Sequence[int]) -> str:
    """Return a text that `relative_dims` turns into these dimensions: a key, or names."""
    for key in dict(demos.obs_keys):
        if is_word(key) and dims_of_key(demos, key) == list(dims):
            return key
    return ",".join(dimension_text(demos, dim) if dim > ABSOLUTE else "-" for dim in dims)


def _entries(demos: Named, text: str) -> list[str]:
    """Return the entries of a text, which may be a single name with a comma in it."""
    names = (*dict(demos.obs_keys), *demos.obs_names)
    return [text] if text in names else text.split(",")


def _dims(demos: Named, text: str, entry: str) -> list[int]:
    """Return the observation dimensions that one entry stands for."""
    if entry == "-":
        return [ABSOLUTE]
    if (dims := find_dims(demos, entry)) is not None:
        return dims
    names = demos.obs_names
    if names.count(entry) > 1:
        raise _refusal(text, f"{names.count(entry)} dimensions are named {entry!r}", _KEY_INSTEAD)
    begins = [i for i, name in enumerate(names) if entry and name.startswith(entry)]
    if not begins:
        raise _refusal(text, f"there is no {entry!r}", existing_dims(demos))
    return begins


def _count(dims: Sequence[object], noun: str) -> str:
    return f"{len(dims)} {noun} dimension{'' if len(dims) == 1 else 's'}"


def _refusal(text: str, reason: str, allowed: str) -> OptionError:
    return OptionError(
        f"cannot make actions relative to {text!r:.80}: {reason}; "
        + (f"{allowed}; or " if allowed else "")
        + "give none for absolute actions"
    )
