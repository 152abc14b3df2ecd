"""The paper's protocol is a preset."""

from __future__ import annotations

import pytest

from counterbc.envs import WORLDS
from counterbc.errors import OptionError
from counterbc.studio.protocol import PAPER, find_protocol
from counterbc.studio.stage import STAGES


def test_the_papers_protocol_is_five_minutes_of_practice_and_then_what_it_says() -> None:
    assert set(PAPER) == set(STAGES)
    assert {protocol.practice for protocol in PAPER.values()} == {300.0}
    assert PAPER["intersection"].episodes == 50
    assert PAPER["cartpole"].pairs == 1000
    assert PAPER["car-racing"].episodes == 1
    assert PAPER["air-hockey"].pairs == 2 * 60 * WORLDS["air-hockey"].rate


def test_a_free_session_has_no_limits_but_that_of_an_episode() -> None:
    free = find_protocol("free", "cartpole")
    assert (free.practice, free.episodes, free.pairs, free.episode_steps) == (None,) * 4
    assert find_protocol("free", "car-racing").episode_steps == 6000
    assert find_protocol("paper", "cartpole") is PAPER["cartpole"]


def test_other_protocols_are_refused() -> None:
    with pytest.raises(OptionError, match="allowed: paper, free"):
        find_protocol("quick", "cartpole")
