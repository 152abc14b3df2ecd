"""The simulated camera is late, noisy and lossy by the numbers that it is given."""

from __future__ import annotations

import numpy as np
import pytest

from counterbc.errors import OptionError
from counterbc.robots.simulated.sensor import Disturbances, Sensor

PUCK = np.array([0.5, 0.1])


def deliveries(disturbances: Disturbances, seconds: float = 10.0) -> list[tuple[float, float]]:
    """Return delivery and picture times, at a resolution of one millisecond."""
    sensor, pairs = Sensor(disturbances, seed=0), []
    for step in range(round(1000 * seconds)):
        sensor.look(step / 1000, PUCK)
        pairs += [(step / 1000, time) for time, _ in sensor.delivered(step / 1000)]
    return pairs


def test_pictures_come_at_their_rate_after_their_delay() -> None:
    pairs = np.array(deliveries(Disturbances(delay=0.03)))
    assert len(pairs) == pytest.approx(598, abs=3)
    assert pairs[:, 0] - pairs[:, 1] == pytest.approx(0.03, abs=0.0011)


def test_a_share_of_pictures_is_dropped() -> None:
    assert len(deliveries(Disturbances(dropped=0.25))) == pytest.approx(450, abs=40)


def test_delays_spread_and_keep_the_order() -> None:
    pairs = np.array(deliveries(Disturbances(delay=0.01, delay_spread=0.05)))
    delays = pairs[:, 0] - pairs[:, 1]
    assert delays.min() < 0.02
    assert delays.max() > 0.05
    assert (np.diff(pairs[:, 1]) > 0).all()


def test_positions_are_noisy() -> None:
    sensor, places = Sensor(Disturbances(noise=0.002), seed=1), []
    for step in range(2000):
        sensor.look(step / 60, PUCK)
        places += [place for _, place in sensor.delivered(step / 60)]
    assert np.std(places, axis=0) == pytest.approx(0.002, rel=0.1)
    assert np.mean(places, axis=0) == pytest.approx(PUCK, abs=3e-4)


def test_a_lost_camera_delivers_nothing_more() -> None:
    pairs = deliveries(Disturbances(lost_after=2.0))
    assert max(time for _, time in pairs) < 2.0


def test_pictures_in_which_nothing_is_seen_are_not_delivered() -> None:
    sensor = Sensor(Disturbances(delay=0), seed=0, track=lambda puck: None)
    sensor.look(0.0, PUCK)
    assert sensor.delivered(1.0) == []


def test_the_same_seed_gives_the_same_pictures() -> None:
    d = Disturbances(dropped=0.5, delay_spread=0.02)
    assert deliveries(d, 1.0) == deliveries(d, 1.0)


NAN = float("nan")


@pytest.mark.parametrize(
    "fields",
    [
        {"delay": -1}, {"dropped": 1.0}, {"noise": -0.1}, {"lost_after": -1.0}, {"delay": NAN},
        {"delay_spread": NAN}, {"delay_spread": float("inf")}, {"noise": NAN}, {"dropped": NAN},
        {"lost_after": NAN},
    ],
)  # fmt: skip
def test_impossible_disturbances_are_refused(fields: dict[str, float]) -> None:
    with pytest.raises(OptionError, match="delays and noise are finite numbers of at least 0"):
        Disturbances(**fields)
