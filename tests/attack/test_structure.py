"""Damage that joins, splits, loses or exchanges episodes or columns is noticed."""

from __future__ import annotations

from dataclasses import replace

from attack.bases import recordings
from attack.structure import Structure
from counterbc import Demonstrations, Episode

WHOLE = recordings()


def _differences(demos: Demonstrations) -> list[str]:
    return Structure.of(WHOLE).differences(Structure.of(demos))


def test_the_same_data_have_no_differences() -> None:
    assert _differences(recordings()) == []


def test_a_lost_and_a_joined_episode_are_another_structure() -> None:
    lost = replace(WHOLE, episodes=WHOLE.episodes[1:])
    assert _differences(lost)[0] == "structure"
    whole_obs, whole_action = WHOLE.obs, WHOLE.action
    joined = replace(WHOLE, episodes=(Episode(whole_obs, whole_action),))
    assert _differences(joined)[0] == "structure"


def test_exchanged_columns_and_episodes_are_noticed() -> None:
    columns = [
        replace(episode, action=episode.action[:, ::-1].copy()) for episode in WHOLE.episodes
    ]
    assert _differences(replace(WHOLE, episodes=tuple(columns)))[0] == "columns exchanged"
    same_lengths = tuple(
        Episode(e.obs[:8], e.action[:8], operator=e.operator, name=e.name) for e in WHOLE.episodes
    )
    whole = Structure.of(replace(WHOLE, episodes=same_lengths))
    first, second, *rest = same_lengths
    moved = (replace(first, action=second.action), replace(second, action=first.action), *rest)
    demos = replace(WHOLE, episodes=moved)
    assert whole.differences(Structure.of(demos))[0] == "episodes exchanged"


def test_another_number_is_no_other_structure() -> None:
    first = WHOLE.episodes[0]
    action = first.action.copy()
    action[0, 0] += 0.5
    episodes = (replace(first, action=action), *WHOLE.episodes[1:])
    assert _differences(replace(WHOLE, episodes=episodes)) == ["numbers"]


def test_bounds_may_be_lost_but_not_changed() -> None:
    assert _differences(replace(WHOLE, action_low=None, action_high=None)) == []
    assert WHOLE.action_high is not None
    assert _differences(replace(WHOLE, action_high=WHOLE.action_high * 2)) == ["bounds"]
