"""Commands in processes of their own, forked from this one or started as users do."""

from __future__ import annotations

import contextlib
import ctypes
import os
import shutil
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from io import BufferedWriter, FileIO, TextIOWrapper
from multiprocessing import util
from pathlib import Path

from attack import causes
from attack.part import Finding
from counterbc import cli
from counterbc.files import interrupts
from counterbc.training import loop

SAVE_EVERY = 0.05  # seconds between two saves of a training, so that there is a state to resume
_DIE_WITH_PARENT = 1  # PR_SET_PDEATHSIG
_CLAIMS = ".claims"  # where the processes of a study mark the cells they compute
_TRACEBACK = "Traceback (most recent call last)"


@dataclass(frozen=True)
class Ending:
    """How a process ended and what it printed; a negative status is a signal."""

    status: int
    text: str

    @property
    def last_line(self) -> str:
        lines = [line for line in self.text.splitlines() if line.strip()]
        return lines[-1] if lines else ""

    def check_text(self) -> None:
        """Raise a `Finding` if the process crashed or printed a traceback."""
        if _TRACEBACK in self.text:
            raise Finding("traceback", causes.of_traceback(self.text), self.text)
        if self.status in (-signal.SIGSEGV, -signal.SIGABRT, -signal.SIGBUS):
            raise Finding("crash", f"signal {-self.status}", self.text)


class Process:
    """A command that runs in a process, with everything it prints in a file."""

    def __init__(
        self,
        words: Sequence[object],
        log: Path,
        *,
        start_up: bool = False,
        environment: Mapping[str, str] | None = None,
        prepare: Callable[[], object] = lambda: None,
        encoding: str = "utf-8",
    ) -> None:
        """`start_up` includes the start of Python; `prepare` runs in the process first."""
        self.log = log
        log.write_bytes(b"")
        arguments = [os.fspath(w) if isinstance(w, Path) else str(w) for w in words]
        if start_up:
            self.pid = _spawn(arguments, log, environment, prepare)
        else:
            self.pid = _fork(arguments, log, prepare, encoding)

    def signal(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, number)

    def wait(self, seconds: float = 240.0) -> Ending:
        """Wait for the end; raise a `Finding` if it does not come."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                text = self.log.read_text(errors="replace")
                return Ending(os.waitstatus_to_exitcode(status), text)
            time.sleep(0.005)
        self.signal(signal.SIGKILL)
        os.waitpid(self.pid, 0)
        raise Finding("hang", f"no end after {seconds:.0f} s", self.log.read_text(errors="replace"))


def run(words: Sequence[object], log: Path, **options: object) -> Ending:
    """Run a command to its end."""
    return Process(words, log, **options).wait()  # type: ignore[arg-type] # passes options on


def _fork(words: Sequence[str], log: Path, prepare: Callable[[], object], encoding: str) -> int:
    sys.stdout.flush()
    if pid := os.fork():
        with contextlib.suppress(PermissionError, ProcessLookupError):
            os.setpgid(pid, pid)  # here as well, so that it is done when a signal is sent
        return pid
    status = 99
    try:
        _become_own_group()
        output = os.open(log, os.O_WRONLY | os.O_APPEND)
        os.dup2(output, 1)
        os.dup2(output, 2)
        interrupts.clear()
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        loop._SAVE_EVERY = SAVE_EVERY
        prepare()
        sys.stdout, sys.stderr = (_text_stream(n, encoding) for n in (1, 2))
        sys.argv = ["counterbc", *words]
        cli.run()
    except SystemExit as stop:
        status = stop.code if isinstance(stop.code, int) else 98
    except BaseException:
        os.write(2, traceback.format_exc().encode(errors="replace"))
    finally:
        with contextlib.suppress(BaseException):
            util._exit_function()  # type: ignore[attr-defined] # releases what workers share
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(status)


def _text_stream(descriptor: int, encoding: str) -> TextIOWrapper:
    """Return a stream for text to stdout (1) or stderr (2)."""
    return TextIOWrapper(
        BufferedWriter(FileIO(descriptor, "w", closefd=False)),
        encoding=encoding,
        line_buffering=descriptor == 2,
    )


def _become_own_group() -> None:
    """Make signals to the group reach only this process and its children."""
    with contextlib.suppress(PermissionError):
        os.setpgid(0, 0)
    ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL)


def _spawn(
    words: Sequence[str],
    log: Path,
    environment: Mapping[str, str] | None,
    prepare: Callable[[], object],
) -> int:
    def begin() -> None:
        _become_own_group()
        signal.signal(signal.SIGINT, signal.default_int_handler)
        prepare()

    heed = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
    code = heed + "from counterbc.__main__ import run; run()"
    with log.open("ab") as output:
        process = subprocess.Popen(
            [sys.executable, "-c", code, *words],
            stdout=output,
            stderr=output,
            env={**os.environ, **(environment or {})},
            preexec_fn=begin,
        )
    process.returncode = 0  # this module waits for it
    return process.pid


def leftovers(folder: Path) -> list[str]:
    """Return the hidden files and folders below a folder, which no command should leave."""
    return sorted(
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if path.name.startswith(".") and path.name != _CLAIMS
    )


def clear(folder: Path) -> None:
    """Empty a folder, or create it."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
