"""Differences that a number of runs can resolve."""

from __future__ import annotations

import pandas as pd
import pytest

from reproduction.anova import resolvable
from reproduction.figure_options import FigureOptions
from reproduction.resolution import resolution, resolved


def test_what_the_runs_can_resolve_is_printed_before_they_are_made() -> None:
    assert resolution("figure4", FigureOptions(), sd=3.0) == (
        "figure4: 50 paired runs per point find differences of 0.54 sd (power 0.8, "
        "p < .05 after Bonferroni over 10 pairs of methods), 1.61 with an sd of 3"
    )
    assert resolution("figure4", FigureOptions(seeds=2)) == (
        "figure4: 2 runs per point are too few to tell methods apart"
    )
    assert resolution("figure3", FigureOptions()) is None


def test_the_largest_spread_of_the_rows_decides() -> None:
    about = {"world": "fork", "teacher": "crowd", "sigma": None, "act": "sample", "seeds": 4}
    rows = pd.DataFrame(
        [about | {"pairs": k, "method": m, "seed": s, "return": float(d)}
         for k, leads in ((100, (0, 1, 0, 1)), (200, (0, 2, 0, 2)))
         for s, lead in enumerate(leads) for m, d in (("bc", 0), ("counter-bc", lead))]
    )  # fmt: skip
    sd = pd.Series([0.0, 2.0, 0.0, 2.0]).std()
    (text,) = resolved("figure4", rows)
    assert text.endswith(f"differences of {resolvable(4, methods=2) * sd:.3g} in fork")
    assert resolved("table1", rows) == []
    assert sd == pytest.approx(1.1547, rel=1e-4)
