"""The columns of a CSV file and what its comments declare about them.

Comments are lines above the row of column names, one declaration each:

    # rate: 50
    # angles: heading
    # obs: x, y, heading
    # action: vx, vy
    # low: -1, -1
    # high: 1, 1

`actions_are` and `relative` are declared the same way. Other comments are left out. A comment
right above the numbers is the row of column names, as `numpy.savetxt` writes it.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import IO, Any

import numpy as np

from counterbc.errors import FormatError
from counterbc.files import Guard

_ACTION = re.compile(r"actions?([\d_.\[-].*)?")
_EPISODES = tuple(
    f"{noun}{end}"
    for noun in ("episode", "trial", "demo", "trajectory")
    for end in ("", "_index", "_id")
)
_COUNTERS = (
    "", "Unnamed: 0", "index", "frame_index", "frame", "task_index", "timestamp", "time", "t",
    "step", "done", "dones", "terminated", "truncated", "terminal", "timeout",
)  # fmt: skip
_NAME = re.compile(r"[A-Za-z_][\w .:/()\[\]%°-]*|")  # or the empty one of pandas' index column
_FIRST_LINE = 2**20  # bytes; a longer first line is not a header row
_COMMENTS = 1000  # lines that may precede the row of column names
_DECLARATION = re.compile(r"#\s*(\w+)\s*:\s*(.*)")
_LISTS = ("obs", "action", "angles")
_BOUNDS = ("low", "high")
_TEXTS = ("actions_are", "relative")
_DECLARATIONS = (*_LISTS, *_BOUNDS, *_TEXTS, "rate")


@dataclass(frozen=True)
class Columns:
    """The names in the header row and their roles."""

    names: tuple[str, ...]
    delimiter: str
    obs_choice: tuple[str, ...] | None = None
    """The columns of the observation; None: all candidates that are not counters."""
    action_choice: tuple[str, ...] | None = None
    """The columns of the action; None: those that are named so."""
    comments: Mapping[str, str] = field(default_factory=dict)
    """What comments declare, as text."""
    other_comments: tuple[str, ...] = ()
    """Comments that declare nothing."""
    first_line: int = 2
    """The number of the line of the first pair, from 1."""

    @property
    def is_header(self) -> bool:
        """Whether there are two columns or more, all with names that look like names."""
        return len(self.names) > 1 and all(map(_NAME.fullmatch, self.names))

    @cached_property
    def action(self) -> tuple[str, ...]:
        if self.action_choice is not None:
            return self.action_choice
        return self.own_action

    @cached_property
    def own_action(self) -> tuple[str, ...]:
        """The action that the file declares, or the columns that are named so."""
        if "action" in self.comments:
            return texts(self.comments["action"])
        return tuple(c for c in self.names if _ACTION.fullmatch(c))

    @cached_property
    def unlabelled(self) -> tuple[str, ...]:
        """The columns that are no label."""
        labels = set(self.labels.values())
        return tuple(c for c in self.names if c not in labels)

    @cached_property
    def obs_candidates(self) -> tuple[str, ...]:
        """The columns that can be part of the observation."""
        return tuple(c for c in self.unlabelled if c not in self.action)

    @cached_property
    def obs(self) -> tuple[str, ...]:
        if self.obs_choice is not None:
            chosen = set(self.obs_choice)
            return tuple(c for c in self.obs_candidates if c in chosen)
        return tuple(c for c in self.obs_candidates if c not in _COUNTERS)

    @cached_property
    def labels(self) -> dict[str, str]:
        """The columns of episode, operator and reward, as far as they exist."""
        episode = next((c for c in _EPISODES if c in self.names), "episode")
        roles = {"episode": episode, "operator": "operator", "reward": "reward"}
        return {key: c for key, c in roles.items() if c in self.names}

    @cached_property
    def used_names(self) -> tuple[str, ...]:
        return (*self.labels.values(), *self.obs, *self.action)


def read_columns(path: Path) -> Columns:
    """Return the columns that the first line names, below comments if there are any."""
    with Guard(path), path.open("rb") as file:
        comments, line = _read_comments(file)
    text = _decode(line)
    if comments and _is_number(re.split("[,;\t]", text)[0]):  # as numpy.savetxt writes it
        text, line = _decode(comments.pop()).lstrip("#").strip(" "), b""
    if not text or len(line) == _FIRST_LINE or "\0" in text:
        raise FormatError(f"{path} does not begin with a row of column names; add one")
    if "\r" in text:
        raise FormatError(
            f"{path} ends its lines with carriage returns; save it with the line ends of Unix or "
            "Windows"
        )
    delimiter = max(",;\t", key=text.count)
    with Guard(path):
        names = tuple(name.strip() for name in next(csv.reader([text], delimiter=delimiter)))
    if len(set(names)) < len(names):
        twice = next(n for n, count in Counter(names).items() if count > 1)
        raise FormatError(f"{path} has two columns named {twice!r}; rename one")
    lines = [_decode(comment).rstrip(",;\t ") for comment in comments]
    matches = {line: _DECLARATION.fullmatch(line) for line in lines}
    declarations = {line: m for line, m in matches.items() if m and m[1] in _DECLARATIONS}
    return Columns(
        names,
        delimiter,
        comments={m[1]: m[2] for m in declarations.values()},
        other_comments=tuple(line for line in lines if line not in declarations),
        first_line=len(comments) + 2,
    )


def _read_comments(file: IO[bytes]) -> tuple[list[bytes], bytes]:
    """Return the lines above the row of column names, and that row."""
    comments: list[bytes] = []
    line = file.readline(_FIRST_LINE).removeprefix(b"\xef\xbb\xbf")
    while line.startswith(b"#") and len(comments) < _COMMENTS:
        comments.append(line)
        line = file.readline(_FIRST_LINE)
    return comments, line


def _decode(line: bytes) -> str:
    """Return a line as text; nothing if it is not text."""
    try:
        return line.decode("utf-8").strip("\r\n")
    except UnicodeDecodeError:
        return ""


def texts(value: str) -> tuple[str, ...]:
    """Return the entries of a list that commas separate."""
    return tuple(entry.strip() for entry in value.split(","))


def declared_facts(columns: Columns, path: Path) -> dict[str, Any]:
    """Return the fields of a `Header` that comments declare.

    Those of the action do not hold if another one than the file's own was chosen.
    """
    comments, facts = columns.comments, dict[str, Any]()
    if "rate" in comments:
        facts["rate"] = _numbers(comments["rate"], "rate", 1, path)[0]
    if "angles" in comments:
        facts["angles"] = texts(comments["angles"])
        for name in facts["angles"]:
            _check_column(name, "angles", columns.obs_candidates, path)
    if columns.own_action and columns.action != columns.own_action:
        return facts
    size = len(columns.action)
    facts |= {
        f"action_{side}": _numbers(comments[side], side, size, path)
        for side in _BOUNDS
        if side in comments
    }
    return facts | {key: comments[key] for key in _TEXTS if key in comments}


def check_declared(columns: Columns, path: Path) -> None:
    """Refuse comments that name columns which do not exist."""
    for key in ("obs", "action"):
        for name in texts(columns.comments[key]) if key in columns.comments else ():
            _check_column(name, key, columns.unlabelled, path)


def _check_column(name: str, key: str, allowed: Sequence[str], path: Path) -> None:
    if name not in allowed:
        raise FormatError(
            f"{path}: its comment {key!r} names a column {name!r} that does not exist; "
            f"allowed: {', '.join(allowed)}"
        )


def _numbers(value: str, key: str, size: int, path: Path) -> Any:
    """Return numbers that commas or spaces separate: one for all dimensions, or one for each."""
    words = value.replace(",", " ").split()
    if len(words) not in (1, size) or not all(map(_is_number, words)):
        count = "a number" if size == 1 else f"one number, or one for each of {size} actions"
        raise FormatError(
            f"{path}: its comment {key!r} is {value!r:.60}; expected {count}; correct it"
        )
    return np.broadcast_to(np.array(words, np.float64), (size,))


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
