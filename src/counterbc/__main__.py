"""python -m counterbc, and the console script.

Importing the command line takes a moment. Until then nothing is written, so a signal ends the
process at once.
"""

from __future__ import annotations

import os
import signal
from types import FrameType


def _stop(number: int, frame: FrameType | None) -> None:
    os.write(2, b"stopped\n")
    os._exit(128 + number)


def run() -> None:
    """Run the command line."""
    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) is not signal.SIG_IGN:  # as for background jobs of a shell
            signal.signal(number, _stop)
    from counterbc import cli

    cli.run()


if __name__ == "__main__":
    run()
