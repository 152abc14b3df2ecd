"""Learn what demonstrators meant, not what they showed.

Names are imported when first used, so that a command that needs no torch does not wait for it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from counterbc.acting.evaluation import evaluate
    from counterbc.acting.onnx import export
    from counterbc.acting.policies import Policies
    from counterbc.data.demonstrations import Demonstrations, Episode
    from counterbc.data.merge import merge
    from counterbc.diagnosis.meaning import meaning
    from counterbc.errors import CounterBCError
    from counterbc.formats import load
    from counterbc.losses import counter_bc_loss, generalized_loss
    from counterbc.methods import METHODS, Method
    from counterbc.selection.radius import RadiusChoice, choose_radius
    from counterbc.trainer import train

__version__ = "0.1.0"

_HOME = {
    "Demonstrations": "data.demonstrations",
    "Episode": "data.episode",
    "merge": "data.merge",
    "CounterBCError": "errors",
    "evaluate": "acting.evaluation",
    "export": "acting.onnx",
    "load": "formats",
    "meaning": "diagnosis.meaning",
    "counter_bc_loss": "losses",
    "generalized_loss": "losses",
    "METHODS": "methods",
    "Method": "methods",
    "Policies": "acting.policies",
    "RadiusChoice": "selection.radius",
    "choose_radius": "selection.radius",
    "train": "trainer",
}
__all__ = [
    "METHODS",
    "CounterBCError",
    "Demonstrations",
    "Episode",
    "Method",
    "Policies",
    "RadiusChoice",
    "__version__",
    "choose_radius",
    "counter_bc_loss",
    "evaluate",
    "export",
    "generalized_loss",
    "load",
    "meaning",
    "merge",
    "train",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'counterbc' has no attribute {name!r}")
    return getattr(import_module(f"counterbc.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
