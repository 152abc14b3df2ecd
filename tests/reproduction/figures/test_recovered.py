"""Figure 3: what is learned of |s| − 0.5."""

from __future__ import annotations

import numpy as np
import pytest

from reproduction.figures import recovered
from reproduction.recovery import AT, intended_action, variation


def test_opposite_runs_cancel_in_the_mean_curve_and_not_in_the_mean_of_their_variations() -> None:
    runs = np.stack(
        [intended_action(AT), -intended_action(AT), intended_action(AT), -intended_action(AT)]
    )
    assert recovered.variation_of_mean(runs).mean == pytest.approx(0.0)
    assert [variation(run) for run in runs] == pytest.approx([2.0] * 4)


def test_where_runs_turn_together_the_mean_curve_varies_as_much_as_they_do() -> None:
    runs = np.array([1.0, 2.0, 0.5])[:, None] * intended_action(AT)
    values = np.array([2.0, 4.0, 1.0])  # the variation is then linear, and so the jackknife exact
    result = recovered.variation_of_mean(runs)
    assert (result.mean, result.sd) == pytest.approx((values.mean(), values.std(ddof=1)))


@pytest.mark.parametrize("curves", [2, 3, 7])
def test_every_panel_of_figure3_has_its_place(curves: int) -> None:
    names = [f"Δ = {i}" for i in range(curves)]
    layout = recovered._layout(names)
    assert {len(line) for line in layout} == {6}
    assert {name for line in layout for name in line} == {*names, *recovered.PANELS}
