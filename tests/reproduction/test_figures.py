"""What the figures show and say, beside the numbers of the rows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import torch

from counterbc.envs.air_hockey.table import RATE
from counterbc.experiments.plots import new_figure, radius_used
from counterbc.experiments.simulated_cell import SimulatedCell
from reproduction.figures import air_hockey as hockey
from reproduction.figures import loss_plane, recovered, rewards
from reproduction.recovery import AT, meant, variation


def test_the_map_of_the_loss_has_the_number_of_its_title_where_the_action_was_shown() -> None:
    middle = len(loss_plane.LINE) // 2
    assert loss_plane.LINE[middle] == 0
    policy = loss_plane.POLICIES[0]
    found = loss_plane.plane(policy)
    assert found[middle, middle] == pytest.approx(loss_plane.losses()[policy.name])
    # Dimension 1 runs along the columns, and the mean is at (0.7, 0.5): nearer to (1, 0).
    assert found[middle, -1] < found[-1, middle]


def test_the_loss_depends_on_where_the_policy_lies_from_the_demonstrated_action() -> None:
    outside, *_, inside = loss_plane.POLICIES
    shown = torch.tensor([[0.1, -0.3], [0.9, 0.9]])
    moved = shown + torch.tensor(outside.mean) - torch.tensor(inside.mean)
    a, b = loss_plane.loss(inside, shown), loss_plane.loss(outside, moved)
    assert a.tolist() == pytest.approx(b.tolist(), rel=1e-3)


def test_the_loss_is_at_least_that_of_the_likeliest_action_of_the_disc() -> None:
    policy = loss_plane.Predicted("far", (0.0, 0.0), 0.1)
    found = float(loss_plane.loss(policy, torch.tensor([[1.0, 0.0]])))
    least = 0.5 * (0.5 / 0.1) ** 2 + np.log(2 * np.pi * 0.1**2)  # half-way, on the rim
    assert least < found < least + 2


def test_opposite_runs_cancel_in_the_mean_curve_and_not_in_the_mean_of_their_variations() -> None:
    runs = np.stack([meant(AT), -meant(AT), meant(AT), -meant(AT)])
    assert recovered.variation_of_mean(runs)["mean"] == pytest.approx(0.0)
    assert [variation(run) for run in runs] == pytest.approx([2.0] * 4)


def test_where_runs_turn_together_the_mean_curve_varies_as_much_as_they_do() -> None:
    runs = np.array([1.0, 2.0, 0.5])[:, None] * meant(AT)
    own = np.array([2.0, 4.0, 1.0])  # the variation is then linear, and so the jackknife exact
    found = recovered.variation_of_mean(runs)
    assert found == pytest.approx({"mean": own.mean(), "sd": own.std(ddof=1)})


@pytest.mark.parametrize("curves", [2, 3, 7])
def test_every_panel_of_figure3_has_its_place(curves: int) -> None:
    names = [f"Δ = {i}" for i in range(curves)]
    layout = recovered._layout(names)
    assert {len(line) for line in layout} == {6}
    assert {name for line in layout for name in line} == {*names, *recovered.PANELS}


def test_hits_per_minute_are_those_of_all_the_time_played() -> None:
    lengths, hits = np.array([100, 500]), np.array([0, 6])  # 5 and 25 seconds
    row = pd.DataFrame({"length": [lengths.mean()], "hits": [hits.mean()]})
    assert hockey.hits_per_minute(row).tolist() == pytest.approx([12.0])  # 6 in half a minute


def test_the_length_of_a_row_is_the_time_that_was_played() -> None:
    small = SimulatedCell("air-hockey", "crowd", None, 50, "bc", None, 50, 3, 1, steps=3)
    rows = small.rows("cpu").to_pandas()  # of one start each, so that nothing is averaged
    seconds = rows["time_per_hit"] * rows["hits"].clip(lower=1)
    assert (rows["length"] / RATE).tolist() == pytest.approx(seconds.tolist())


def wide(**methods: float) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    columns = {m.replace("_", "-"): v + rng.normal(size=20) for m, v in methods.items()}
    return pd.DataFrame(columns, index=pd.RangeIndex(20, name="seed"))


def test_a_mark_says_whether_counter_bc_is_above_or_below() -> None:
    axis = new_figure(1, 1, 2.0)[1][0, 0]
    hockey._averages(axis, wide(bc=5.0, weighted_bc=-5.0, bcnd=0.0, counter_bc=0.0))
    marks = {text.get_position()[0]: text.get_text() for text in axis.texts}
    assert marks == {0: "▼", 1: "▲"}  # none over BCND, from which it does not differ


def rows(**columns: object) -> pd.DataFrame:
    about: dict[str, object] = {
        "world": "cartpole",
        "teacher": "crowd",
        "act": "mean",
        "preset": "default",
    }
    about |= {"pairs": 400, "seeds": 3, "episodes": 2, "steps": 10_000, "seed": 0}
    return pd.DataFrame([about | {"method": "bc", "radius": None}, about | columns])


def test_a_caption_says_the_radius_unless_it_is_the_x_axis() -> None:
    counter = rows(method="counter-bc", radius=0.4)
    assert radius_used(counter) == ", Counter-BC's Δ 0.4"
    assert radius_used(counter[:1]) == ""
    for name, said in (("figure4", True), ("figure5", True), ("figure6", False)):
        caption = rewards._caption(name, counter)
        assert ("Counter-BC's Δ 0.4" in caption) == said
        assert "(10,000 gradient steps)" in caption
    caption = hockey._caption(counter, "mean")
    assert "Counter-BC's Δ 0.4, 10,000 gradient steps" in caption
    assert "▲ Counter-BC is above" in caption
