"""What policies of several compared methods earn in an environment."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from counterbc.acting.evaluation import Evaluation
from counterbc.demonstrators import demonstrate, find_teacher
from counterbc.errors import OptionError
from counterbc.experiments.method_returns import MethodReturns, measure_returns
from counterbc.selection.clusters import Estimate
from counterbc.selection.method_comparison import ComparedMethod, Comparison
from counterbc.selection.shares import Share

NONE = Estimate(0.0, 0.0)
COMPARISON = Comparison(
    (
        ComparedMethod("bc", Estimate(0.2, 0.01), NONE, 1.0, 0.0, 20),
        ComparedMethod("counter-bc", Estimate(0.2, 0.01), NONE, 1.0, 0.3, 30),
    ),
    Share(0.6, 0.5, 0.7), (0.0,), 2, "5 folds",
)  # fmt: skip


def _returns(*above: float) -> MethodReturns:
    plain = np.random.default_rng(0).normal(size=(5, 20))
    names = ["bc", "counter-bc", "posterior"]
    runs = [plain + a * np.linspace(0.9, 1.1, 5)[:, None] for a in (0.0, *above)]
    seeds = tuple(range(5))
    return MethodReturns(
        tuple(
            Evaluation(r, np.ones_like(r, int), "a world", "mean", 0, method=name, seeds=seeds)
            for name, r in zip(names, runs, strict=False)
        )
    )


def test_the_method_that_earns_clearly_more_is_recommended() -> None:
    returns = _returns(0.5, 1.0)
    assert returns.recommended == "posterior"
    assert returns.verdict.startswith("Use posterior: in a world it earns 1.00 [")


def test_bc_is_recommended_where_nothing_earns_more() -> None:
    returns = _returns(-0.5, -1.0)
    assert returns.recommended == "bc"
    assert returns.verdict == "No method earns more than plain BC in a world; use BC"


@pytest.mark.filterwarnings("ignore::counterbc.errors.InfeasibleActions")
def test_methods_act_with_what_was_chosen_for_them() -> None:
    demos = demonstrate("intersection", find_teacher("typical"), pairs=60, seed=0)
    returns = measure_returns(
        demos, COMPARISON, "intersection", seeds=2, episodes=2, progress=False
    )
    assert [e.method for e in returns.evaluations] == ["bc", "counter-bc"]
    assert all(e.returns.shape == (2, 2) for e in returns.evaluations)
    assert np.isfinite(returns.differences[0].interval.mean)


def test_one_seed_is_refused() -> None:
    demos = demonstrate("intersection", find_teacher("typical"), pairs=20, seed=0)
    with pytest.raises(OptionError, match="2 or more"):
        measure_returns(demos, replace(COMPARISON), "intersection", seeds=1)
