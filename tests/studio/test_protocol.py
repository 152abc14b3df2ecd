"""The paper's protocol is a preset, and a lap of Car Racing completes it."""

from __future__ import annotations

import numpy as np
import pytest

from counterbc.envs import WORLDS, find_world
from counterbc.errors import OptionError
from counterbc.studio.journal import read_session
from counterbc.studio.protocol import PAPER, find_protocol
from counterbc.studio.stage import STAGES
from counterbc.studio.study_folder import StudyFolder
from tests.studio.clients import Desk, load_recording


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


@pytest.mark.slow
@pytest.mark.needs("envpool")
def test_a_complete_lap_ends_the_episode_and_the_session(
    study: StudyFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("secrets.randbelow", lambda limit: 7)  # a track that the expert completes
    protocol = find_protocol("paper", "car-racing")
    desk = Desk(study, "car-racing", **protocol.as_dict())
    expert = find_world("car-racing").load_expert()
    desk.session.record()
    desk.session.start()
    count = 0
    while desk.status["phase"] != "finished":
        action = expert(desk.session.stage.obs[None], np.zeros(1, np.int64), count)[0]
        count += desk.step(*action.tolist())
    desk.session.close()
    (journal,) = read_session(study.journal(desk.status["session"]))
    assert (journal.end, len(journal.steps)) == ("over", count)
    assert 500 < count < 2000  # of at most 6000
    assert load_recording(study).pairs == count
