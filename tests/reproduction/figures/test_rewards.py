"""Figures 4, 5 and 6: means and captions."""

from __future__ import annotations

import numpy as np
import pandas as pd

from reproduction.figures import rewards


def rows(**columns: object) -> pd.DataFrame:
    about: dict[str, object] = {
        "world": "cartpole",
        "teacher": "crowd",
        "act": "mean",
        "preset": "default",
    }
    about |= {"pairs": 400, "seeds": 3, "episodes": 2, "steps": 10_000, "seed": 0}
    return pd.DataFrame([about | {"method": "bc", "radius": None}, about | columns])


def test_a_caption_names_the_radius_unless_it_is_the_x_axis() -> None:
    counter = rows(method="counter-bc", radius=0.4)
    for name, has_radius in (("figure4", True), ("figure5", True), ("figure6", False)):
        caption = rewards._caption(name, counter)
        assert ("Counter-BC's Δ 0.4" in caption) == has_radius
        assert "Mean steps survived per episode" in caption
        assert "(10,000 gradient steps)" in caption


def test_demonstrated_returns_count_every_dataset_once() -> None:
    about = {"world": "fork", "teacher": "uniform", "pairs": 100}
    table = pd.DataFrame(
        [about | {"seed": s, "method": m, "shown_return": 10.0 * s}
         for s in (0, 1) for m in ("bc", "bcnd")]
    )  # fmt: skip
    (row,) = rewards.demonstrated_returns(table)
    assert (row.world, row.mean) == ("fork", 5.0)
    assert rewards.demonstrated_returns(table.drop(columns="shown_return")) == ()


def test_a_baseline_is_compared_with_every_radius() -> None:
    table = pd.DataFrame(
        [{"world": "fork", "teacher": "crowd", "act": "mean", "method": m, "radius": r, "seed": s,
          "return": 10.0 + s + d}
         for m, r, d in (("bc", np.nan, 0), ("counter-bc", 0.1, 1), ("counter-bc", 0.2, 2))
         for s in range(3)]
    )  # fmt: skip
    tests = rewards.above_bc(table)
    assert [(t.radius, t.difference.mean, t.bc) for t in tests] == [
        (0.1, 1.0, 11.0),
        (0.2, 2.0, 11.0),
    ]
