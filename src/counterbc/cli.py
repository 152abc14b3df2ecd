"""The command line: a thin door to the library."""

from __future__ import annotations

import json
import os
import sys
import warnings
from collections.abc import Sequence
from typing import Any

import tyro
from rich.console import Console
from rich.measure import Measurement

from counterbc.commands import COMMANDS
from counterbc.errors import CounterBCError
from counterbc.json_safe import without_nan


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the status is its own, 1 for an error that was explained, 130 for Ctrl-C."""
    command = tyro.extras.subcommand_cli_from_dict(
        dict(COMMANDS),
        prog="counterbc",
        description="Learn what demonstrators meant, not what they showed.",
        args=arguments,
        sort_subcommands=False,
    )
    warnings.showwarning = _warn
    try:
        said, shown = command.run()
    except CounterBCError as error:
        return _fail(f"error: {error}", 1)
    except KeyboardInterrupt as stopped:
        return _fail(str(stopped) or "stopped", 130)
    _say(said, shown, command.json)
    return command.status(said)


def _say(said: dict[str, Any], shown: list[Any], as_json: bool) -> None:
    if as_json:
        print(json.dumps(without_nan(said), allow_nan=False))
        return
    for part in shown:
        if isinstance(part, str):
            print(part)
        else:  # a table keeps its columns whole, also in a narrow terminal or a pipe
            width = Measurement.get(Console(width=1000), Console(width=1000).options, part).maximum
            Console(width=width, highlight=False).print(part)


def _fail(text: str, status: int) -> int:
    print(text, file=sys.stderr)
    return status


def _warn(message: Warning | str, *_: Any, **__: Any) -> None:
    print(f"warning: {message}", file=sys.stderr)


def run() -> None:
    """The console script."""
    try:
        sys.exit(main())
    except BrokenPipeError:  # the reader of a pipe went away
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
