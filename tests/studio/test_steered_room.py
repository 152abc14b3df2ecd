"""Inputs of devices, as Collect and Watch take them."""

from __future__ import annotations

from typing import Any

import pytest

from counterbc.errors import OptionError
from counterbc.studio.collecting import Input
from counterbc.studio.steered_room import read_input

MESSAGE: dict[str, Any] = {"action": [0.5, -0.25], "device": "gamepad", "at": 12.5}


def test_an_input_is_an_action_a_device_and_a_time_if_it_is_known() -> None:
    assert read_input(MESSAGE, 2) == Input((0.5, -0.25), "gamepad", 12.5)
    assert read_input(MESSAGE | {"at": None}, 2).at is None


@pytest.mark.parametrize(
    "fault", [{"action": [1]}, {"action": [1, "x"]}, {"device": "mind"}, {"at": -1}, {"at": "now"}]
)
def test_anything_else_is_refused(fault: dict[str, Any]) -> None:
    with pytest.raises(OptionError):
        read_input(MESSAGE | fault, 2)
