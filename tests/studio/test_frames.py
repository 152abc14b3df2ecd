"""Drawings are JSON for states and bytes for images."""

from __future__ import annotations

import json

import numpy as np

from counterbc.studio.frames import Frame
from tests.studio.clients import f32


def test_a_state_is_json() -> None:
    text = Frame(3, f32([0.5, np.nan]), {"total": 2.0}, slot=1).encode()
    assert json.loads(text) == {
        "type": "frame", "step": 3, "slot": 1, "total": 2.0, "obs": [0.5, None],
    }  # fmt: skip


def test_an_image_is_its_description_and_its_pixels() -> None:
    image = np.arange(24, dtype=np.uint8).reshape(2, 4, 3)
    content = Frame(3, image).encode()
    assert isinstance(content, bytes)
    size = int.from_bytes(content[:4], "little")
    assert json.loads(content[4 : 4 + size])["shape"] == [2, 4, 3]
    assert content[4 + size :] == image.tobytes()
