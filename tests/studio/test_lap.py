"""A lap of Car Racing ends the episode, and with it the session of the paper's protocol."""

from __future__ import annotations

import numpy as np
import pytest

from counterbc.envs import find_world
from counterbc.studio.journal import read_session
from counterbc.studio.protocol import find_protocol
from counterbc.studio.study_folder import StudyFolder
from tests.studio.clients import Desk, load_recording


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
        desk.step(*action.tolist())
        count += 1
    desk.session.close()
    (journal,) = read_session(study.journal(desk.status["session"]))
    assert (journal.end, len(journal.steps)) == ("over", count)
    assert 500 < count < 2000  # of at most 6000
    assert load_recording(study).pairs == count
