"""Figure 7: air hockey."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from counterbc.envs import WORLDS
from counterbc.experiments.simulated_cell import SimulatedCell
from reproduction.figures import air_hockey
from reproduction.plots import new_figure


def test_hits_per_minute_are_those_of_all_the_time_played() -> None:
    lengths, hits = np.array([100, 500]), np.array([0, 6])  # 5 and 25 seconds
    row = pd.DataFrame({"length": [lengths.mean()], "hits": [hits.mean()]})
    assert air_hockey.hits_per_minute(row).tolist() == pytest.approx([12.0])  # 6 in half a minute


def test_the_length_of_a_row_is_the_time_that_was_played() -> None:
    small = SimulatedCell(
        world="air-hockey", teacher="crowd", sigma=None, pairs=50, method="bc", radius=None,
        pool=50, seeds=3, episodes=1, steps=3,
    )  # fmt: skip
    rows = small.rows("cpu").to_pandas()  # of one start each, so that nothing is averaged
    seconds = rows["time_per_hit"] * rows["hits"].clip(lower=1)
    assert (rows["length"] / WORLDS["air-hockey"].rate).tolist() == pytest.approx(seconds.tolist())


def wide(**methods: float) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    columns = {m.replace("_", "-"): v + rng.normal(size=20) for m, v in methods.items()}
    return pd.DataFrame(columns, index=pd.RangeIndex(20, name="seed"))


def test_a_mark_says_whether_counter_bc_is_above_or_below() -> None:
    axis = new_figure(1, 1, 2.0)[1][0, 0]
    air_hockey._averages(axis, wide(bc=5.0, weighted_bc=-5.0, bcnd=0.0, counter_bc=0.0))
    marks = {text.get_position()[0]: text.get_text() for text in axis.texts}
    assert marks == {0: "▼", 1: "▲"}  # none over BCND, from which it does not differ


def test_the_caption_counts_the_datasets_and_names_the_radius() -> None:
    about = {"teacher": "crowd", "preset": "default", "seeds": 3, "episodes": 2, "steps": 10_000}
    rows = pd.DataFrame(
        [about | {"pairs": 400, "seed": s, "radius": r} for s in (0, 1) for r in (None, 0.4)]
    )
    caption = air_hockey._caption(rows, "mean")
    assert "all 2 datasets" in caption
    assert "Counter-BC's Δ 0.4, 10,000 gradient steps" in caption
