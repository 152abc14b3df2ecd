from __future__ import annotations

import numpy as np
import pytest

from counterbc.data.arrays import Array
from counterbc.data.demonstrations import Demonstrations, Episode
from counterbc.data.echoes import Echo, Echoes, Starts
from counterbc.data.raw_episode import raw_episodes


def echoes(*episodes: Episode) -> tuple[Echo, ...]:
    demos = Demonstrations(episodes)
    detector = Echoes(demos)
    for raw in raw_episodes(demos):
        detector.see(raw)
    return detector.detect()


def recordings(scale: float, noise: float, first: float | None) -> list[Episode]:
    """Return episodes of smooth actions; the second observation shows the previous one."""
    rng, episodes = np.random.default_rng(0), []
    for _ in range(8):
        action = np.convolve(rng.normal(size=80), np.ones(8) / 8, "valid")[:, None]
        start = action[:1] if first is None else np.full((1, 1), first)
        shown = scale * np.vstack([start, action[:-1]])
        shown = shown + noise * action.std() * rng.normal(size=shown.shape)
        episodes.append(Episode(np.hstack([rng.normal(size=shown.shape), shown]), action))
    return episodes


@pytest.mark.parametrize(("scale", "noise"), [(1.0, 0.0), (1.0, 0.1), (-30.0, 0.0), (0.02, 0.001)])
def test_scaled_and_noisy_copies_of_the_previous_action_are_echoes(
    scale: float, noise: float
) -> None:
    (echo,) = echoes(*recordings(scale, noise, first=3.0))
    assert (echo.action_dim, echo.obs_dim, echo.is_filled) == (0, 1, True)
    assert echo.share > 0.97


def test_a_first_action_that_is_repeated_is_filled_in() -> None:
    (echo,) = echoes(*recordings(1.0, 0.0, first=None))
    assert echo.is_filled


def test_a_smooth_quantity_that_follows_slowly_is_no_echo() -> None:
    def follow(e: Episode) -> Episode:
        position = np.zeros_like(e.action)
        for t in range(1, len(e)):
            position[t] = position[t - 1] + 0.3 * (e.action[t - 1] - position[t - 1])
        return Episode(position, e.action)

    assert echoes(*map(follow, recordings(1.0, 0.0, first=0.0))) == ()


def test_values_that_differ_between_episodes_are_not_filled_in() -> None:
    def filled(first: Array) -> bool:
        starts, rng = Starts(1), np.random.default_rng(0)
        for value in first:
            walk = value + np.cumsum(np.append(0, rng.normal(size=30)))
            starts.see(walk[:, None])
        return bool(starts.filled_dims(np.ones(1))[0])

    assert not filled(np.arange(10.0))
    assert not filled(np.zeros(10))  # it starts at home, and moves on as usual
    assert not filled(np.zeros(1))
