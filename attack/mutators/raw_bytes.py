"""Damage to the bytes of a file, whatever its format."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Literal

_KINDS = (
    "flip", "flip", "flip", "flips", "bit", "bit", "cut", "append", "zero", "ff", "double", "swap",
    "insert", "delete", "integer", "head", "empty",
)  # fmt: skip


def change_bytes(rng: random.Random, path: Path) -> str:
    """Change a file in one place, or cut it; return the kind of damage."""
    content = bytearray(path.read_bytes())
    kind = rng.choice(_KINDS) if content else "append"
    place = rng.randrange(max(len(content), 1))
    if kind in ("cut", "append", "double", "insert", "delete", "empty"):
        _change_length(rng, content, kind, place)
    else:
        _overwrite(rng, content, kind, place)
    path.write_bytes(content)
    return f"bytes:{kind}"


def _change_length(rng: random.Random, content: bytearray, kind: str, place: int) -> None:
    if kind == "cut":
        del content[place:]
    elif kind == "append":
        content += rng.randbytes(rng.randint(1, 200))
    elif kind == "double":
        content[place:place] = content[place : place + rng.randint(1, 256)]
    elif kind == "insert":
        content[place:place] = rng.randbytes(rng.randint(1, 16))
    elif kind == "delete":
        del content[place : place + rng.randint(1, 16)]
    else:
        content.clear()


def _overwrite(rng: random.Random, content: bytearray, kind: str, place: int) -> None:
    size = len(content)
    if kind == "flip":
        content[place] = rng.randrange(256)
    elif kind == "flips":
        for _ in range(rng.randint(2, 64)):
            content[rng.randrange(size)] = rng.randrange(256)
    elif kind == "bit":
        content[place] ^= 1 << rng.randrange(8)
    elif kind in ("zero", "ff"):
        end = min(size, place + rng.randint(1, 64))
        content[place:end] = (b"\0" if kind == "zero" else b"\xff") * (end - place)
    elif kind == "swap":
        target, count = rng.randrange(size), rng.randint(1, 32)
        first, second = bytes(content[place : place + count]), bytes(content[target:][:count])
        content[place : place + count] = second
        content[target : target + count] = first
    elif kind == "integer":
        width = rng.choice([1, 2, 4, 8])
        most = 2 ** (8 * width)
        value = rng.choice([0, 1, most - 1, most // 2, most // 2 - 1, 100])
        order: Literal["little", "big"] = "little" if rng.random() < 0.5 else "big"
        content[place : place + width] = value.to_bytes(width, order)
    else:
        content[rng.randrange(min(size, 512))] = rng.randrange(256)
