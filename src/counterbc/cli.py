"""The command line: parse the arguments, run one command, print its result."""

from __future__ import annotations

import json
import os
import sys
import warnings
from collections.abc import Sequence
from dataclasses import make_dataclass
from typing import Any

import tyro
from rich.console import Console
from rich.measure import Measurement

from counterbc.commands import COMMANDS, Command
from counterbc.errors import CounterBCError
from counterbc.json_safe import without_nan


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return the exit status.

    An error with an explanation gives 1, Ctrl-C 130; otherwise the command decides.
    """
    command = parse(sys.argv[1:] if arguments is None else arguments)
    warnings.showwarning = _warn
    try:
        payload, output = command.run()
    except CounterBCError as error:
        return _fail(f"error: {error}", 1)
    except KeyboardInterrupt as interrupt:
        return _fail(str(interrupt) or "stopped", 130)
    _print(payload, output, command.json)
    return command.status(payload)


def parse(arguments: Sequence[str]) -> Command:
    """Return the command with its options; exit with the help or an explanation instead.

    Only the command that is named gets all its options, because they import the library.
    """
    if arguments and arguments[0] in COMMANDS:
        name, *options = arguments
        return COMMANDS[name].parse(f"counterbc {name}", options)
    return tyro.extras.subcommand_cli_from_dict(  # prints the list of commands, and exits
        {name: _stand_in(command) for name, command in COMMANDS.items()},
        prog="counterbc",
        description="Learn what demonstrators meant, not what they showed.",
        args=arguments,
        sort_subcommands=False,
    )


def _stand_in(command: type[Command]) -> type[Command]:
    """Return the first sentence of a command without its options, for the list of commands."""
    text = (command.__doc__ or "").split("\n\n")[0]
    return make_dataclass(command.__name__, [], namespace={"__doc__": text})


def _print(payload: dict[str, Any], output: list[Any], as_json: bool) -> None:
    if as_json:
        print(json.dumps(without_nan(payload), allow_nan=False))
        return
    for item in output:
        if isinstance(item, str):
            print(item)
        else:  # a table keeps its columns whole, also in a narrow terminal or a pipe
            width = Measurement.get(Console(width=1000), Console(width=1000).options, item).maximum
            Console(width=width, highlight=False).print(item)


def _fail(text: str, status: int) -> int:
    print(text, file=sys.stderr)
    return status


def _warn(message: Warning | str, *_: Any, **__: Any) -> None:
    print(f"warning: {message}", file=sys.stderr)


def run() -> None:
    """Run the console script."""
    try:
        sys.exit(main())
    except BrokenPipeError:  # the reader of a pipe went away
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
