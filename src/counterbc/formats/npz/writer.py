"""Write .npz episode by episode, in the layout that the package describes."""

from __future__ import annotations

import json
import shutil
import zipfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import chain
from pathlib import Path
from typing import IO, Any

import numpy as np

from counterbc.data.arrays import Array
from counterbc.data.demonstrations import Demonstrations
from counterbc.errors import FormatError
from counterbc.files import aside, check_free
from counterbc.formats.extras import describe, extras_json
from counterbc.formats.stream import Header, RawEpisode, Stream, camera_names


def write(data: Demonstrations | Stream, path: str | Path) -> list[str]:
    """Write a file that reads back unchanged; on failure no file remains. Nothing is lost."""
    path = Path(path)
    check_free(path)
    stream = Stream.of(data).checked()
    with aside(path) as temporary:
        first = next(stream.raw_episodes)  # `checked` refuses a dataset without episodes
        cameras = camera_names(stream.header, first)
        with _columns(temporary.parent, len(first.images)) as columns:
            episodes, lengths = [], []
            for raw in chain([first], stream.raw_episodes):
                _add(columns, raw)
                episodes.append(describe(raw, stores_reward=True))
                lengths.append(len(raw.action))
        with zipfile.ZipFile(temporary, "w") as archive:
            for column in columns.values():
                if column.rows:
                    column.copy_to(archive)
            _put(archive, "episode_ends", np.cumsum(lengths))
            if any("operator" in e for e in episodes):
                _put(archive, "operator", np.array([e.get("operator", "") for e in episodes]))
            _put(archive, "counterbc", np.array(_json(stream.header, episodes, cameras)))
    return []


def camera_array(number: int) -> str:
    """Return the name of the array of a camera beside `obs`; cameras may have any names."""
    return f"camera_{number}"


class _Column:
    """An array that grows in a temporary file, since its header must state the final length."""

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
        npy_header = {
            "descr": np.lib.format.dtype_to_descr(self.dtype),
            "fortran_order": False,
            "shape": (self.rows, *self.row),
        }
        member = zipfile.ZipInfo(f"{self.path.stem}.npy")
        with archive.open(member, "w", force_zip64=True) as out, self.path.open("rb") as file:
            np.lib.format.write_array_header_1_0(out, npy_header)
            shutil.copyfileobj(file, out, 2**20)


@contextmanager
def _columns(folder: Path, cameras: int) -> Iterator[dict[str, _Column]]:
    """Open a temporary file for each array."""
    names = ("obs", *map(camera_array, range(cameras)), "action", "reward", "selected")
    with ExitStack() as stack:
        columns = {name: _Column(folder / f"{name}.rows") for name in names}
        for column in columns.values():
            stack.enter_context(column.file)
        yield columns


def _add(columns: dict[str, _Column], raw: RawEpisode) -> None:
    """Append the rows of one episode; fill values stand for what an episode does not have."""
    before, length = columns["action"].rows, len(raw.action)
    columns["obs"].add(raw.obs)
    for i, image in enumerate(raw.images.values()):
        columns[camera_array(i)].add(image)
    columns["action"].add(raw.action)
    for name, values, fill in (
        ("reward", raw.reward, np.float32(np.nan)), ("selected", raw.selected, np.True_),
    ):  # fmt: skip
        column = columns[name]
        if values is None and not column.rows:
            continue
        if not column.rows and before:
            column.add(np.full(before, fill))
        column.add(np.full(length, fill) if values is None else values.astype(fill.dtype))


def _put(archive: zipfile.ZipFile, name: str, values: Array) -> None:
    with archive.open(zipfile.ZipInfo(f"{name}.npy"), "w") as out:
        np.lib.format.write_array(out, values, allow_pickle=False)


def _json(header: Header, episodes: list[dict[str, Any]], cameras: list[str]) -> str:
    try:
        extras = extras_json(header, episodes, cameras)
        return json.dumps(extras | {"env_args": dict(header.env_args)})
    except (TypeError, ValueError) as error:
        raise FormatError(
            f"env_args cannot be written as JSON ({error}); rename or remove that value"
        ) from None
