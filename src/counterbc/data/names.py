"""Names of episodes, dimensions and cameras: in short texts, and as numbers."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping, Sequence
from typing import SupportsIndex

from counterbc.errors import OptionError, unknown

GOAL_KEY = "intent"
"""The observation that `counterbc intents --condition` adds."""


def shorten(names: Sequence[str], count: int = 6) -> str:
    """Return the first few names, and how many there are in all."""
    return ", ".join(names[:count]) + (f", … {len(names)} in all" if len(names) > count else "")


def shape_text(shape: Sequence[int]) -> str:
    """Return 96×96×3 for the shape (96, 96, 3)."""
    return "×".join(map(str, shape))


def cameras_text(cameras: Mapping[str, Sequence[int]], blind_to: Sequence[str] = ()) -> str:
    """Return the name and size of each camera, and those that are not read."""
    texts = [f"{name} {shape_text(shape)}" for name, shape in cameras.items()]
    texts += [f"{name} (not read)" for name in blind_to]
    return shorten(texts)


def episode_numbers(names: Sequence[str], episodes: Iterable[SupportsIndex | str]) -> list[int]:
    """Return the number of each episode, given by name or by number; -1 is the last one."""
    return [_episode_number(names, episode) for episode in episodes]


def _episode_number(names: Sequence[str], episode: SupportsIndex | str) -> int:
    if isinstance(episode, str):
        if episode not in names:
            raise unknown("episode", episode, [shorten(names)])
        return names.index(episode)
    number = operator.index(episode)
    if not -len(names) <= number < len(names):
        raise OptionError(f"episode {number} does not exist; there are 0 … {len(names) - 1}")
    return number % len(names)
