"""The figure of the held-out error against Δ."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from counterbc.errors import OptionError
from counterbc.selection.radius_figure import percent_above, radius_figure

CURVE = SimpleNamespace(
    radius=0.25, radii=(0.0, 0.2, 0.4), error=(0.5, 0.4, 0.45),
    difference_se=(0.0, 0.02, 0.03), plateau=(0.2, 0.4), protocol="5 folds", mean_action_error=0.9,
)  # fmt: skip


def test_the_figure_names_the_radius_and_how_it_was_measured(tmp_path: Path) -> None:
    radius_figure(CURVE, tmp_path / "curve.svg")
    text = (tmp_path / "curve.svg").read_text()
    assert "Δ 0.25" in text
    assert "5 folds" in text


def test_errors_are_percentages_of_the_one_at_zero_or_of_the_least() -> None:
    part, se, mean_action = percent_above(CURVE)
    np.testing.assert_allclose(part, [0, -20, -10])
    np.testing.assert_allclose(se, [0, 4, 6])
    assert mean_action == pytest.approx(80)
    nan = float("nan")
    lost = SimpleNamespace(**vars(CURVE) | {"error": (nan, 0.4, 0.5), "difference_se": (nan,) * 3})
    part, se, mean_action = percent_above(lost)
    np.testing.assert_allclose(part, [nan, 0, 25])
    np.testing.assert_allclose(se, 0)
    assert mean_action == pytest.approx(125)


def test_another_kind_of_picture_is_refused(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match=r"cannot draw curve.pdf; allowed: .png, .svg"):
        radius_figure(CURVE, tmp_path / "curve.pdf")
    assert list(tmp_path.iterdir()) == []
