"""The console script in a process of its own, and what it prints there."""

from __future__ import annotations

HEED = "import signal, sys, time; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
"""Code that lets a process heed Ctrl-C, which may be ignored where tests run."""
RUN = "from counterbc.__main__ import run; run()"


def without_loading(text: str) -> list[str]:
    """Return the lines of stderr without those about slow imports on a busy machine."""
    return [line for line in text.splitlines() if not line.startswith("loading ")]
