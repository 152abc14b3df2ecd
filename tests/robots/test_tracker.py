"""The tracker finds the puck to a millimetre in rendered and noisy pictures, and nothing else."""

from __future__ import annotations

import numpy as np
import pytest

from counterbc.envs.air_hockey.table import PUCK, TABLE_HIGH, TABLE_LOW
from counterbc.errors import DataError, OptionError
from counterbc.robots.simulated.overhead import Overhead
from counterbc.robots.tracker import PuckColour, Tracker

pytestmark = pytest.mark.extra("cv2")
MILLIMETRE = 0.001


@pytest.mark.parametrize("noise", [0.0, 16.0, 32.0])  # of 255, in every pixel
def test_the_puck_is_found_to_a_millimetre(noise: float) -> None:
    overhead = Overhead(noise)
    places = np.random.default_rng(0).uniform(TABLE_LOW[:, 0], TABLE_HIGH[:, 0], (60, 2))
    tracked = [overhead.track(place) for place in places]
    assert all(place is not None for place in tracked)
    gaps = np.linalg.norm(np.array(tracked) - places, axis=1)
    assert np.sqrt((gaps**2).mean()) < 0.5 * MILLIMETRE
    assert gaps.max() < 1.2 * MILLIMETRE


def test_a_picture_without_a_puck_has_none() -> None:
    overhead = Overhead()
    assert overhead.tracker.find(overhead.picture(np.array([5.0, 5.0]))) is None


def test_a_glint_and_a_red_sleeve_are_no_puck() -> None:
    overhead = Overhead()
    glint = overhead.picture(np.array([5.0, 5.0]))
    glint[100:104, 200:204] = (40, 44, 206)
    assert overhead.tracker.find(glint) is None
    sleeve = overhead.picture(np.array([0.8, 0.0]))
    sleeve[:200, 100:300] = (40, 44, 206)
    assert overhead.tracker.find(sleeve) is None


def test_the_paddle_does_not_disturb() -> None:
    overhead = Overhead()
    puck = np.array([0.5, 0.05])
    place = overhead.tracker.find(overhead.picture(puck, paddle=np.array([0.35, 0.05])))
    assert place == pytest.approx(puck, abs=1.5 * MILLIMETRE)


def test_pucks_may_have_another_colour() -> None:
    overhead = Overhead()
    blue = Tracker(overhead.calibration, PUCK, PuckColour(hue=(100, 130)))
    picture = overhead.picture(np.array([0.9, -0.1]))[:, :, ::-1].copy()  # red becomes blue
    assert blue.find(picture) == pytest.approx([0.9, -0.1], abs=MILLIMETRE)
    assert overhead.tracker.find(picture) is None


def test_other_arrays_and_colours_are_refused() -> None:
    with pytest.raises(DataError, match="bytes"):
        Overhead().tracker.find(np.zeros((10, 10)))  # type: ignore[arg-type]  # wrong on purpose
    with pytest.raises(OptionError, match="colour"):
        PuckColour(hue=(0, 200))
