"""Titles, captions and files of figures."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
from PIL import Image

from reproduction.plots import WIDTH, label_below, new_figure, radius_used, save, title


def test_titles_use_the_labels_of_worlds_and_teachers() -> None:
    assert title("push-t", "epsilon-greedy") == "Push-T, ε-greedy"
    assert title("air-hockey") == "Air hockey"
    assert title("a toy") == "A toy"
    assert title("", "gaussian") == "Gaussian"


def test_the_radius_is_named_where_counter_bc_has_one() -> None:
    rows = pd.DataFrame({"radius": [None, 0.4, 0.2, 0.4]})
    assert radius_used(rows) == ", Counter-BC's Δ 0.2 or 0.4"
    assert radius_used(rows[:1]) == ""


def test_a_figure_is_a_png_file_of_the_width_of_a_column(tmp_path: Path) -> None:
    figure, axes = new_figure(2, 1, 2.0)
    axes[1, 0].set_visible(False)
    label_below(axes, "pairs")
    assert axes[0, 0].get_xlabel() == "pairs"
    path = save(figure, tmp_path, "figure4-mean", "A caption.", legend=True)
    assert [p.name for p in tmp_path.iterdir()] == ["figure4-mean.png"]
    with Image.open(path) as image:
        assert image.size == (round(240 * WIDTH), 480)
