"""The command line: parse the arguments, run one command, print its result."""

from __future__ import annotations

import atexit
import json
import os
import shlex
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import make_dataclass
from io import TextIOWrapper
from pathlib import Path
from types import FrameType
from typing import Any

import tyro
from rich.measure import Measurement

from counterbc.commands import COMMANDS, Command
from counterbc.data.version import __version__
from counterbc.data.waiting import use_one_blas_thread
from counterbc.errors import CannotTell, CounterBCError, unknown
from counterbc.files import interrupts, reason
from counterbc.printing import console, printable, sentence, without_nan

_AGAIN_AFTER = 0.01  # seconds


def main(
    arguments: Sequence[str] | None = None, on_parsed: Callable[[], None] = lambda: None
) -> int:
    """Run one command and return the exit status; `on_parsed` is called before it starts.

    An error with an explanation gives 1, Ctrl-C 130, SIGTERM 143; otherwise the command decides.
    """
    arguments = sys.argv[1:] if arguments is None else arguments
    if [*arguments] in (["--version"], ["version"]):
        print(f"counterbc {__version__}")
        return 0
    use_one_blas_thread(os.environ)  # before numpy is imported, which reads it once
    command = parse(arguments)
    on_parsed()
    return execute(command)


def execute(command: Command) -> int:
    """Run a command, print its result, and return the exit status."""
    warnings.showwarning = _warn
    try:
        with warnings.catch_warnings(), command.session():
            warnings.simplefilter("ignore", CannotTell)  # commands print it themselves
            payload, output = command.run()
    except CounterBCError as error:
        return _fail(f"error: {error}", 1)
    except KeyboardInterrupt as interrupt:
        return _stopped(str(interrupt))
    except Exception:
        if interrupts:  # a library turned the interrupt into an error
            return _stopped("")
        raise
    _print(payload, [*output, *_next(payload)], command.json)
    return command.status(payload)


def parse(arguments: Sequence[str]) -> Command:
    """Return the command with its options; exit with the help or an explanation instead.

    Only the command that is named gets all its options, because they import the library.
    """
    if arguments and arguments[0] == "help":  # as git and conda have it
        arguments = [*arguments[1:2], "--help"]
    if arguments and not arguments[0].startswith("-") and arguments[0] not in COMMANDS:
        sys.exit(_fail(f"error: {_unknown_command(arguments[0])}; see counterbc --help", 2))
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


def _unknown_command(word: str) -> str:
    if Path(word).exists():
        return f"{word} is no command; counterbc inspect {shlex.quote(word)} shows what is in it"
    return str(unknown("command", word, COMMANDS)).rstrip("?")


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
            print(printable(item))
        else:  # a table keeps its columns whole, also in a narrow terminal or a pipe
            wide = console(width=1000)
            console(width=Measurement.get(wide, wide.options, item).maximum).print(item)


def _next(payload: dict[str, Any]) -> list[str]:
    """Return the lines with the commands to paste next, which a result has under `next`."""
    return ["", *(f"Next: {line}" for line in payload["next"])] if payload.get("next") else []


def _fail(text: str, status: int) -> int:
    print(sentence(text), file=sys.stderr)
    return status


def _warn(message: Warning | str, *_: Any, **__: Any) -> None:
    print(sentence(f"warning: {message}"), file=sys.stderr)


def run() -> None:
    """Run the console script; an output that cannot be written is no traceback."""
    try:
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, TextIOWrapper):  # a terminal that cannot show a character
                stream.reconfigure(errors="backslashreplace")
        status = main(on_parsed=_listen)  # until then a signal need not be handled
        sys.stdout.flush()
        _ignore_signals()
    except KeyboardInterrupt:
        _ignore_signals()
        status = _stopped("")
    except BrokenPipeError:  # the reader of a pipe went away
        _ignore_signals()
        status = _without_stdout("")
    except OSError as error:  # such as a full disk
        _ignore_signals()
        status = _without_stdout(f"error: the output could not be written ({reason(error)})")
    if interrupts:
        _leave(status)
    sys.exit(status)


def _leave(status: int) -> None:
    """End the process without taking the interpreter down, which takes seconds on a busy machine.

    Functions registered for the exit are called: they end worker processes. Threads are not waited
    for, such as one in which a compiler is busy.
    """
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):  # nobody reads it any more
            stream.flush()
    os._exit(status)


def _ignore_signals() -> None:
    """Let nothing disturb the end, which is near and decided."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)


def _without_stdout(text: str) -> int:
    """Print nothing more to stdout, not even what is still in its buffer."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return _fail(text, 1) if text else 1


def _stopped(text: str) -> int:
    """Explain that a signal stopped the command; return 128 and its number."""
    return _fail(text or "stopped", 128 + (interrupts or [signal.SIGINT])[0])


def _listen() -> None:
    """Let SIGTERM stop a command as Ctrl-C does."""
    for number, handler in ((signal.SIGINT, _interrupt), (signal.SIGTERM, _terminate)):
        if signal.getsignal(number) is not signal.SIG_IGN:  # as for background jobs of a shell
            signal.signal(number, handler)
    report = sys.unraisablehook
    sys.unraisablehook = lambda args: _interrupt_again(args) if interrupts else report(args)


def _interrupt_again(args: Any) -> None:
    """Repeat an interrupt that was raised where Python ignores exceptions, such as in a callback of
    a weak reference, of which h5py has many."""
    if args.exc_type is KeyboardInterrupt and sys.platform != "win32":
        main_thread = threading.main_thread().ident
        again = threading.Timer(_AGAIN_AFTER, signal.pthread_kill, (main_thread, interrupts[-1]))
        again.daemon = True
        again.start()


def _interrupt(number: int, frame: FrameType | None) -> None:
    interrupts.append(number)
    raise KeyboardInterrupt


def _terminate(number: int, frame: FrameType | None) -> None:
    """Do what Ctrl-C does here, such as save the state of a training first."""
    interrupts.append(number)
    handler = signal.getsignal(signal.SIGINT)
    if callable(handler) and handler is not _interrupt:
        handler(signal.SIGINT, frame)
    else:
        raise KeyboardInterrupt
