"""The way from the demonstrated to the predicted action, within C(s, a) and A."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from counterbc.data.feasible import Everywhere, UnitBall, UnitBox
from counterbc.diagnosis.clamp_to_support import prediction_trust, share_of_radius, within
from counterbc.errors import OptionError


def _rows(*rows: tuple[float, ...]) -> NDArray[np.float64]:
    return np.array(rows, float)


def test_an_action_within_the_radius_is_taken_as_it_is() -> None:
    result = within(_rows((0, 0)), _rows((0.3, 0.2)), np.array([0.4, 0.4]), "ball", UnitBox())
    assert result == pytest.approx(_rows((0.3, 0.2)))


def test_beyond_the_radius_the_nearest_point_of_the_ball_is_taken() -> None:
    result = within(_rows((0, 0)), _rows((0.6, 0.8)), np.array([0.5, 0.5]), "ball", UnitBox())
    assert result == pytest.approx(_rows((0.3, 0.4)))


def test_a_box_reaches_its_edge_and_an_ellipsoid_its_own() -> None:
    action, target = _rows((0, 0)), _rows((0.8, 0.4))
    box = within(action, target, np.array([0.4, 0.4]), "box", Everywhere())
    assert box == pytest.approx(_rows((0.4, 0.2)))
    ellipsoid = within(action, _rows((0.8, 0)), np.array([0.4, 0.1]), "ball", Everywhere())
    assert ellipsoid == pytest.approx(_rows((0.4, 0)))


def test_a_dimension_without_radius_does_not_move() -> None:
    result = within(_rows((0, 1)), _rows((0.2, -1)), np.array([0.4, 0.0]), "ball", UnitBox())
    assert result == pytest.approx(_rows((0.2, 1)))


def test_an_action_shown_outside_is_brought_into_the_feasible_set() -> None:
    action = _rows((1.2, 0), (3, 0))
    result = within(action, _rows((0.9, 0), (0.9, 0)), np.array([0.4, 0.4]), "ball", UnitBall())
    # The second has no feasible action within its radius; the nearest one stands for it.
    assert result == pytest.approx(_rows((0.9, 0), (1, 0)))


@pytest.mark.parametrize("shape", ["student-t", "gaussian", "sphere"])
def test_a_shape_without_an_edge_is_refused(shape: str) -> None:
    radius = np.array([0.4, 0.4])
    message = f"shape is {shape}, which does not limit .*; allowed: ball, box"
    with pytest.raises(OptionError, match=message):
        within(_rows((0, 0)), _rows((1, 1)), radius, shape, UnitBox())
    with pytest.raises(OptionError, match=message):
        share_of_radius(_rows((0, 0)), radius, shape)


@pytest.mark.parametrize("shape", ["ball", "box"])
@pytest.mark.parametrize("feasible", [UnitBall(), UnitBox()])
def test_nothing_leaves_the_set_or_the_radius(shape: str, feasible: UnitBall | UnitBox) -> None:
    rng = np.random.default_rng(0)
    action, target = rng.uniform(-0.55, 0.55, (500, 3)), rng.uniform(-2, 2, (500, 3))
    radius = np.array([0.3, 0.5, 0.0])
    result = within(action, target, radius, shape, feasible)
    assert share_of_radius(result - action, radius, shape).max() <= 1 + 1e-9
    assert np.abs(result[:, 2] - action[:, 2]).max() < 1e-9
    length = np.linalg.norm(result, axis=1) if isinstance(feasible, UnitBall) else np.abs(result)
    assert length.max() <= 1 + 1e-5


def test_predictions_are_trusted_as_far_as_policies_agree() -> None:
    off = np.sqrt(0.5) * np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [1.0, 1.0]])  # E|off|² = 1
    doubt = np.array([0.0, 0.0, 0.2, 0.6])  # 0.2 on average, so σ² = 0.8
    assert prediction_trust(off, doubt) == pytest.approx([1.0, 1.0, 0.8, 0.8 / 1.4])
    assert prediction_trust(off, np.full(4, 2.0)).tolist() == [0.0] * 4, (
        "nothing but the model error"
    )


def test_going_as_far_as_trusted_comes_nearest_to_what_was_meant() -> None:
    rng = np.random.default_rng(0)
    doubt = rng.uniform(0, 0.2, 20_000)
    action = rng.normal(0, 0.3, (20_000, 1))  # what was meant is 0
    guess = rng.normal(0, 1, (20_000, 1)) * np.sqrt(doubt)[:, None]

    def error(w: NDArray[np.float64]) -> float:
        return float(((action + w[:, None] * (guess - action)) ** 2).mean())

    best = prediction_trust(action - guess, doubt)
    fixed_errors = [error(np.full(20_000, w)) for w in (0.0, 0.25, 0.5, 0.75, 1.0)]
    assert error(best) < 0.95 * min(fixed_errors)
