"""Canaries: secrets outside the input, code that leaves a trace, and the search for both."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from PIL import Image

Maker = Callable[[Path], Path]
"""Makes a malicious input in a folder and returns its path."""

MODULE = "attack_canary"
SECRET = 777.125
"""A number, exact in 16 bits, that is stored only outside the input."""
TRACE = "canary-was-here"
OUTSIDE = "outside"


class Harm:
    """An object whose unpickling creates a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __reduce__(self) -> Any:
        import os

        return os.mkdir, (str(self.folder / TRACE),)


def plant(folder: Path) -> None:
    """Put a module that leaves a trace into a folder, and secrets into a folder of it."""
    trace = f"import pathlib; pathlib.Path({str(folder / TRACE)!r}).mkdir(exist_ok=True)\n"
    (folder / f"{MODULE}.py").write_text(trace)
    outside = folder / OUTSIDE
    outside.mkdir()
    with h5py.File(outside / "secret.hdf5", "w") as file:
        for key in ("actions", "obs/state"):
            file[f"data/demo_0/{key}"] = np.full((4, 2), SECRET)
    np.full(64, SECRET, "<f4").tofile(outside / "secret.bin")
    (outside / "secret.csv").write_text("s,action\n" + f"{SECRET},{SECRET}\n" * 4)
    (outside / "secret.txt").write_text(f"secret {SECRET}\n")
    Image.fromarray(np.full((6, 8, 3), 77, np.uint8)).save(outside / "secret.png")


def harm(folder: Path, output: str) -> str:
    """Return what the canaries show after an attack, or nothing if none was reached."""
    if (folder / TRACE).exists():
        return "code was run"
    if MODULE in sys.modules:
        return "a module was imported"
    return "a secret was printed" if str(SECRET) in output else ""
