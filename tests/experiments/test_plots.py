"""Figures are written as PNG and SVG, the same twice, whatever backend is selected."""

from __future__ import annotations

from pathlib import Path

import matplotlib
import torch

from counterbc.acting.policies import Curve
from counterbc.experiments.plots import loss_figure


def test_a_loss_curve_is_drawn_beside_its_held_out_error(tmp_path: Path) -> None:
    steps, loss = torch.tensor([10, 20, 30]), torch.tensor([[3.0, 4.0], [2.0, 2.5], [1.0, 2.0]])
    backend = matplotlib.get_backend()
    first = loss_figure(Curve(steps, loss, loss + 1), "title", tmp_path, "first")
    second = loss_figure(Curve(steps, loss, loss + 1), "title", tmp_path, "second")
    single = loss_figure(Curve(steps, loss, None), "title", tmp_path, "alone")
    assert [path.suffix for path in first] == [".png", ".svg"]
    assert first[1].read_bytes() == second[1].read_bytes()
    assert "error of held-out actions" in first[1].read_text()
    assert "error of held-out actions" not in single[1].read_text()
    assert matplotlib.get_backend() == backend
