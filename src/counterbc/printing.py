"""Text for terminals and values for JSON: names from files are text, never commands or markup."""

from __future__ import annotations

import math
import unicodedata
from typing import Any

from rich.console import Console
from rich.progress import TextColumn

_LONGEST = 1000  # characters of a sentence; a file may have a name that fills the screen


def without_nan(value: Any) -> Any:
    """Return the value with None for NaN and infinity, which JSON does not have."""
    if isinstance(value, dict):
        return {k: without_nan(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [without_nan(v) for v in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def printable(text: str) -> str:
    """Return text with control characters written out, such as \\x1b, except for line breaks.

    A terminal would obey them. Lone surrogates, which stand for bytes that are not UTF-8, are
    written out too.
    """
    if text.isprintable():
        return text
    return "".join(c if c == "\n" or _is_harmless(c) else _written_out(c) for c in text)


def sentence(text: str) -> str:
    """Return printable text on one line, cut to a readable length."""
    line = printable(text).replace("\n", "\\n")
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}…"


def console(*, stderr: bool = False, width: int | None = None) -> Console:
    """Return a console to which text is text: square brackets and colons are no markup."""
    return Console(stderr=stderr, width=width, markup=False, emoji=False, highlight=False)


def text_column(template: str) -> TextColumn:
    """Return a column of a progress bar in which names are text."""
    return TextColumn(template, markup=False)


def _is_harmless(character: str) -> bool:
    return unicodedata.category(character) not in ("Cc", "Cf", "Cs")


def _written_out(character: str) -> str:
    return "    " if character == "\t" else character.encode("unicode_escape").decode()
