"""The root cause of a finding: the exception and the innermost frame in the library."""

from __future__ import annotations

import re
import traceback
from pathlib import Path

_PACKAGE = "counterbc"
_FRAME = re.compile(r'File "([^"]*)", line (\d+) in (\S+)')
_FATAL = re.compile(r"Fatal Python error: ([^\n]*)")


def of_exception(error: BaseException) -> str:
    """Return the type of an exception and the innermost function of the library that it left."""
    frames = traceback.extract_tb(error.__traceback__)
    inside = [frame for frame in frames if f"/{_PACKAGE}/" in frame.filename]
    place = _place(inside[-1].filename, inside[-1].name) if inside else "outside the library"
    return f"{type(error).__name__} at {place}"


def of_traceback(text: str) -> str:
    """Return the same for a traceback that a process printed."""
    places = re.findall(rf'File "([^"]*/{_PACKAGE}/[^"]*)", line \d+, in (\S+)', text)
    lines = [line for line in text.splitlines() if re.match(r"[\w.]+(Error|Exception)?\b", line)]
    kind = lines[-1].partition(":")[0].rpartition(".")[2] if lines else "exception"
    return f"{kind} at {_place(*places[-1]) if places else 'outside the library'}"


def of_dump(text: str) -> str:
    """Return the fatal error, if any, and the innermost frame in what faulthandler printed."""
    fatal = _FATAL.findall(text)
    inside = [(file, name) for file, _, name in _FRAME.findall(text) if f"/{_PACKAGE}/" in file]
    place = _place(*inside[0]) if inside else "outside the library"
    return f"{fatal[-1]} at {place}" if fatal else place


def _place(file: str, function: str) -> str:
    inside = Path(file).parts
    start = len(inside) - inside[::-1].index(_PACKAGE)
    return f"{'/'.join(inside[start:])}:{function}"
