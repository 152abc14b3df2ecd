"""Writing .npz episode by episode; the layout is told in npz.py."""

from __future__ import annotations

import json
import shutil
import zipfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np

from counterbc.data.demonstrations import Demonstrations
from counterbc.data.episode import Array
from counterbc.errors import FormatError
from counterbc.files import aside, check_free
from counterbc.formats import extras
from counterbc.formats.stream import Header, RawEpisode, Stream


def write(data: Demonstrations | Stream, path: str | Path) -> list[str]:
    """Write a file that reads back unchanged, all of it or nothing; nothing is ever lost in it."""
    path = Path(path)
    check_free(path)
    stream = Stream.of(data).checked()
    with aside(path) as temporary:
        with _columns(temporary.parent) as columns:
            told, lengths = [], []
            for r in stream.raw_episodes:
                _add(columns, r)
                told.append(extras.about(r, reward_held=True))
                lengths.append(len(r.action))
        with zipfile.ZipFile(temporary, "w") as archive:
            for column in columns.values():
                if column.rows:
                    column.copy_to(archive)
            _put(archive, "episode_ends", np.cumsum(lengths))
            if any("operator" in t for t in told):
                _put(archive, "operator", np.array([t.get("operator", "") for t in told]))
            _put(archive, "counterbc", np.array(_dumped(stream.header, told)))
    return []


class _Column:
    """An array that grows in a file of its own, since its header must tell its final length."""

    def __init__(self, path: Path) -> None:
        self.path, self.rows = path, 0
        self.file: IO[bytes] = path.open("wb")
        self.row: tuple[int, ...] = ()
        self.dtype = np.dtype(np.float32)

    def add(self, values: Array) -> None:
        self.row, self.dtype = values.shape[1:], values.dtype
        self.rows += len(values)
        self.file.write(np.ascontiguousarray(values).data)

    def copy_to(self, archive: zipfile.ZipFile) -> None:
        told = {
            "descr": np.lib.format.dtype_to_descr(self.dtype),
            "fortran_order": False,
            "shape": (self.rows, *self.row),
        }
        member = zipfile.ZipInfo(f"{self.path.stem}.npy")
        with archive.open(member, "w", force_zip64=True) as out, self.path.open("rb") as file:
            np.lib.format.write_array_header_1_0(out, told)
            shutil.copyfileobj(file, out, 2**20)


@contextmanager
def _columns(folder: Path) -> Iterator[dict[str, _Column]]:
    with ExitStack() as stack:
        columns = {
            name: _Column(folder / f"{name}.rows")
            for name in ("obs", "action", "reward", "selected")
        }
        for column in columns.values():
            stack.enter_context(column.file)
        yield columns


def _add(columns: dict[str, _Column], r: RawEpisode) -> None:
    """One episode's rows; columns that not all episodes have are filled up with what means none."""
    before, length = columns["action"].rows, len(r.action)
    columns["obs"].add(r.obs)
    columns["action"].add(r.action)
    for name, values, none in (
        ("reward", r.reward, np.float32(np.nan)), ("selected", r.selected, np.True_),
    ):  # fmt: skip
        column = columns[name]
        if values is None and not column.rows:
            continue
        if not column.rows and before:
            column.add(np.full(before, none))
        column.add(np.full(length, none) if values is None else values.astype(none.dtype))


def _put(archive: zipfile.ZipFile, name: str, values: Array) -> None:
    with archive.open(zipfile.ZipInfo(f"{name}.npy"), "w") as out:
        np.lib.format.write_array(out, values, allow_pickle=False)


def _dumped(header: Header, told: list[dict[str, Any]]) -> str:
    try:
        return json.dumps(extras.of(header, told) | {"env_args": dict(header.env_args)})
    except (TypeError, ValueError) as error:
        raise FormatError(
            f"env_args cannot be written as JSON ({error}); rename or remove what is in the way"
        ) from None
