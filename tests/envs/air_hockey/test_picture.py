"""Frames of the table."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from counterbc.envs import make_vec
from counterbc.envs.air_hockey.expert import expert
from counterbc.envs.air_hockey.picture import PADDLE_COLOR, PUCK_COLOR

Array = NDArray[Any]


def test_frames_show_paddle_puck_and_its_way() -> None:
    env = make_vec("air-hockey", 2, render_mode="rgb_array")
    obs, _ = env.reset(seed=0)
    first: Any = env.render()
    for t in range(15):
        obs = env.step(expert(obs, np.arange(2), t))[0]
    later: Any = env.render()
    for old, new in zip(first, later, strict=True):
        assert new.shape == (352, 672, 3)
        assert new.dtype == np.uint8
        for color, least_pixels in ((PADDLE_COLOR, 2000), (PUCK_COLOR, 200)):
            assert (new == color).all(axis=2).sum() > least_pixels
        reddish = (new[..., 0] - new[..., 2].astype(int) > 20).sum()
        assert reddish > (old[..., 0] - old[..., 2].astype(int) > 20).sum() + 200  # the trail
