"""Recordings of Can's operators."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from counterbc import load
from counterbc.demonstrators import CAN_OPERATORS, EpisodeBatch, record
from counterbc.demonstrators.can_operators import Performance
from reproduction.records import read
from reproduction.studies import can_record
from tests.envs.can.scenes import observe, off


def test_seeds_and_starts_are_those_of_the_published_file() -> None:
    person = CAN_OPERATORS["synthetic_okay_1"]
    attempts = can_record.Attempts(person, np.array([4, 7]), attempt=1)
    assert attempts.seeds == [[2, 4, 1], [2, 7, 1]]
    assert attempts.starts == [14887762213957655448, 3253520586502349968]
    act = attempts.control(EpisodeBatch(np.zeros(2), np.arange(2), size=7, steps=500, rate=20))
    obs = np.stack([observe(off(0.1, 0.2, 0.3), 0.08)] * 2)
    performances = [Performance(person, seed) for seed in attempts.seeds]
    for t in range(5):
        target = np.stack([p.act(o) for p, o in zip(performances, obs, strict=True)])
        np.testing.assert_array_equal(act(obs, np.zeros((2, 7)), t), target)
    assert attempts.operator(0) == "synthetic_okay_1"


@pytest.mark.extra("robosuite")
def test_the_first_success_of_each_demonstration_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    person = CAN_OPERATORS["synthetic_better_1"]
    # With time for one of the two first attempts; they take about 165 and 171 steps.
    in_time = partial(record, max_episode_steps=168)
    monkeypatch.setattr(can_record, "record", in_time)
    episodes, repeats = can_record.perform(person, 2), 0
    for number, episode in enumerate(episodes):
        for attempt in range(10):
            alone = can_record.Attempts(person, np.array([number]), attempt)
            (take,) = in_time("can", alone, 1, seed=5, starts=alone.starts)
            if len(take.episode) < 168:
                break
            repeats += 1
        np.testing.assert_array_equal(episode.obs, take.episode.obs)
        np.testing.assert_array_equal(episode.action, take.episode.action)
        assert (episode.operator, episode.success) == (person.name, True)
    assert repeats > 0


@pytest.mark.extra("robosuite")
def test_the_study_writes_demonstrations_and_a_summary(tmp_path: Path, check_origin: Any) -> None:
    options = can_record.CanRecordOptions(out=tmp_path / "can.hdf5", each=1)
    can_record.run(options)
    demos, rows = load(options.out), read(tmp_path / "can.json")
    assert len(demos.operators) == len(demos) == 6
    assert all(episode.success for episode in demos.episodes)
    assert rows[-1]["pairs"] == demos.pairs == sum(r["pairs"] for r in rows[:-1])
    check_origin(*rows)
