"""Lists of episodes as lerobot-train reads them: --dataset.episodes names those to learn from."""

from __future__ import annotations

import json
from collections.abc import Collection
from pathlib import Path

from counterbc.files import aside, check_free

_MOST_PRINTED = 500  # episodes whose numbers fit on a screen


def kept_episodes(count: int, excluded: Collection[int]) -> list[int]:
    """Return the numbers of the other episodes of `count`."""
    without = set(excluded)
    return [i for i in range(count) if i not in without]


def episodes_option(count: int, excluded: Collection[int]) -> str:
    """Return the option of lerobot-train that learns from all episodes but some.

    Numbers of many episodes are left to a file, which a comment of the shell says how to write.

    >>> episodes_option(4, [1])
    "--dataset.episodes='[0, 2, 3]'"
    """
    if count > _MOST_PRINTED:
        return '--dataset.episodes="$(cat FILE)"  # score and influence write --episode-list FILE'
    return f"--dataset.episodes='{kept_episodes(count, excluded)}'"


def write_episodes(path: Path, count: int, excluded: Collection[int]) -> None:
    """Write the numbers of the kept episodes as JSON: --dataset.episodes="$(cat FILE)"."""
    check_free(path)
    with aside(path) as temporary:
        temporary.write_text(json.dumps(kept_episodes(count, excluded)) + "\n", "utf-8")
