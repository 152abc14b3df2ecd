"""Journals: what a person does, appended to a file step by step, so that a crash loses nothing.

One file per episode, one JSON object per line: first a header, then one line per step, then how it
ended. Images are appended to a second file, one after the other. A line that a crash cut off is
ignored, and so is everything after it.
"""

from __future__ import annotations

import errno
import json
import os
import queue
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from counterbc.data.arrays import Array
from counterbc.errors import FormatError
from counterbc.files import writing

_SYNC = 0.5  # seconds after which what was written is forced to the disk
_LONGEST_LINE = 2**20
_OPEN_FILES = 4  # of the newest episodes; a session may have thousands


@dataclass
class JournalEpisode:
    """An episode as its journal has it."""

    header: dict[str, Any]
    steps: list[dict[str, Any]] = field(default_factory=list)
    film: Path | None = None
    """The file of the images, one after the other, if the observations are images."""
    end: str = "interrupted"
    """How it ended: over, stopped by the person, limit of the protocol, or interrupted."""
    success: bool | None = None
    is_discarded: bool = False

    @property
    def obs(self) -> Array:
        """The observation before each action: (T, S) float32, or (T, H, W, C) uint8.

        Images are read with each call: those of a whole session may not fit in memory.
        """
        if self.film is None:
            return np.array([step["obs"] for step in self.steps], np.float32)
        shape = (len(self.steps), *self.header["image"])
        if not self.steps:
            return np.zeros(shape, np.uint8)
        return np.fromfile(self.film, np.uint8, count=int(np.prod(shape))).reshape(shape)


class JournalWriter:
    """Writes the journals of one session in a thread of its own.

    Disks can be slow; a control loop must not wait for them. The first error stops all writing and
    is passed to `on_error`.
    """

    def __init__(self, folder: Path, on_error: Callable[[FormatError], None]) -> None:
        self.folder, self.on_error = folder, on_error
        self.error: FormatError | None = None
        self._queue: queue.SimpleQueue[tuple[str, bytes] | threading.Event | None]
        self._queue = queue.SimpleQueue()
        self._files: dict[str, int] = {}
        self._thread = threading.Thread(target=self._run, name="journal", daemon=True)
        self._thread.start()

    def line(self, episode: int, content: dict[str, Any]) -> None:
        """Append one line to an episode."""
        text = json.dumps(content, allow_nan=False, separators=(",", ":")) + "\n"
        self._queue.put((f"{episode:04d}.jsonl", text.encode()))

    def frame(self, episode: int, image: Array) -> None:
        """Append one image to an episode."""
        self._queue.put((f"{episode:04d}.frames", np.ascontiguousarray(image).tobytes()))

    def flush(self) -> None:
        """Wait until everything so far is on the disk; raise the first error."""
        event = threading.Event()
        self._queue.put(event)
        if not event.wait(timeout=60):
            raise FormatError(f"{self.folder} did not take the recording; check the disk")
        if self.error is not None:
            raise self.error

    def close(self) -> None:
        """Write the rest and end the thread."""
        self._queue.put(None)
        self._thread.join(timeout=60)

    def _run(self) -> None:
        synced_at, dirty = time.monotonic(), False
        while True:
            try:
                item = self._queue.get(timeout=_SYNC if dirty else None)
            except queue.Empty:
                item = ("", b"")
            if isinstance(item, tuple) and item[1] and self.error is None:
                self._append(*item)
                dirty = True
            is_due = time.monotonic() - synced_at > _SYNC or not isinstance(item, tuple)
            if dirty and is_due:
                self._sync()
                synced_at, dirty = time.monotonic(), False
            if isinstance(item, threading.Event):
                item.set()
            if item is None:
                for descriptor in self._files.values():
                    os.close(descriptor)
                return

    def _append(self, name: str, content: bytes) -> None:
        try:
            with writing(self.folder / name):
                if name not in self._files:
                    self._open(name)
                view = memoryview(content)
                while view:
                    view = view[os.write(self._files[name], view) :]
        except FormatError as error:
            self._fail(error)

    def _open(self, name: str) -> None:
        """Open a file; those of the oldest episodes are closed, and opened again if needed."""
        while len(self._files) >= _OPEN_FILES:
            descriptor = self._files.pop(next(iter(self._files)))
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
        is_new = not (self.folder / name).exists()
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
        self._files[name] = os.open(self.folder / name, flags, 0o600)
        if is_new:
            sync_folder(self.folder)

    def _sync(self) -> None:
        try:
            with writing(self.folder):
                for descriptor in self._files.values():
                    os.fsync(descriptor)
        except FormatError as error:
            self._fail(error)

    def _fail(self, error: FormatError) -> None:
        if self.error is None:
            self.error = error
            self.on_error(error)


def sync_folder(folder: Path) -> None:
    """Force the names in a folder to the disk: without them a crash loses whole files.

    A system that cannot open folders, or a file system that cannot sync them, is left alone.
    """
    with suppress(PermissionError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        except OSError as error:
            if error.errno not in (errno.EINVAL, errno.ENOTSUP):
                raise
        finally:
            os.close(descriptor)


def read_session(folder: Path) -> list[JournalEpisode]:
    """Return the episodes of a session in order; files without a whole header are left out."""
    episodes = [read_journal(path) for path in sorted(folder.glob("*.jsonl"))]
    return [e for e in episodes if e is not None]


def read_journal(path: Path) -> JournalEpisode | None:
    """Return the episode of a journal, or None if not even its header was written."""
    lines = _whole_lines(path)
    if not lines or "dataset" not in lines[0]:
        return None
    episode = JournalEpisode(header=lines[0])
    for line in lines[1:]:
        if "action" in line:
            episode.steps.append(line)
        episode.end = line.get("end", episode.end)
        episode.success = line.get("success", episode.success)
        episode.is_discarded = line.get("discard", episode.is_discarded)
    if (shape := episode.header.get("image")) is not None:
        episode.film = path.with_suffix(".frames")
        size = episode.film.stat().st_size if episode.film.exists() else 0
        episode.steps = episode.steps[: size // int(np.prod(shape))]
    return episode


def _whole_lines(path: Path) -> list[dict[str, Any]]:
    """Return the objects of the lines up to the first one that is not whole."""
    objects: list[dict[str, Any]] = []
    with path.open("rb") as file:
        while (line := file.readline(_LONGEST_LINE)).endswith(b"\n"):
            try:
                value = json.loads(line)
            except ValueError:
                break
            if not isinstance(value, dict):
                break
            objects.append(value)
    return objects
