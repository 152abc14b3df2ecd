"""Terminals that cannot show everything, names that are not UTF-8, and outputs that fail."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from attack import processes, workload
from attack.part import COMMAND_LIMITS, Finding, Part
from attack.processes import Ending
from attack.rows import Row

_ODD_FOLDER = b"d\xe9mos \x1b[2J [red]"
_COMMANDS = (
    "inspect", "convert to npz", "train", "radius", "clean", "score", "report", "intents",
    "evaluate", "export", "study",
)  # fmt: skip
_ANY_NAMES = ("inspect", "convert to npz", "radius", "score", "report")
"""Commands that write no HDF5 file, whose names must not have a slash."""


def _full() -> None:
    """Let stdout be a disk that is full."""
    os.dup2(os.open("/dev/full", os.O_WRONLY), 1)


def _closed() -> None:
    """Let the reader of stdout be gone, as after `| head -1`."""
    read, write = os.pipe()
    os.close(read)
    os.dup2(write, 1)


OUTPUTS: dict[str, dict[str, Any]] = {
    "ascii": {"encoding": "ascii"},
    "cp1252": {"encoding": "cp1252"},
    "utf-16": {"encoding": "utf-16"},
    "a full disk": {"prepare": _full},
    "a closed pipe": {"prepare": _closed},
}
"""What the output is when a command starts, by name."""
LOCALES = {
    "LC_ALL=C": {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    "LC_ALL=POSIX": {"LC_ALL": "POSIX", "PYTHONUTF8": "0"},
    "ascii from the start": {"PYTHONIOENCODING": "ascii"},
    "cp1252 from the start": {"PYTHONIOENCODING": "cp1252"},
}
"""Environment variables of a process with a start of its own."""
_FAILS = ("a full disk", "a closed pipe")


def cases(count: int, seed: int) -> list[str]:
    """Return every command with every output, and some of them with every locale."""
    keys = [f"{name}/{output}" for output in OUTPUTS for name in _COMMANDS]
    return keys + [f"{name}/{locale}" for locale in LOCALES for name in _COMMANDS[:3]]


def run(key: str, scratch: Path) -> Row:
    """Run one command on odd names; it must not fail because of what it prints."""
    name, _, output = key.partition("/")
    out = Path(os.fsdecode(os.fsencode(scratch) + b"/" + _ODD_FOLDER))
    out.mkdir()
    words = workload.commands(scratch.parent / "bases", out)[name]
    if name in _ANY_NAMES:
        _write_odd_names(out / "odd.csv")
        words = [words[0], out / "odd.csv", *words[2:]]
    log = scratch / "log"
    if output in LOCALES:
        ending = processes.run(words, log, start_up=True, environment=LOCALES[output])
    else:
        ending = processes.run(words, log, **OUTPUTS[output])
    ending.check_text()
    _check(name, output, ending)
    return Row(key, "as promised", text=ending.last_line[:200])


def _write_odd_names(path: Path) -> None:
    """Write demonstrations whose columns and operators have names that no terminal should obey."""
    lines = ["episode,operator,Δ[/s],\x1b[31mcol\x1b[0m,action_é,action_1"]
    for i in range(40):
        values = ",".join(str(((i * k) % 7 - 3) / 4) for k in (1, 2, 3, 5))
        lines.append(f"{i // 10},[red]漢{i // 10 % 2},{values}")
    path.write_text("\n".join(lines) + "\n", "utf-8")


def _check(name: str, output: str, ending: Ending) -> None:
    """Accept success; a full disk needs a sentence, a reader that is gone does not."""
    is_explained = ending.last_line.startswith("error:") or output == "a closed pipe"
    if ending.status not in (0, 1) or (ending.status and output not in _FAILS):
        raise Finding("wrong exit status", f"{name}: {ending.status}", ending.text)
    if ending.status and not is_explained:
        raise Finding("bad message", f"{name}: {ending.last_line[:60]}", ending.text)
    if any(ord(c) < 32 and c not in "\n\t\r" for c in ending.text) and output != "utf-16":
        raise Finding("harm", f"{name}: control characters", repr(ending.text[-500:]))


PART = Part(
    "encodings",
    "commands × terminals, locales and outputs that fail",
    cases,
    run,
    quick=1,
    full=1,
    batch=30,
    limits=COMMAND_LIMITS,
)
