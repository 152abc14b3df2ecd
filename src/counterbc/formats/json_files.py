"""JSON files: read, check the types of entries, and write."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from counterbc.errors import FormatError
from counterbc.formats.guard import dataset_file
from counterbc.formats.untrusted import check_at_most

_LARGEST = 1e300  # a whole number in JSON may be too large for a float
_MAX_BYTES = 2**26  # Python takes up to 25 times as much for it

T = TypeVar("T")


def load(path: Path, kind: type[T]) -> T:
    """Return the value in a file; `kind` (dict or list) is its required type."""
    return _parse(_text(path), kind, path)


def load_lines(path: Path) -> list[dict[str, Any]]:
    """Return the objects of a JSON Lines file, one per line."""
    lines = _text(path).split("\n")  # splitlines would also split at U+2028 within a string
    return [
        _parse(line, dict, f"{path}, line {number}")
        for number, line in enumerate(lines, 1)
        if line.strip()
    ]


def dump(value: Any, path: Path) -> None:
    """Write a value as indented JSON."""
    try:
        text = json.dumps(value, indent=4)
    except (TypeError, ValueError) as error:
        raise FormatError(
            f"{path.name} could not be written because JSON cannot represent a value ({error}); "
            "rename or remove that value"
        ) from None
    path.write_text(text + "\n", "utf-8")


def loads(text: Any, kind: type[T], label: str) -> T:
    """Return the value of a JSON text that is part of a file."""
    if not isinstance(text, str):
        raise FormatError(f"{label} is {text!r:.40}; expected a JSON text; repair it")
    return _parse(text, kind, label)


def entry(values: Mapping[str, Any], key: str, kind: type[T], label: Path | str) -> T:
    """Return the value under `key` of a JSON object; it must be of type `kind`."""
    if not isinstance(value := values.get(key), kind) or (kind is int and value is True):
        problem = f"{key} is {value!r:.60}" if key in values else f"has no {key}"
        raise FormatError(f"{label}: {problem}; expected {_WORDS[kind]}; repair it")
    return value


def count(values: Mapping[str, Any], key: str, label: Path | str, minimum: int = 0) -> int:
    """Return the whole number under `key`, which must be at least `minimum`."""
    value = values.get(key)
    if not isinstance(value, int) or isinstance(value, bool) or value < minimum:
        raise FormatError(
            f"{label}: {key} is {value!r:.60}; expected a whole number of at least {minimum}; "
            "repair it"
        )
    return value


def rate(values: Mapping[str, Any], key: str, label: Path | str) -> float:
    """Return the positive number under `key`."""
    value = values.get(key)
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 < value < _LARGEST:
        raise FormatError(f"{label}: {key} is {value!r:.60}; expected a positive number; repair it")
    return float(value)


def texts(values: Mapping[str, Any], key: str, label: Path | str) -> tuple[str, ...]:
    """Return the list of texts under `key`."""
    items = entry(values, key, list, label)
    if not all(isinstance(text, str) for text in items):
        raise FormatError(f"{label}: {key} is {items!r:.60}; expected a list of texts; repair it")
    return tuple(items)


_WORDS: dict[type, str] = {
    dict: "an object",
    bool: "true or false",
    list: "a list",
    str: "a text",
    int: "a whole number",
}


def _text(path: Path) -> str:
    with dataset_file(path):
        check_at_most(str(path), path.stat().st_size, _MAX_BYTES, "bytes of metadata")
        return path.read_text("utf-8")


def _parse(text: str, kind: type[T], label: Path | str) -> T:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FormatError(
            f"{label} is not JSON ({error}); repair it or download it again"
        ) from None
    if not isinstance(value, kind):
        raise FormatError(
            f"{label} holds a JSON {type(value).__name__}; expected {_WORDS[kind]}; repair it"
        )
    return value
