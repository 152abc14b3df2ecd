"""python -m counterbc, and the console script.

Importing the command line and torch takes a while on a busy machine, so that slow imports are
announced. Until the options are known nothing is written, so a signal ends the process at once.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from types import FrameType

_SLOW = 1.0  # seconds after which an import is announced
_LINE_EVERY = 10.0  # seconds between two lines about one import
_LOOK_EVERY = 0.1  # seconds


def importing() -> str:
    """Return the name of a package that is being imported, if possible not this one, or ""."""
    modules = list(sys.modules.items())
    specs = ((name, getattr(module, "__spec__", None)) for name, module in modules)
    names = [name.partition(".")[0] for name, s in specs if getattr(s, "_initializing", False)]
    return next((name for name in names if name != "counterbc"), names[0] if names else "")


class ImportWatch:
    """Announces imports that take longer than a second, at most every ten seconds."""

    def __init__(self) -> None:
        self.began = self.said_at = -1.0
        """Times at which the present import began and was announced; -1 for neither."""
        self._is_over = threading.Event()

    def line(self, name: str, now: float) -> str:
        """Return what to print while a package is imported, or nothing (`name` is "" for none)."""
        if not name:
            self.began = -1.0
            return ""
        if self.began < 0:
            self.began = now
        due = self.began + _SLOW if self.said_at < self.began else self.said_at + _LINE_EVERY
        if now < due:
            return ""
        self.said_at = now
        seconds = round(now - self.began)
        return f"loading {name}" + (f", {seconds} seconds so far" if seconds > _SLOW else "")

    def run(self) -> None:
        """Print to stderr whatever is announced, until `stop` or the end of the process."""
        while not self._is_over.wait(_LOOK_EVERY):
            if line := self.line(importing(), time.monotonic()):
                os.write(2, f"{line}\n".encode())

    def stop(self) -> None:
        """Announce nothing more: looking for imports takes time from a control loop."""
        self._is_over.set()


def _stop(number: int, frame: FrameType | None) -> None:
    os.write(2, b"stopped\n")
    os._exit(128 + number)


def run() -> None:
    """Run the command line."""
    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) is not signal.SIG_IGN:  # as for background jobs of a shell
            signal.signal(number, _stop)
    watch = ImportWatch()
    threading.Thread(target=watch.run, name="imports", daemon=True).start()
    from counterbc import cli
    from counterbc.commands import command

    command.before_real_time.append(watch.stop)
    cli.run()


if __name__ == "__main__":
    run()
