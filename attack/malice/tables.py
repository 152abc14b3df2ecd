"""Malicious LeRobot and Minari datasets: paths, films, images and tables that claim much."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image

from attack.malice.canary import MODULE, OUTSIDE, Maker
from tests.formats.lerobot import foreign as lerobot
from tests.formats.minari import foreign as minari

_FILM = lerobot.CAMERA


def _lerobot(change: Callable[[Path], object]) -> Maker:
    def make(folder: Path) -> Path:
        root = lerobot.foreign(folder / "x")
        change(root)
        return root

    return make


def _info(**changes: Any) -> Maker:
    """Return a dataset with other entries in info.json."""
    return _lerobot(lambda root: _edit(root / "meta/info.json", changes))


def _edit(path: Path, changes: dict[str, Any]) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def _film(video_path: str, content: Callable[[Path], str]) -> Maker:
    """Return a dataset whose only observation is a film at a path, with some content there."""

    def make(folder: Path) -> Path:
        video = {"dtype": "video", "shape": [6, 8, 3], "names": ["height", "width", "channels"]}
        features = {"action": lerobot.FEATURES["action"], _FILM: video}
        rows = [
            {f"videos/{_FILM}/{key}": 0 for key in ("chunk_index", "file_index", "from_timestamp")}
        ] * 3
        root = lerobot.foreign(folder / "x", features, video_rows=rows, video_path=video_path)
        if "{" not in video_path and not video_path.startswith(("/", "..", "http", "concat")):
            (root / video_path).write_text(content(folder / OUTSIDE))
        return root

    return make


def _playlist(outside: Path) -> str:
    return f"#EXTM3U\n#EXTINF:1,\n{outside / 'secret.png'}\n#EXT-X-ENDLIST\n"


def _data_file(root: Path) -> Path:
    return root / "data/chunk-001/file-007.parquet"


def _link(root: Path) -> None:
    _data_file(root).unlink()
    _data_file(root).symlink_to(root.parent / OUTSIDE / "secret.bin")


def _pipe(name: str) -> Maker:
    def change(root: Path) -> None:
        (root / name).unlink()
        os.mkfifo(root / name)

    return _lerobot(change)


def _device(name: str) -> Maker:
    def change(root: Path) -> None:
        (root / name).unlink()
        (root / name).symlink_to("/dev/zero")

    return _lerobot(change)


def _repeated(root: Path) -> None:
    """Store one row of 1 MB of text for every row of the table."""
    table = pq.read_table(_data_file(root))
    texts = pa.array(["x" * 2**20] * len(table)).dictionary_encode()
    table = table.set_column(
        table.column_names.index("observation.note"), "observation.note", texts
    )
    pq.write_table(pa.concat_tables([table] * 2000), _data_file(root))


def _rows(root: Path) -> None:
    """Store a billion equal rows in a few kilobytes."""
    count = 50_000_000
    index = pa.array(np.zeros(count, np.int8))
    pq.write_table(pa.table({"index": index}), _data_file(root), row_group_size=count)
    _edit(root / "meta/info.json", {"total_frames": count})


def _images(content: bytes | None, path: str | None) -> Maker:
    """Return a dataset in which all images are the same bytes, or at the same path."""

    def make(folder: Path) -> Path:
        place = None if path is None else str(folder / OUTSIDE / path)
        cells = [{"bytes": content, "path": place}] * 9
        ends = zip(lerobot.LENGTHS, lerobot.ENDS, strict=True)
        kind = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
        extra = [{_FILM: pa.array(cells[end - n : end], kind)} for n, end in ends]
        features = {"action": lerobot.FEATURES["action"], _FILM: lerobot.IMAGE}
        return lerobot.foreign(folder / "x", features, extra)

    return make


def _png(side: int) -> bytes:
    buffer = io.BytesIO()
    Image.new("1", (side, side)).save(buffer, "PNG")
    return buffer.getvalue()


def _minari(store: str = "hdf5", **metadata: Any) -> Maker:
    return lambda folder: minari.foreign(folder / "x", store, **metadata)


def _arrow_zeros(folder: Path) -> Path:
    root = minari.foreign(folder / "x", "arrow")
    table = pa.table({"observations": pa.array(np.zeros(2**26))})
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    with pa.ipc.new_file(next(root.rglob("*.arrow")), table.schema, options=options) as writer:
        writer.write_table(table)
    return root


_SECRET_PATH = "../outside/secret.bin"
_DEEP_SPACE = '{"type": "Tuple", "subspaces": [' * 20_000 + "]}" * 20_000
_SPEC = json.dumps({"id": f"{MODULE}:Canary-v0", "entry_point": f"{MODULE}:Canary", "kwargs": {}})

INPUTS: dict[str, Maker] = {
    "lerobot with data outside": _info(data_path=_SECRET_PATH),
    "lerobot with data at an absolute path": _info(data_path="/etc/passwd"),
    "lerobot with an attribute as path": _info(data_path="{episode_index.__class__.__mro__}"),
    "lerobot with a path of great width": _info(data_path="{chunk_index:0999999999d}"),
    "lerobot with 10¹² episodes": _info(total_episodes=10**12, total_frames=10**15),
    "lerobot with a great shape": _info(
        features=lerobot.FEATURES | {"action": {"dtype": "float32", "shape": [10**9]}}
    ),
    "lerobot with nested JSON": _lerobot(
        lambda root: (root / "meta/info.json").write_text('{"a":' * 50_000 + "1" + "}" * 50_000)
    ),
    "lerobot with thousands of digits": _lerobot(
        lambda root: (root / "meta/info.json").write_text(f'{{"fps": {"9" * 100_000}}}')
    ),
    "lerobot with linked data": _lerobot(_link),
    "lerobot with a pipe as info": _pipe("meta/info.json"),
    "lerobot with a pipe as data": _pipe("data/chunk-001/file-007.parquet"),
    "lerobot with a device as info": _device("meta/info.json"),
    "lerobot with a device as data": _device("data/chunk-001/file-007.parquet"),
    "lerobot with a text 10,000 times": _lerobot(_repeated),
    "lerobot with millions of equal rows": _lerobot(_rows),
    "lerobot with a playlist": _film("list.m3u8", _playlist),
    "lerobot with a playlist as film": _film("list.mp4", _playlist),
    "lerobot with a list of films": _film(
        "list.txt", lambda outside: f"ffconcat version 1.0\nfile {outside / 'secret.png'}\n"
    ),
    "lerobot with a film outside": _film("../outside/secret.png", _playlist),
    "lerobot with a film in the network": _film("http://127.0.0.1:9/x.mp4", _playlist),
    "lerobot with a protocol as film": _film("concat:/etc/passwd|/etc/group", _playlist),
    "lerobot with images outside": _images(None, "secret.png"),
    "lerobot with images of 30,000 pixels": _images(_png(30_000), None),
    "lerobot with images that are no images": _images(b"<svg/>", None),
    "minari of compressed zeros": _arrow_zeros,
    "minari with nested spaces": _minari(observation_space=_DEEP_SPACE),
    "minari with a great space": _minari(
        action_space=json.dumps(minari.box(2) | {"shape": [10**6, 10**6]})
    ),
    "minari with 10¹⁵ episodes": _minari("arrow", total_episodes=10**15),
    "minari with a module as environment": _minari(env_spec=_SPEC),
    "minari with odd names": _minari(
        observation_space=json.dumps(
            {"type": "Dict", "subspaces": {"\x1b[31mred": minari.box(2), "[/s]": minari.box(1)}}
        )
    ),
}
