from __future__ import annotations

import numpy as np

from counterbc.data.copies import Copies, Copy
from counterbc.data.demonstrations import Demonstrations, Episode
from counterbc.data.raw_episode import raw_episodes


def copies(*episodes: Episode, names: tuple[str, ...]) -> tuple[Copy, ...]:
    demos = Demonstrations(episodes, obs_names=names)
    found_copies = Copies(demos)
    for raw in raw_episodes(demos):
        found_copies.see(raw)
    return found_copies.detect()


def test_the_name_or_a_start_at_zero_tells_the_previous_action_from_the_next_observation() -> None:
    rng = np.random.default_rng(0)
    pairs = [rng.normal(size=(41, 1)) for _ in range(2)]
    moved = [Episode(p[:-1], p[1:]) for p in pairs]
    assert copies(*moved, names=("x",)) == (Copy(0, 0, 1, False),)
    assert copies(*moved, names=("last_action",)) == (Copy(0, 0, 1, True),)
    for p in pairs:
        p[0] = 0
    assert copies(*(Episode(p[:-1], p[1:]) for p in pairs), names=("x",)) == (Copy(0, 0, 1, True),)


def test_a_dimension_that_rarely_changes_needs_enough_changes_to_be_a_copy() -> None:
    action = np.zeros((100, 1))
    action[50:] = 1
    assert copies(Episode(action.copy(), action), names=("x",)) == ()


def test_a_copy_that_holds_only_in_the_first_episode_is_none() -> None:
    rng = np.random.default_rng(0)
    a, b, c = (rng.normal(size=(60, 1)) for _ in range(3))
    assert copies(Episode(a, a), Episode(b, c), names=("x",)) == ()
    assert copies(Episode(a, a), Episode(b, b), names=("x",)) == (Copy(0, 0, 0, False),)
