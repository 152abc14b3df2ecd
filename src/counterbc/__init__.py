"""Learn what demonstrators meant, not what they showed.

Names are imported when first used, so that a command that needs no torch does not wait for it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from counterbc.demonstrations import Demonstrations, Episode
    from counterbc.errors import CounterBCError
    from counterbc.evaluation import evaluate
    from counterbc.exporting import export
    from counterbc.formats import load
    from counterbc.losses import counter_bc_loss, generalized_loss
    from counterbc.meant import meaning
    from counterbc.merging import merge
    from counterbc.methods import METHODS, Method
    from counterbc.radius import RadiusChoice, choose_radius
    from counterbc.trained import Policies
    from counterbc.training import train

__version__ = "0.1.0"

_HOME = {
    "Demonstrations": "demonstrations",
    "Episode": "demonstrations",
    "merge": "merging",
    "CounterBCError": "errors",
    "evaluate": "evaluation",
    "export": "exporting",
    "load": "formats",
    "meaning": "meant",
    "counter_bc_loss": "losses",
    "generalized_loss": "losses",
    "METHODS": "methods",
    "Method": "methods",
    "Policies": "trained",
    "RadiusChoice": "radius",
    "choose_radius": "radius",
    "train": "training",
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
