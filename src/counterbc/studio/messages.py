"""Messages from a page: JSON objects, each checked field by field before anything uses it."""

from __future__ import annotations

import json
import unicodedata
from pathlib import Path
from typing import Any

from counterbc.errors import OptionError
from counterbc.studio.limits import LONGEST_NAME

Message = dict[str, Any]
_MOST_NUMBERS = 64


def decode(text: str | bytes) -> Message:
    """Return the object of a message; it has a text `type`."""
    try:
        message = json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        raise OptionError("a message is not JSON; reload the page") from None
    if not isinstance(message, dict) or not isinstance(message.get("type"), str):
        raise OptionError("a message is not an object with a type; reload the page")
    return message


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def read_text(message: Message, key: str, longest: int = 200) -> str:
    """Return a text of a message."""
    value = message.get(key)
    if not isinstance(value, str) or len(value) > longest:
        raise OptionError(f"{key} must be a text of at most {longest} characters; enter it again")
    return value


def read_name(message: Message, key: str) -> str:
    """Return a name that a person typed: one line of visible text, whatever its alphabet."""
    name = " ".join(read_text(message, key, 4 * LONGEST_NAME).split())
    if any(unicodedata.category(c) in ("Cc", "Cf", "Cs", "Co", "Cn") for c in name):
        raise OptionError(f"{key} has invisible characters; type it again")
    if not 1 <= len(name) <= LONGEST_NAME:
        raise OptionError(f"{key} has {len(name)} characters; allowed: 1 to {LONGEST_NAME}")
    return name


def read_number(message: Message, key: str, low: float, high: float) -> float:
    """Return a number of a message between two bounds."""
    value = message.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise OptionError(f"{key} must be a number; enter it again")
    if not low <= value <= high:
        shown = f"{value:g}" if abs(value) < 1e300 else "too large"  # no float holds 10**400
        raise OptionError(f"{key} is {shown}; allowed: {low:g} to {high:g}")
    return float(value)


def read_whole(message: Message, key: str, low: int, high: int) -> int:
    """Return a whole number of a message between two bounds."""
    value = read_number(message, key, low, high)
    if value != int(value):
        raise OptionError(f"{key} is {value:g}; give a whole number")
    return int(value)


def read_vector(message: Message, key: str, size: int) -> list[float]:
    """Return a list of finite numbers of this size."""
    values = message.get(key)
    if not isinstance(values, list) or len(values) != size or size > _MOST_NUMBERS:
        raise OptionError(f"{key} must be a list of {size} numbers; reload the page")
    return [read_number({key: value}, key, -1e6, 1e6) for value in values]


def read_choice(message: Message, key: str, choices: tuple[str, ...]) -> str:
    """Return a text of a message that is one of those allowed."""
    value = read_text(message, key)
    if value not in choices:
        raise OptionError(f"{key} is {value!r}; allowed: {', '.join(choices)}")
    return value


def read_names(message: Message, key: str, limit: int = 10_000) -> list[str]:
    """Return a list of texts."""
    values = message.get(key)
    if not isinstance(values, list) or len(values) > limit:
        raise OptionError(f"{key} must be a list of at most {limit} names; reload the page")
    return [read_text({key: value}, key) for value in values]


def read_selection(message: Message, key: str, count: int) -> list[int]:
    """Return the selected rows of a table of `count` rows.

    They are sent as run lengths: rows to skip, rows to take, rows to skip, and so on. A list of
    names would be too long for one message.
    """
    runs = message.get(key)
    if not isinstance(runs, list):
        raise OptionError(f"{key} must be a list of run lengths; reload the page")
    rows, at = list[int](), 0
    for i, value in enumerate(runs):
        end = at + read_whole({key: value}, key, 0, count - at)
        rows += range(at, end) if i % 2 else ()
        at = end
    return rows


def read_listed(message: Message, key: str, listed_paths: dict[str, Path]) -> Path:
    """Return the path of a name that must be on a list, such as that of datasets."""
    name = read_text(message, key, 500)
    if name not in listed_paths:
        raise OptionError(f"{name!r:.100} is not a {key} of this study; choose a listed one")
    return listed_paths[name]
