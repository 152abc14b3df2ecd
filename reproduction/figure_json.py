"""Numbers of figures to JSON and back: `numbers.json` beside a figure has the keys of its types.

A field that is None by default is left out of the file where it is None. Other fields that are
None, and numbers that are not finite, are null in the file. Metadata of a field give its key where
that is no Python name.
"""

from __future__ import annotations

import math
from dataclasses import Field, fields, is_dataclass
from pathlib import Path
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from counterbc.errors import FormatError
from counterbc.printing import without_nan

T = TypeVar("T")


def to_json(value: Any) -> Any:
    """Return dataclasses as the JSON objects of `numbers.json`."""
    if is_dataclass(value):
        values = {_key(f): (getattr(value, f.name), f.default) for f in fields(value)}
        return {
            key: to_json(entry)
            for key, (entry, default) in values.items()
            if entry is not None or default is not None
        }
    if isinstance(value, tuple | list):
        return [to_json(entry) for entry in value]
    return without_nan(value)


def from_json(kind: type[T], value: Any, path: Path, place: str) -> T:
    """Return a value of `numbers.json` as this dataclass; errors name the file and the place."""
    result: T = _read(kind, value, path, place)
    return result


def _read(kind: Any, value: Any, path: Path, place: str) -> Any:
    if is_dataclass(kind):
        hints, values = get_type_hints(kind), {}
        for f in (f for f in fields(kind) if f.init):
            key = _key(f)
            if not isinstance(value, dict) or (key not in value and f.default is not None):
                raise FormatError(
                    f"{path} lacks {key!r} in {place}; draw it again: python -m reproduction draw"
                )
            if key in value:
                values[f.name] = _read(hints[f.name], value[key], path, f"{place}, {key}")
        return kind(**values)  # type: ignore[operator]  # a class, not an instance
    if get_origin(kind) is tuple:
        return tuple(_read(get_args(kind)[0], entry, path, place) for entry in value)
    return math.nan if kind is float and value is None else value


def _key(f: Field[Any]) -> str:
    return str(f.metadata.get("key", f.name))
