"""JSON files whose content is checked as it is read."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from counterbc.errors import FormatError

_MOST = 2**28  # bytes; a description that is larger is a mistake

T = TypeVar("T")


def load(path: Path, kind: type[T]) -> T:
    """The value in a file; `kind` is dict or list."""
    return _parsed(_text(path), kind, path)


def load_lines(path: Path) -> list[dict[str, Any]]:
    """The objects in a file that has one on each line."""
    lines = _text(path).split("\n")  # splitlines would also split at U+2028 within a string
    numbered = enumerate(lines, 1)
    return [_parsed(line, dict, f"{path}, line {i}") for i, line in numbered if line.strip()]


def dump(value: Any, path: Path) -> None:
    """Write a value, readable to people."""
    try:
        text = json.dumps(value, indent=4)
    except (TypeError, ValueError) as error:
        raise FormatError(
            f"{path.name} could not be written, JSON cannot hold it ({error}); "
            "rename or remove what it names"
        ) from None
    path.write_text(text + "\n", "utf-8")


def loads(text: Any, kind: type[T], where: str) -> T:
    """The value in a text that is part of some file."""
    if not isinstance(text, str):
        raise FormatError(f"{where} is {text!r:.40}; expected a text that holds JSON")
    return _parsed(text, kind, where)


def entry(values: Mapping[str, Any], key: str, kind: type[T], where: Path | str) -> T:
    """What a JSON object has under `key`, which must be of this kind."""
    if not isinstance(value := values.get(key), kind) or (kind is int and value is True):
        found = f"{key} is {value!r:.60}" if key in values else f"has no {key}"
        raise FormatError(f"{where}: {found}; expected {_WORDS[kind]}; repair it")
    return value


def count(values: Mapping[str, Any], key: str, where: Path | str, least: int = 0) -> int:
    """A whole number of at least `least` under `key`."""
    value = values.get(key)
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise FormatError(
            f"{where}: {key} is {value!r:.60}; expected a whole number from {least}; repair it"
        )
    return value


def rate(values: Mapping[str, Any], key: str, where: Path | str) -> float:
    """A number above 0 under `key`."""
    value = values.get(key)
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 < value < math.inf:
        raise FormatError(f"{where}: {key} is {value!r:.60}; expected a number above 0; repair it")
    return float(value)


_WORDS: dict[type, str] = {
    dict: "an object",
    bool: "true or false",
    list: "a list",
    str: "a text",
    int: "a whole number",
}


def _text(path: Path) -> str:
    try:
        if (size := path.stat().st_size) > _MOST:
            raise FormatError(f"{path} has {size} bytes; expected less than {_MOST}")
        return path.read_text("utf-8")
    except FileNotFoundError:
        raise FormatError(f"{path} is missing; copy or download the dataset again") from None
    except PermissionError:
        raise FormatError(f"{path} may not be read; check its permissions") from None
    except (OSError, UnicodeDecodeError) as error:
        raise FormatError(f"{path} cannot be read ({error}); download it again") from None


def _parsed(text: str, kind: type[T], where: Path | str) -> T:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FormatError(
            f"{where} is not JSON ({error}); repair it or download it again"
        ) from None
    if not isinstance(value, kind):
        raise FormatError(
            f"{where} holds a JSON {type(value).__name__}; expected {_WORDS[kind]}; repair it"
        )
    return value
