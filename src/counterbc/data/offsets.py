"""Offsets: how far each operator acts to one side of what is meant, always by the same amount.

An operator with the offset b shows a = a* + b. The action learned is a − b.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from counterbc.data.demonstrations import Demonstrations
from counterbc.errors import OptionError, unknown

Offsets = tuple[tuple[str, tuple[float, ...]], ...]
"""The operators who have an offset: (name, one number per action dimension, in its units) each."""
NO_OFFSETS: Offsets = ()
ALLOWED_OFFSETS = 'auto, none, or the offset of each operator, such as {"operator_3": [0.12, 0]}'


def offsets_json(offsets: Mapping[str, float | Sequence[float]]) -> str:
    """Return offsets by operator as the text that settings keep."""
    return json.dumps(dict(offsets), default=lambda x: getattr(x, "tolist", lambda: str(x))())


def is_offsets(text: str) -> bool:
    """Return whether a text is auto, none, or a JSON object with numbers for each operator."""
    if text in ("auto", "none"):
        return True
    try:
        parse_offsets(text)
    except ValueError:
        return False
    return True


def parse_offsets(text: str) -> Offsets:
    """Return the offsets in a JSON object; ValueError if it is none."""
    values: Any = json.loads(text)
    if not isinstance(values, dict):
        raise ValueError("not a JSON object")
    try:
        rows = {name: np.atleast_1d(np.asarray(v, float)) for name, v in values.items()}
    except TypeError as error:
        raise ValueError(str(error)) from None
    if not all(row.ndim == 1 and np.isfinite(row).all() for row in rows.values()):
        raise ValueError("not one number per action dimension")
    return tuple((str(name), tuple(row.tolist())) for name, row in rows.items() if row.any())


def offsets_of(text: str, demos: Demonstrations) -> Offsets:
    """Return offsets that were given for a dataset, which must have the operators they name."""
    offsets = NO_OFFSETS if text == "none" else parse_offsets(text)
    for name, offset in offsets:
        if name not in demos.operators:
            raise unknown("operator", name, demos.operators or ("none is recorded",))
        if len(offset) != demos.action_size:
            raise OptionError(
                f"the offset of {name} has {len(offset)} numbers; actions have {demos.action_size} "
                "dimensions; give one number for each"
            )
    return offsets


def remove_offsets(demos: Demonstrations, offsets: Offsets) -> Demonstrations:
    """Return the demonstrations with the action a − b of each operator who has an offset b.

    Operators that the dataset does not have are ignored.
    """
    if not offsets:
        return demos
    by_name = {name: np.array(offset, np.float32) for name, offset in offsets}
    episodes = tuple(
        replace(e, action=e.action - by_name[e.operator]) if e.operator in by_name else e
        for e in demos.episodes
    )
    return replace(demos, episodes=episodes)


def offset_text(name: str, value: float, se: float | None = None) -> str:
    """Return one offset in words, such as "0.12 ± 0.02 too high in steer"."""
    size = f"{abs(value):.2g}" + ("" if se is None else f" ± {se:.1g}")
    return f"{size} too {'high' if value > 0 else 'low'} in {name}"
