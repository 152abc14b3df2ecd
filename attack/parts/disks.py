"""Full disks: every command that writes, into a file system with a few blocks left."""

from __future__ import annotations

import os
import resource
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from attack import processes, workload
from attack.part import COMMAND_LIMITS, Finding, Part
from attack.processes import Ending
from attack.rows import Row

LEVELS = (0, 1, 3, 8, 20)
"""Blocks of 4096 bytes that are free."""
_BLOCK, _DISK = 4096, "2m"
_EARLIER = "an earlier result"
_RESUMABLE = (
    "run/config.json", "run/model.safetensors", "run/training.safetensors", "run.search/",
    "study/cells/", "study/rows.parquet", "study/summary.json",
)  # fmt: skip
"""What a training and a study that stopped keep to resume from, each file whole."""


def cases(count: int, seed: int) -> list[str]:
    """Return every command that writes at every level; there are no more cases than these."""
    names = [n for n in workload.commands(Path(), Path()) if n not in workload.READ_ONLY]
    return [f"{name}/{level}" for level in LEVELS for name in names]


def run(key: str, scratch: Path) -> Row:
    """Run one command on a full disk: a sentence and nothing left, or success."""
    name, _, level = key.partition("/")
    with _disk(scratch, int(level)) as (place, prepare):
        (place / "keep").write_text(_EARLIER)
        _fill(place, int(level))
        words = workload.commands(scratch.parent / "bases", place)[name]
        before = _files(place)
        ending = processes.run(words, scratch / "log", prepare=prepare)
        ending.check_text()
        if (place / "keep").read_text() != _EARLIER:
            raise Finding("lost", f"{name}: an earlier result")
        _check(name, ending, [file for file in _files(place) if file not in before])
    outcome = "refused" if ending.status else "as promised"
    return Row(key, outcome, text=ending.last_line)


def _check(name: str, ending: Ending, new_files: list[str]) -> None:
    if ending.status == 0:
        return
    if ending.status != 1:
        raise Finding("wrong exit status", f"{name}: {ending.status}", ending.text)
    if not ending.last_line.startswith("error:"):
        raise Finding("bad message", f"{name}: {ending.last_line[:60]}", ending.text)
    left = [file for file in new_files if not file.startswith(_RESUMABLE)]
    if left:
        raise Finding("leftovers", f"{name}: {left[0]}", f"{left} {ending.text}")


def _files(place: Path) -> list[str]:
    return sorted(str(p.relative_to(place)) for p in place.rglob("*") if p.is_file())


@contextmanager
def _disk(scratch: Path, level: int) -> Iterator[tuple[Path, Callable[[], object]]]:
    """Yield a folder on a small disk, or, without the right to mount one, a limit on files."""
    place = scratch / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={_DISK}", "tmpfs", str(place)]
    if os.geteuid() == 0 and subprocess.run(mount, capture_output=True).returncode == 0:
        try:
            yield place, lambda: None
        finally:
            subprocess.run(["umount", "-l", str(place)], check=True)
        return
    size = level * _BLOCK
    yield place, lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def _fill(place: Path, level: int) -> None:
    """Use up a small disk, except for `level` blocks."""
    status = os.statvfs(place)
    if status.f_blocks * status.f_frsize > 2**22:  # not a small disk, but a limit on files
        return
    with (place / "filler").open("wb") as file:
        file.write(bytes(max(0, status.f_bavail - level) * status.f_frsize))


PART = Part(
    "disks",
    "commands that write × five levels of a full disk",
    cases,
    run,
    quick=1,
    full=1,
    batch=30,
    limits=COMMAND_LIMITS,
)
