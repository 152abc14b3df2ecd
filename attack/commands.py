"""Commands of the library, run in this process."""

from __future__ import annotations

import io
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from typing import NamedTuple

from counterbc import cli
from counterbc.commands import Command

_parse_words = cli.parse


class Result(NamedTuple):
    """How a command ended and what it printed."""

    status: int
    out: str
    err: str


def run_command(*words: object) -> Result:
    """Run a command; an exception that the command line does not explain is raised.

    Parsing the options takes longer than most commands here, so it is not repeated.
    """
    out, err = io.StringIO(), io.StringIO()
    cli.parse = _parse_once
    try:
        with redirect_stdout(out), redirect_stderr(err):
            status = cli.main([str(word) for word in words])
    except SystemExit as stop:  # options that cannot be parsed
        status = stop.code if isinstance(stop.code, int) else 2
    finally:
        cli.parse = _parse_words
    return Result(status, out.getvalue(), err.getvalue())


def _parse_once(arguments: Sequence[str]) -> Command:
    return _parse(tuple(arguments))


@cache
def _parse(words: tuple[str, ...]) -> Command:
    return _parse_words(words)
