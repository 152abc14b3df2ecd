"""Ctrl-C and SIGTERM at random moments of every command, its start included."""

from __future__ import annotations

import random
import re
import signal
import time
from pathlib import Path

from attack import processes, workload
from attack.part import COMMAND_LIMITS, Finding, Part
from attack.processes import Ending, Process
from attack.rows import Row

_SIGNALS = {"SIGINT": signal.SIGINT, "SIGTERM": signal.SIGTERM}
_START_UP_SHARE = 0.5
_START_UP_SECONDS = 4.0  # on a machine that does other things
_TRIES = 8
_WRONG = ("damaged", "report this", "Exception ignored", "error:", "resource_tracker")


def cases(count: int, seed: int) -> list[str]:
    """Return cases that go through all commands and both signals."""
    names = list(workload.commands(Path(), Path()))
    return [f"{names[i % len(names)]}/{list(_SIGNALS)[i % 2]}/{seed}-{i}" for i in range(count)]


def run(key: str, scratch: Path) -> Row:
    """Interrupt one command; it must say that it stopped, and leave nothing hidden behind."""
    name, signal_name, _ = key.split("/")
    number, rng = _SIGNALS[signal_name], random.Random(key)
    bases, out, log = scratch.parent / "bases", scratch / "out", scratch / "log"
    words = workload.commands(bases, out)[name]
    start_up = rng.random() < _START_UP_SHARE
    if start_up:
        seconds = _START_UP_SECONDS
    else:
        processes.clear(out)
        began = time.monotonic()
        processes.run(words, log)
        seconds = time.monotonic() - began
    for _ in range(_TRIES):
        processes.clear(out)
        moment = rng.uniform(0.05 if start_up else 0.0, seconds)
        process = Process(words, log, start_up=start_up)
        _wait_for_python(process, start_up)
        time.sleep(moment)
        process.signal(number)
        sent = time.monotonic()
        ending = process.wait()
        if ending.status != 0:
            break
        seconds *= 0.7  # it was quicker than the signal
    else:
        raise RuntimeError("the command always ended before the signal")
    _check(name, ending, number)
    if hidden := processes.leftovers(out):
        raise Finding("leftovers", f"{name}: {hidden[0][:20]}", str(hidden))
    facts = {"moment": round(moment, 2), "start_up": start_up}
    return Row(key, "as promised", facts=facts | {"ended_in": round(time.monotonic() - sent, 2)})


def _wait_for_python(process: Process, start_up: bool) -> None:
    """Wait until the process has set its handlers, which are the first thing that it does."""
    if not start_up:
        return
    status = Path(f"/proc/{process.pid}/status")
    until = time.monotonic() + 20
    while time.monotonic() < until:
        handled_signals = re.search(r"SigCgt:\s*(\w+)", status.read_text())
        if handled_signals and int(handled_signals[1], 16) >> (signal.SIGTERM - 1) & 1:
            return
        time.sleep(0.002)


def _check(name: str, ending: Ending, number: int) -> None:
    ending.check_text()
    if ending.status != 128 + number:
        raise Finding("wrong exit status", f"{name}: {ending.status}", ending.text)
    lines = [line for line in ending.text.splitlines() if line.strip()]
    if not lines or not lines[-1].lstrip("\r").startswith("stopped"):
        raise Finding("bad message", f"{name}: {ending.last_line[:60]}", ending.text)
    for text in _WRONG:
        if text in ending.text:
            raise Finding("bad message", f"{name}: {text}", ending.text)


PART = Part(
    "interrupts",
    "Ctrl-C and SIGTERM in all commands, their start included",
    cases,
    run,
    quick=38,
    full=209,
    batch=40,
    limits=COMMAND_LIMITS,
)
