"""What to type instead of a value that an option does not take, and where a value is missing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass
from typing import Annotated, Any, Literal, cast, get_args, get_origin

_NOUNS = {int: "an integer", float: "a number"}


def wrong_value(command: type, prog: str, words: Sequence[str]) -> str:
    """Return a sentence about the first option with no value, or one it does not take; empty if
    there is none. `words` have an option before each of its values."""
    kinds = dict(_kinds(command))
    for i, word in enumerate(words):
        if word == "--":
            break
        name, equals, value = word.partition("=")
        option = name.removeprefix("--").replace("_", "-")
        allowed = kinds.get(option, set()) if word.startswith("--") else set()
        if not allowed or bool in allowed:  # a flag has no value, or may have one
            continue
        if not equals:
            if i + 1 == len(words) or words[i + 1].startswith("--"):
                return f"{prog} --{option} has no value; give one or more, or leave it out"
            value = words[i + 1]
        if not _is_taken(value, allowed):
            return f"{prog} --{option} {value}: {_advice(option, value, allowed)}"
    return ""


def _kinds(command: type) -> Iterator[tuple[str, set[Any]]]:
    """Yield each option with the types of its value; words that it takes are among them."""
    for f in fields(command):
        kind: Any = f.type
        while get_origin(kind) is Annotated:
            kind = get_args(kind)[0]
        if is_dataclass(kind):
            yield from _kinds(cast("type", kind))
        else:
            yield f.metadata.get("option", f.name).replace("_", "-"), set(_leaves(kind))


def _leaves(kind: Any) -> Iterator[Any]:
    """Yield the types within unions and tuples, and the words of literals."""
    members = get_args(kind)
    if get_origin(kind) is Literal or not members:
        yield from members or (kind,)
        return
    for member in members:
        if member is not ...:
            yield from _leaves(member)


def _is_taken(value: str, allowed: set[Any]) -> bool:
    """Return whether an option takes a value; tyro checks types that are not numbers or words."""
    if allowed - {int, float, type(None)} - {a for a in allowed if isinstance(a, str)}:
        return True
    return value in allowed or any(_reads(value, kind) for kind in _NOUNS if kind in allowed)


def _reads(value: str, kind: Any) -> bool:
    try:
        kind(value)
    except ValueError:
        return False
    return True


def _advice(option: str, value: str, allowed: set[Any]) -> str:
    """Return what to type instead, as the end of a sentence."""
    parts = [part.strip() for part in value.split(",")]
    if len(parts) > 1 and all(part and _is_taken(part, allowed) for part in parts):
        return f"separate values by spaces: --{option} {' '.join(parts)}"
    if int in allowed and _reads(value, float) and float(value).is_integer():
        return f"write the integer in digits: --{option} {int(float(value))}"
    nouns = [_NOUNS[kind] for kind in _NOUNS if kind in allowed]
    nouns += sorted(word for word in allowed if isinstance(word, str))
    return f"give {' or '.join(nouns)}"
