"""C(s, a), the counterfactual actions of eq. M2, and A, the feasible actions."""

from counterbc.data.feasible import Everywhere, Feasible, UnitBall, UnitBox, feasible_set
from counterbc.supports.support import SUPPORTS, Ball, Box, Demonstrated, Metric, Support

__all__ = [
    "SUPPORTS",
    "Ball",
    "Box",
    "Demonstrated",
    "Everywhere",
    "Feasible",
    "Metric",
    "Support",
    "UnitBall",
    "UnitBox",
    "feasible_set",
]
