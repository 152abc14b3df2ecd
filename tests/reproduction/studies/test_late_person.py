"""The delay of a scripted person at the studio."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from counterbc.envs import find_world
from reproduction.records import read
from reproduction.studies import late_person
from reproduction.studies.late_person import LatePerson, LatePersonOptions, kind


def test_an_action_answers_the_state_of_some_steps_before() -> None:
    demos = late_person.record(LatePerson("cartpole", 3, error=0.0, pairs=100), 1000)
    expert = find_world("cartpole").load_expert()
    for episode in demos.episodes:
        np.testing.assert_array_equal(episode.action[:3], 0.0)  # nothing can be answered yet
        for t in range(3, len(episode)):
            answer = expert(episode.obs[t - 3][None], np.zeros(1, np.int64), t - 3)[0]
            np.testing.assert_allclose(episode.action[t], answer, atol=1e-6)


def test_who_does_not_wait_answers_the_first_state_at_once() -> None:
    person = LatePerson("cartpole", 3, error=0.0, pairs=100, waits=False)
    episode = late_person.record(person, 1000).episodes[0]
    expert = find_world("cartpole").load_expert()
    answer = expert(episode.obs[0][None], np.zeros(1, np.int64), 0)[0]
    for action in episode.action[:4]:
        np.testing.assert_allclose(action, answer, atol=1e-6)


@pytest.mark.parametrize(("world", "pairs"), [("cartpole", 1000), ("air-hockey", 2400)])
def test_a_recording_is_as_long_as_the_papers_protocol(world: str, pairs: int) -> None:
    demos = late_person.record(LatePerson(world, 2), 1000)
    assert (demos.pairs, demos.actions_are) == (pairs, "asked")
    assert demos.rate == find_world(world).rate
    again = late_person.record(LatePerson(world, 2), 1000)
    assert demos.fingerprint() == again.fingerprint()
    assert demos.fingerprint() != late_person.record(LatePerson(world, 2), 1001).fingerprint()


def test_errors_are_within_their_bounds_and_fill_them() -> None:
    demos = late_person.record(LatePerson("air-hockey", 2), 1000)
    waiting = np.concatenate([e.action[:2] for e in demos.episodes])  # the expert is not asked
    assert 0.2 < np.abs(waiting).max() <= 0.3


def test_the_table_counts_exact_and_confirmed_delays_and_names_the_others_by_hand() -> None:
    person = LatePerson("cartpole", 6)
    answers = [(6.0, True), (0.0, False), (6.0, False)]
    rows = [
        kind(person) | {"seed": i, "lag": lag, "confident": confident}
        for i, (lag, confident) in enumerate(answers)
    ]
    (line,) = late_person.markdown(rows).splitlines()[2:]
    assert line == "| Cartpole | 1000 | ± 0.3 | waits | 6 | 2 of 3 | 1 of 3 | 0 |"


def test_people_differ() -> None:
    assert len({tuple(kind(person).items()) for person in late_person.PEOPLE}) == 15


@pytest.mark.slow
def test_rows_are_kept_and_a_second_run_adds_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(late_person, "PEOPLE", (LatePerson("cartpole", 4, pairs=300),))
    options = LatePersonOptions(out=tmp_path, seeds=1, first_seed=1000)
    for _ in range(2):
        late_person.run(options)
        (row,) = read(tmp_path / "late-person" / "rows.json")
    assert (row["world"], row["delay"], row["pairs"], row["seed"]) == ("cartpole", 4, 300, 1000)
    assert {"lag", "verdict", "confident", "episodes", "versions"} <= row.keys()
