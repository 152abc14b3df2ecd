from __future__ import annotations

import numpy as np

from counterbc.data.arrays import Array
from counterbc.data.delays import WIDE, Delay, Delays
from counterbc.data.demonstrations import Demonstrations, Episode
from counterbc.data.raw_episode import raw_episodes


def delays(obs: Array, action: Array) -> tuple[Delay, ...]:
    demos = Demonstrations((Episode(obs, action),))
    checks = Delays(demos)
    for raw in raw_episodes(demos):
        checks.see(raw)
    return checks.detect()


def test_a_velocity_that_moves_a_place_five_steps_later_is_late() -> None:
    rng = np.random.default_rng(0)
    velocity = rng.normal(size=(300, 1))
    place = np.cumsum(np.vstack([np.zeros((5, 1)), velocity[:-5]]), axis=0)
    (delay,) = delays(place, velocity)
    assert (delay.source, delay.obs, delay.is_action) == ("action[0]", "state[0]", True)
    assert delay.steps in (4, 5)
    assert delay.share > 0.99


def test_people_who_react_late_are_no_delay_of_the_recording() -> None:
    rng = np.random.default_rng(0)
    place = np.cumsum(rng.normal(size=(300, 1)), axis=0)
    reaction = -np.vstack([place[:1].repeat(5, axis=0), place[:-5]])
    assert delays(place, reaction) == ()


def test_streams_without_relation_and_many_dimensions_have_no_delay() -> None:
    rng = np.random.default_rng(0)
    assert delays(rng.normal(size=(300, 3)), rng.normal(size=(300, 1))) == ()
    many = rng.normal(size=(300, WIDE + 1))
    assert delays(many, np.roll(many[:, :1], -3, axis=0)) == ()
