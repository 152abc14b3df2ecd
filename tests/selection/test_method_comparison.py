"""compare_methods(): which method predicts held-out actions best."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from counterbc.data.demonstrations import Demonstrations, Episode
from counterbc.errors import CounterBCError
from counterbc.selection.clusters import Estimate
from counterbc.selection.explained import explain_quickly
from counterbc.selection.method_comparison import (
    ComparedMethod,
    Comparison,
    choose_without_fold,
    compare_methods,
)
from counterbc.selection.shares import Explained, Past, Share
from counterbc.selection.tuning import TuneSearch
from counterbc.selection.tuning_errors import ErrorTable
from tests.selection.datasets import late_demos

QUICK = TuneSearch(radii=(0.0, 0.3), step_counts=(100, 300))


def _compared(name: str, below: float, se: float, p: float) -> ComparedMethod:
    return ComparedMethod(name, Estimate(0.2 - below, 0.01), Estimate(below, se), p, 0.0, 100)


def _comparison(*methods: ComparedMethod, share: float = 0.6) -> Comparison:
    explained = Share(share, share - 0.05, share + 0.05)
    plain = _compared("bc", 0.0, 0.0, 1.0)
    return Comparison((plain, *methods), explained, (0.0,), 4, "5 folds")


def test_a_method_is_recommended_where_it_is_clearly_better() -> None:
    clear = _compared("counter-bc", 0.02, 0.004, 0.001)
    comparison = _comparison(clear, _compared("posterior", 0.01, 0.002, 0.002))
    assert comparison.recommended == "counter-bc"
    assert comparison.verdict.startswith(
        "Use counter-bc: its held-out error is 10.0 ± 2.0 % below plain BC's"
    )


def test_bc_is_recommended_where_nothing_is_clearly_better() -> None:
    comparison = _comparison(_compared("counter-bc", 0.0032, 0.0042, 0.4))
    assert comparison.recommended == "bc"
    assert comparison.verdict == (
        "No method predicts held-out actions clearly better than plain BC (the best, counter-bc: "
        "1.6 ± 2.1 % lower error); use BC"
    )
    worse = _comparison(_compared("counter-bc", -0.05, 0.001, 0.001))
    assert worse.recommended == "bc"
    assert worse.verdict == "No method predicts held-out actions better than plain BC; use BC"


def test_nothing_is_recommended_where_nothing_can_be_predicted() -> None:
    comparison = _comparison(_compared("counter-bc", 0.02, 0.001, 0.001), share=0.08)
    assert comparison.recommended == "bc"
    assert comparison.verdict.startswith("Cannot tell: plain BC explains 8 %")


def test_nothing_is_recommended_where_policies_may_only_repeat_the_previous_action() -> None:
    high, zero = Share(0.95, 0.92, 0.98), Share(0.0, 0.0, 0.0)
    repeating = Explained(high, (high,), ("a",), Past(high, zero, high, high, high))
    clear = _comparison(_compared("counter-bc", 0.02, 0.004, 0.001), share=0.95)
    assert clear.recommended == "counter-bc"
    comparison = replace(clear, shares=repeating)
    assert not comparison.tells
    assert comparison.recommended == "bc"
    assert comparison.verdict.startswith("Cannot tell: the observation shows the previous action")
    assert comparison.finding == comparison.verdict


def test_a_finding_says_what_the_errors_are_and_not_what_to_use() -> None:
    clear = _comparison(_compared("counter-bc", 0.02, 0.004, 0.001))
    assert clear.finding == (
        "The held-out error of counter-bc is 10.0 ± 2.0 % below plain BC's (p = 0.001)"
    )
    for below in (0.0032, -0.05):
        comparison = _comparison(_compared("counter-bc", below, 0.0042, 0.4))
        assert "use" not in comparison.finding.lower()
        assert comparison.verdict == f"{comparison.finding}; use BC"


def test_a_copy_of_the_previous_action_among_the_observations_is_noticed() -> None:
    rng = np.random.default_rng(0)
    action = rng.normal(0, 0.3, (10, 30, 1))
    for t in range(1, 30):
        action[:, t] = 0.95 * action[:, t - 1] + 0.3 * action[:, t]
    before = np.concatenate([action[:, :1], action[:, :-1]], axis=1)
    demos = Demonstrations(tuple(Episode(o, a) for o, a in zip(before, action, strict=True)))
    comparison = compare_methods(
        demos, ("counter-bc",), search=QUICK, networks=1, progress=False, radius=0.0, lag=0.0,
        offsets="none", hidden=(16, 16),
    )  # fmt: skip
    assert comparison.explained.is_enough
    assert not comparison.tells


def test_a_fold_does_not_choose_for_itself() -> None:
    squares = np.ones((1, 2, 20)) + 0.01 * np.sin(np.arange(20))
    squares[:, 1, :10] = 0.1  # Δ 0.3 suits the first fold alone
    squares[:, 1, 10:] = 2.0
    fold = np.repeat([0, 1], 10)
    table = ErrorTable(
        squares=squares, spread=np.ones((20, 1)), cluster=np.arange(20) // 2, fold=fold,
        several_modes=(), residual=np.zeros((20, 1)),
    )  # fmt: skip
    assert choose_without_fold(table, (0.0, 0.3), 0) == (0, 0)
    assert choose_without_fold(table, (0.0, 0.3), 1) == (0, 1)


def test_methods_are_measured_on_the_same_actions_with_one_lag() -> None:
    comparison = compare_methods(
        late_demos(2), ("counter-bc", "epsilon-insensitive"), search=QUICK, networks=2,
        progress=False, hidden=(16, 16),
    )  # fmt: skip
    names = [method.name for method in comparison.methods]
    assert names == ["bc", "counter-bc", "epsilon-insensitive"]
    assert comparison.lag == (2.0,)
    assert comparison.explained.is_enough
    assert comparison.shares is not None
    assert comparison.shares.past == explain_quickly(late_demos(2), comparison.lag).past
    plain = comparison.methods[0]
    assert plain.below == Estimate(0.0, 0.0)
    for method in comparison.methods[1:]:
        assert method.below.value == pytest.approx(plain.error.value - method.error.value)


def test_a_method_with_radius_0_predicts_as_bc_does() -> None:
    comparison = compare_methods(
        late_demos(2), ("counter-bc",), search=QUICK, networks=1, progress=False, radius=0.0,
        lag=2.0, hidden=(16, 16),
    )  # fmt: skip
    plain, counter = comparison.methods
    assert counter.error.value == pytest.approx(plain.error.value, rel=1e-3)
    assert not counter.is_clearly_better


def test_what_a_method_needs_is_checked_before_anything_is_trained() -> None:
    with pytest.raises(CounterBCError, match="needs"):
        compare_methods(replace(late_demos(2)), ("advantage-bc",), progress=False)
