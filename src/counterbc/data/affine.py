"""The affine map between actions in the user's units and the range [−1, 1].

The functions take numpy arrays and torch tensors alike. `acting/forward.py` writes the same map in
operations that ONNX can record.
"""

from __future__ import annotations

from typing import Any


def to_unit(action: Any, low: Any, high: Any) -> Any:
    """Map `low` to −1 and `high` to 1."""
    return 2 * (action - low) / (high - low) - 1


def from_unit(unit: Any, low: Any, high: Any) -> Any:
    """Map −1 to `low` and 1 to `high`."""
    return low + (unit + 1) / 2 * (high - low)


def to_unit_exactly(action: Any, low: Any, high: Any) -> Any:
    """Return `to_unit` computed from the middle, which changes no bit where bounds are ±1."""
    return (action - (low + high) / 2) / ((high - low) / 2)


def from_unit_exactly(unit: Any, low: Any, high: Any) -> Any:
    """Return `from_unit` computed from the middle, which changes no bit where bounds are ±1."""
    return (low + high) / 2 + (high - low) / 2 * unit
