"""The puck's previous position is one period back in time, whatever pictures arrived."""

from __future__ import annotations

import numpy as np
import pytest

from counterbc.robots.track import Track


def test_the_previous_position_is_interpolated_at_one_period_before() -> None:
    track = Track(0.05)
    for time in (0.0, 0.017, 0.033, 0.066, 0.083):  # one picture is missing
        track.add(time, np.array([2 * time, -time]))
    assert track.newest is not None
    time, position, before = track.newest
    assert time == 0.083
    assert position == pytest.approx([0.166, -0.083])
    assert before == pytest.approx([0.066, -0.033])


def test_a_puck_that_was_just_found_seems_to_rest() -> None:
    assert Track(0.05).newest is None
    track = Track(0.05)
    track.add(1.0, np.array([0.3, 0.1]))
    assert track.newest is not None
    assert track.newest[2].tolist() == [0.3, 0.1]


def test_pictures_out_of_order_are_dropped() -> None:
    track = Track(0.05)
    track.add(1.0, np.zeros(2))
    track.add(0.9, np.ones(2))
    assert track.newest is not None
    assert track.newest[0] == 1.0


def test_old_samples_do_not_pile_up() -> None:
    track = Track(0.05)
    for i in range(1000):
        track.add(i / 60, np.zeros(2))
    assert len(track._samples) <= 5
