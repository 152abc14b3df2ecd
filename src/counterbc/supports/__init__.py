"""C(s, a), the counterfactual actions of eq. M2, and A, the feasible actions."""

from counterbc.data.feasible import Everywhere, Feasible, UnitBall, UnitBox, feasible_set
from counterbc.supports.ball import Ball
from counterbc.supports.box import Box
from counterbc.supports.demonstrated import Demonstrated
from counterbc.supports.metric import Metric
from counterbc.supports.support import Support

SUPPORTS: dict[str, type[Support]] = {"ball": Ball, "box": Box}
"""The shapes of C(s, a) that the setting `shape` names."""

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
