"""The moving average of the weights: what acts and is measured, and when there is none."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from counterbc.data.demonstrations import Demonstrations
from counterbc.errors import OptionError
from tests.equality import assert_near
from tests.fixture_types import Train


def test_the_moving_average_is_what_the_held_out_error_measures(
    tiny: Demonstrations, quick: Train
) -> None:
    options: dict[str, Any] = {"policy": "flow", "horizon": 2, "held_out": 0.25, "steps": 30}
    curve = quick(tiny, "bc", **options).curve
    longer = quick(tiny, "bc", **(options | {"learning_rate": 1e-9})).curve
    assert curve is not None
    assert longer is not None
    assert curve.held_out is not None
    assert longer.held_out is not None
    # After one step the average is mostly the first step's parameters, which hardly differ.
    torch.testing.assert_close(curve.held_out[0], longer.held_out[0], rtol=0.05, atol=0.05)


@pytest.mark.parametrize("policy", ["gaussian-mlp", "chunk", "flow"])
def test_an_average_of_the_newest_weights_alone_is_no_average(
    policy: str, tiny: Demonstrations, quick: Train
) -> None:
    options: dict[str, Any] = {"policy": policy, "horizon": 2, "steps": 40}
    last = quick(tiny, "bc", ema_share=0.0, **options)
    assert_near(quick(tiny, "bc", ema_share=1 - 1e-9, **options), last, within=1e-4)
    averaged = quick(tiny, "bc", ema_share=0.05, **options)
    with pytest.raises(AssertionError):
        assert_near(averaged, last, within=1e-3)
    assert_near(quick(tiny, "bc", ema_share=0.0, kernel="torch", **options), last, within=1e-3)


@pytest.mark.parametrize("share", [-0.1, 1.0])
def test_an_average_needs_a_share_of_the_newest_weights(
    share: float, tiny: Demonstrations, quick: Train
) -> None:
    with pytest.raises(OptionError, match=r"ema_share is .*at least 0 and below 1"):
        quick(tiny, "bc", ema_share=share)
