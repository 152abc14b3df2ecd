"""Malicious .npz and CSV files: pickles, bombs, false headers, endless lines."""

from __future__ import annotations

import io
import pickle
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from attack.malice.canary import Harm, Maker

_ROWS = 4
_ZEROS = 40_000_000  # numbers; 160 MB, which compress to 160 kB


def _member(array: Any) -> bytes:
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, np.asarray(array), allow_pickle=True)
    return buffer.getvalue()


def _header(descr: str, shape: tuple[int, ...]) -> bytes:
    buffer = io.BytesIO()
    fields = {"descr": descr, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(buffer, fields)
    return buffer.getvalue()


def _npz(folder: Path, /, method: int = zipfile.ZIP_STORED, **members: bytes) -> Path:
    """Write an archive of four good rows, with some members replaced or added."""
    good = {"obs": _member(np.zeros((_ROWS, 2))), "action": _member(np.zeros((_ROWS, 1)))}
    with zipfile.ZipFile(folder / "x.npz", "w", method) as archive:
        for name, content in (good | members).items():
            archive.writestr(f"{name}.npy", content)
    return folder / "x.npz"


def _pickles(name: str) -> Maker:
    def make(folder: Path) -> Path:
        content = _member(np.array([Harm(folder)] * 4, object))
        return _npz(folder, zipfile.ZIP_STORED, **{name: content})

    return make


def _bomb(method: int) -> Maker:
    def make(folder: Path) -> Path:
        zeros = _member(np.zeros((_ZEROS // 4, 4), np.float32))
        return _npz(folder, method, obs=zeros, action=zeros)

    return make


def _text_header(text: str) -> bytes:
    content = text.encode().ljust(118) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(content).to_bytes(2, "little") + content


def _episodes(folder: Path) -> Path:
    ids = np.arange(1_100_000, dtype=np.uint8) % 2
    column = _member(ids)
    return _npz(folder, zipfile.ZIP_DEFLATED, obs=column, action=column, episode=column)


def _twice(folder: Path) -> Path:
    path = _npz(folder)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("obs.npy", _member(np.ones((_ROWS, 2))))
    return path


def _csv(content: str | bytes) -> Maker:
    def make(folder: Path) -> Path:
        path = folder / "x.csv"
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return make


_NAMES = (
    "\x1b[31mred\x1b[0m,[/s],speed [m/s],\x1b]0;title\x07,=cmd|' /C calc'!A0,<script>x</script>"
)
_WIDE = ",".join(f"s{i}" for i in range(100_000))

INPUTS: dict[str, Maker] = {
    "npz with pickled obs": _pickles("obs"),
    "npz with pickled operators": _pickles("operator"),
    "npz with pickled notes": _pickles("counterbc"),
    "npz with pickled episode ends": _pickles("episode_ends"),
    "npz member that is a pickle": lambda f: _npz(f, obs=pickle.dumps(Harm(f))),
    "npz of zeros, deflated": _bomb(zipfile.ZIP_DEFLATED),
    "npz of zeros, bzip2": _bomb(zipfile.ZIP_BZIP2),
    "npz of zeros, lzma": _bomb(zipfile.ZIP_LZMA),
    "npz that claims terabytes": lambda f: _npz(f, obs=_header("<f8", (10**12, 2)) + bytes(999)),
    "npz with a negative shape": lambda f: _npz(f, obs=_header("<f8", (-1, 2)) + bytes(999)),
    "npz with texts of no width": lambda f: _npz(f, operator=_header("<U0", (10**12,))),
    "npz with texts of great width": lambda f: _npz(f, operator=_header("<U999999999", (9,))),
    "npz with code as header": lambda f: _npz(
        f, obs=_text_header("{'descr': __import__('attack_canary'), 'shape': (4, 2)}")
    ),
    "npz with a nested header": lambda f: _npz(f, obs=_text_header("(" * 100)),
    "npz of a million episodes": _episodes,
    "npz with a path as name": lambda f: _npz(f, zipfile.ZIP_STORED, **{"../../x": _member([1.0])}),
    "npz with a name twice": _twice,
    "csv with odd names": _csv(f"{_NAMES},action\n" + "1,2,3,4,5,6,7\n" * 4),
    "csv of 100,000 columns": _csv(f"{_WIDE},action\n" + "1," * 100_000 + "1\n"),
    "csv that is one line": _csv("s,action\n" + "1" * 20_000_000),
    "csv with an open quote": _csv('s,action\n1,"' + "x\n" * 5_000_000),
    "csv with NUL": _csv("s,action\n\x00,1\n" * 3),
    "csv in UTF-16": _csv("s,action\n1,2\n".encode("utf-16")),
    "csv of 20,000 episodes": _csv(
        "episode,s,action\n" + "".join(f"{i},1,2\n" for i in range(20_000))
    ),
    "csv with thousands of digits": _csv(f"s,action\n{'9' * 5000},1e{'9' * 5000}\n"),
}
