"""Lists of episodes for lerobot-train."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from counterbc.errors import CounterBCError
from counterbc.formats.lerobot.episode_list import episodes_option, kept_episodes, write_episodes


def test_the_option_names_all_episodes_but_the_excluded_ones() -> None:
    assert kept_episodes(5, [0, 3]) == [1, 2, 4]
    assert episodes_option(3, []) == "--dataset.episodes='[0, 1, 2]'"


def test_the_numbers_of_many_episodes_are_left_to_a_file() -> None:
    assert episodes_option(500, [7]).endswith("499]'")
    option = episodes_option(50_000, [7])
    assert option.endswith("--episode-list FILE")
    assert len(option) < 100
    assert shlex.split(option, comments=True) == ["--dataset.episodes=$(cat FILE)"]


def test_a_list_is_written_once_as_json(tmp_path: Path) -> None:
    path = tmp_path / "kept.json"
    write_episodes(path, 4, [2])
    assert json.loads(path.read_text()) == [0, 1, 3]
    with pytest.raises(CounterBCError, match="already exists"):
        write_episodes(path, 4, [2])
