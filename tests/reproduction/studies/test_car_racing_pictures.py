"""Pictures of Car Racing."""

from __future__ import annotations

import numpy as np

from reproduction.studies.car_racing_pictures import _side_by_side


def test_pictures_stand_beside_each_other_with_white_gaps() -> None:
    black = np.zeros((4, 5, 3), np.uint8)
    row = _side_by_side([black, black], axis=1)
    assert row.shape == (4, 16, 3)
    assert (row[:, 5:11] == 255).all()
    assert _side_by_side([row, row], axis=0).shape == (14, 16, 3)
