"""What a page draws: the newest state of a world, as one message.

States are JSON; images are bytes: the length of a JSON object (4 bytes, little end first), the
object, then the pixels.
"""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from counterbc.data.arrays import Array
from counterbc.printing import without_nan


@dataclass(frozen=True, eq=False)
class Frame:
    """The state after `step` steps; `slot` is the panel that it belongs to."""

    step: int
    obs: Array
    facts: dict[str, Any] = field(default_factory=dict)
    slot: int = 0

    def encode(self) -> str | bytes:
        """Return the message."""
        head = {"type": "frame", "step": self.step, "slot": self.slot, **self.facts}
        if self.obs.ndim == 1:
            head["obs"] = [float(x) for x in self.obs]
            return json.dumps(without_nan(head), allow_nan=False)
        text = json.dumps(without_nan({**head, "shape": list(self.obs.shape)})).encode()
        pixels = np.ascontiguousarray(self.obs, np.uint8).tobytes()
        return struct.pack("<I", len(text)) + text + pixels
