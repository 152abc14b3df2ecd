"""Values of a cell as short text, for file names and columns."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


def join_value(value: Any) -> str:
    """Return "0.4" for a number, "0.4,0" for several, JSON for a mapping and "" for None."""
    if value is None or isinstance(value, str):
        return value or ""
    if isinstance(value, Mapping):
        return json.dumps(dict(value))
    if isinstance(value, (tuple, list)):
        return ",".join(join_value(v) for v in value)
    return f"{value:g}" if isinstance(value, float) else str(value)
