"""The affine map between actions in the user's units and the range [−1, 1].

The functions take numpy arrays and torch tensors alike. `acting/forward.py` writes the same map in
operations that ONNX can record.
"""

from __future__ import annotations

from typing import Any


def scale(action: Any, low: Any, high: Any) -> Any:
    """Map `low` to −1 and `high` to 1."""
    return 2 * (action - low) / (high - low) - 1


def unscale(scaled_action: Any, low: Any, high: Any) -> Any:
    """Map −1 to `low` and 1 to `high`."""
    return low + (scaled_action + 1) / 2 * (high - low)


def scale_exactly(action: Any, low: Any, high: Any) -> Any:
    """Return `scale` computed from the middle, which changes no bit where bounds are ±1."""
    return (action - (low + high) / 2) / ((high - low) / 2)


def unscale_exactly(scaled_action: Any, low: Any, high: Any) -> Any:
    """Return `unscale` computed from the middle, which changes no bit where bounds are ±1."""
    return (low + high) / 2 + (high - low) / 2 * scaled_action
