"""Paths that are no files: pipes, devices, sockets, loops of links, folders without end."""

from __future__ import annotations

import os
import socket
from pathlib import Path

from attack.malice.canary import OUTSIDE, Maker


def _pipe(suffix: str) -> Maker:
    def make(folder: Path) -> Path:
        os.mkfifo(folder / f"x{suffix}")
        return folder / f"x{suffix}"

    return make


def _link(target: str, suffix: str) -> Maker:
    def make(folder: Path) -> Path:
        (folder / f"x{suffix}").symlink_to(target)
        return folder / f"x{suffix}"

    return make


def _socket(folder: Path) -> Path:
    current = os.getcwd()
    os.chdir(folder)  # the path of a socket must be short
    try:
        with socket.socket(socket.AF_UNIX) as server:
            server.bind("x.npz")
    finally:
        os.chdir(current)
    return folder / "x.npz"


def _loop(folder: Path) -> Path:
    root = folder / "x"
    (root / "meta").mkdir(parents=True)
    (root / "meta" / "info.json").symlink_to(root / "meta" / "info.json")
    (root / "data").symlink_to(root)
    return root


def _deep(folder: Path) -> Path:
    path = folder / "x"
    path.mkdir()
    current = path
    for _ in range(200):
        current = current / "data"
        current.mkdir()
    return path


def _odd_name(folder: Path) -> Path:
    path = Path(os.fsdecode(os.fsencode(folder) + b"/d\xe9mos \x1b[2J[red]\n.csv"))
    path.write_text("s,action\n1,2\n2,3\n3,4\n")
    return path


def _linked_data(folder: Path) -> Path:
    """Link a file in a folder of data, as a dataset from an archive could."""
    (folder / "x.csv").symlink_to(folder / OUTSIDE / "nothing.csv")
    return folder / "x.csv"


INPUTS: dict[str, Maker] = {
    **{f"a pipe named x{s}": _pipe(s) for s in (".npz", ".hdf5", ".csv", "")},
    **{f"a link to a device named x{s}": _link("/dev/zero", s) for s in (".npz", ".hdf5", ".csv")},
    "a link to a terminal": _link("/dev/tty", ".csv"),
    "a link to nothing": _linked_data,
    "a link to itself": _link("x.npz", ".npz"),
    "a socket": _socket,
    "a loop of folders": _loop,
    "folders in folders": _deep,
    "a name of control characters that is not UTF-8": _odd_name,
}
