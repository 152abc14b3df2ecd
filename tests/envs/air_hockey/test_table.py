"""Sizes of the table."""

from __future__ import annotations

from typing import Any

import pytest
from numpy.typing import NDArray

from counterbc.envs.air_hockey import table
from counterbc.envs.air_hockey.table import WIDTH

Array = NDArray[Any]


def test_the_reach_leaves_the_puck_room_at_every_wall() -> None:
    near = table.REACH_LOW[0, 0] - table.PADDLE
    side = WIDTH / 2 - table.REACH_HIGH[1, 0] - table.PADDLE
    assert near == pytest.approx(2 * table.PUCK + table.ROOM)
    assert side == pytest.approx(2 * table.PUCK + table.ROOM)
    assert table.ROOM > 0
