"""C(s, a), the counterfactual actions of eq. M2, and A, the feasible actions."""

from counterbc.data.feasible import Everywhere, Feasible, UnitBall, UnitBox, feasible_set
from counterbc.supports.ball import Ball
from counterbc.supports.box import Box
from counterbc.supports.demonstrated import Demonstrated
from counterbc.supports.metric import Metric
from counterbc.supports.normal import Normal
from counterbc.supports.student_t import StudentT
from counterbc.supports.support import Support

SUPPORTS: dict[str, type[Support]] = {
    "ball": Ball,
    "box": Box,
    "student-t": StudentT,
    "gaussian": Normal,
}
"""The shapes of C(s, a) that the setting `shape` names; ball and box are uniform noise."""

__all__ = [
    "SUPPORTS",
    "Ball",
    "Box",
    "Demonstrated",
    "Everywhere",
    "Feasible",
    "Metric",
    "Normal",
    "StudentT",
    "Support",
    "UnitBall",
    "UnitBox",
    "feasible_set",
]
