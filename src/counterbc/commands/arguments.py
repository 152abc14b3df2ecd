"""Several values after one option: --hidden 64 64 is read as --hidden 64 --hidden 64."""

from __future__ import annotations

import typing
from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, get_args, get_origin

import tyro

_FILES = (".hdf5", ".h5", ".npz", ".csv")  # the next word, even if there is no such file
_APPENDS = get_args(tyro.conf.UseAppendAction[int])[1:]


def repeat_options(command: type, arguments: Sequence[str]) -> list[str]:
    """Return the arguments with an option before each of its values.

    The values of an option end at the next option. Those of a number end at what is no number, and
    those of a text at the name of a file, so that files may follow an option.
    """
    kinds = {f"--{name.replace('_', '-')}": kind for name, kind in _several(command)}
    words: list[str] = []
    option, values = "", 0
    for word in arguments:
        if word.startswith("--"):
            option, values = word, 0
        elif option in kinds:
            if values and not _continues(word, kinds[option]):
                option = ""
            elif values:
                words.append(option)
            values += 1
        words.append(word)
    return words


def _several(command: type) -> Iterator[tuple[str, set[Any]]]:
    """Yield each option that may be repeated, with the types of its values."""
    for f in fields(command):
        kind: Any = f.type
        while get_origin(kind) is typing.Annotated:
            if any(marker in _APPENDS for marker in kind.__metadata__):
                yield f.metadata.get("option", f.name), set(_item_types(kind.__origin__))
            kind = kind.__origin__
        if is_dataclass(kind):
            yield from _several(typing.cast("type", kind))


def _item_types(kind: Any) -> Iterator[Any]:
    """Yield the types of the items of a tuple."""
    for item in get_args(kind):
        yield from (item,) if isinstance(item, type) else get_args(item)


def _continues(word: str, kinds: set[Any]) -> bool:
    """Return whether a word is another value of an option."""
    if str in kinds:
        path = Path(word)
        return not (path.exists() or path.suffix in _FILES)
    try:
        float(word)
    except ValueError:
        return False
    return True
