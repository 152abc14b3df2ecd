"""Damage to safetensors: types, shapes, names, offsets, and numbers that are not finite."""

from __future__ import annotations

import json
import random
from math import prod
from pathlib import Path

import numpy as np

from attack.mutators.json_tree import change_tree
from attack.mutators.raw_bytes import change_bytes

_TYPES = ("F64", "F16", "I64", "U8", "BOOL", "BF16", "I32", "F8_E4M3", "X")
_NAMES = ("policy/x", "weighting/x", "curve/x", "curve/held_out", "normalization/x")
_LENGTH = 8  # bytes of the length of the header


def change(rng: random.Random, path: Path) -> str:
    """Change one entry of the header, or one number."""
    content = path.read_bytes()
    end = _LENGTH + int.from_bytes(content[:_LENGTH], "little")
    try:
        header = json.loads(content[_LENGTH:end])
        names = [name for name in header if name != "__metadata__"]
        name = rng.choice(names)
        old_shape = header[name]["shape"]
    except (ValueError, KeyError, IndexError, TypeError):
        return change_bytes(rng, path)
    kind = rng.choice(["tree", "tree", "retype", "reshape", "drop", "nan", "rename", "same"])
    body = bytearray(content[end:])
    if kind == "tree":
        header = change_tree(rng, header)
    elif kind == "retype":
        header[name]["dtype"] = rng.choice(_TYPES)
    elif kind == "reshape":
        shapes = [[], [0], old_shape[::-1], [1, *old_shape], [prod(old_shape)]]
        header[name]["shape"] = rng.choice(shapes)
    elif kind == "drop":
        del header[name]
    elif kind == "rename":
        header[rng.choice(_NAMES)] = header.pop(name)
    elif kind == "same":
        header[name]["data_offsets"] = header[rng.choice(names)]["data_offsets"]
    elif body:
        place = rng.randrange(len(body) // 4) * 4
        body[place : place + 4] = np.float32(rng.choice([np.nan, np.inf, 1e38, -1e38])).tobytes()
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(_LENGTH, "little") + text + bytes(body))
    return f"safetensors:{kind}"
