"""Malicious run folders: modules as environments, absurd networks, false headers."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from attack.malice.canary import MODULE, Maker

_BASE = "run_counter_bc"


def _run(change: Callable[[Path], object]) -> Maker:
    """Return a maker of a copy of a good run that `change` spoils."""

    def make(folder: Path) -> Path:
        shutil.copytree(folder.parent / "bases" / _BASE, folder / "x")
        change(folder / "x")
        return folder / "x"

    return make


def _config(change: Callable[[dict[str, Any]], object]) -> Maker:
    def edit(folder: Path) -> None:
        path = folder / "config.json"
        config = json.loads(path.read_text())
        change(config)
        path.write_text(json.dumps(config))

    return _run(edit)


def _tensors(content: bytes) -> Maker:
    return _run(lambda folder: (folder / "model.safetensors").write_bytes(content))


def _header(text: str, size: int | None = None) -> bytes:
    return (len(text) if size is None else size).to_bytes(8, "little") + text.encode()


def _replaced(name: str, place: Callable[[Path], object]) -> Maker:
    def change(folder: Path) -> None:
        (folder / name).unlink()
        place(folder / name)

    return _run(change)


_TENSOR = '{"a":{"dtype":"F32","shape":[%s],"data_offsets":[0,%s]}}'

INPUTS: dict[str, Maker] = {
    "run with a module as environment": _config(
        lambda c: c["config"].update(env=f"{MODULE}:Canary-v0")
    ),
    "run with a module in env_args": _config(
        lambda c: c["config"].update(env_args={"env_name": f"{MODULE}:Canary-v0"})
    ),
    "run with absurd layers": _config(lambda c: c["policy"].update(hidden=[40_000, 40_000])),
    "run with a million layers": _config(lambda c: c["policy"].update(hidden=[1] * 1_000_000)),
    "run with 10⁹ modes": _config(lambda c: c.update(policy={"kind": "mixture", "modes": 10**9})),
    "run with an endless history": _config(lambda c: c["policy"].update(history=10**9)),
    "run with a class as policy": _config(lambda c: c["policy"].update(kind=f"{MODULE}.Canary")),
    "run with a million members": _config(lambda c: c.update(members=c["members"] * 500_000)),
    "run with odd names": _config(
        lambda c: c["config"].update(obs_names=["\x1b[31mred", "[/s]", "<b>", "\ud800"])
    ),
    "run with nested JSON": _run(
        lambda folder: (folder / "config.json").write_text("[" * 100_000 + "]" * 100_000)
    ),
    "run with thousands of digits": _run(
        lambda folder: (folder / "config.json").write_text(f'{{"version": {"9" * 10_000}}}')
    ),
    "run with a pipe as configuration": _replaced("config.json", os.mkfifo),
    "run with a pipe as model": _replaced("model.safetensors", os.mkfifo),
    "run with a device as configuration": _replaced(
        "config.json", lambda path: path.symlink_to("/dev/zero")
    ),
    "run with a device as model": _replaced(
        "model.safetensors", lambda path: path.symlink_to("/dev/zero")
    ),
    "run with a header of terabytes": _tensors(_header("{}", 2**60)),
    "run with a tensor of terabytes": _tensors(_header(_TENSOR % (2**40, 2**42))),
    "run with a pickle as model": _tensors(b"\x80\x04cos\nmkdir\n(V" + b"canary-was-here\ntR."),
    "run with an empty model": _tensors(b""),
}
