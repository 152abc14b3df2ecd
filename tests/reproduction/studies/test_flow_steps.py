"""The study of a flow's gradient steps: its rule, its data, and a tiny run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from counterbc.data.demonstrations import Demonstrations
from counterbc.errors import OptionError
from reproduction.records import read
from reproduction.studies import flow_steps
from reproduction.studies.flow_steps import FlowStepsOptions, fewest, markdown, split
from tests.fixture_types import Make
from tests.reproduction.studies.conftest import CheckOrigin, RunHere


def test_the_fewest_steps_within_one_standard_error_of_the_best_are_chosen() -> None:
    best = np.array([1.0, 1.2, 0.8])
    near = best + np.array([0.3, -0.1, 0.0])  # 0.07 ± 0.12 above the best
    far = best + np.array([0.2, 0.3, 0.1])  # 0.2 ± 0.06
    assert fewest(np.stack([far, near, best, best + 1])) == 1
    assert fewest(np.stack([far, best, near])) == 1
    assert fewest(np.stack([best, far])) == 0


def test_episodes_to_learn_from_are_nested_and_never_held_out(make_demos: Make) -> None:
    demos = make_demos(episodes=30)
    names = [[e.name for e in part.episodes] for part in split(demos, 4, seed=1)]
    larger = [[e.name for e in part.episodes] for part in split(demos, 10, seed=1)]
    assert (len(names[0]), len(names[1]), len(larger[0])) == (4, flow_steps.HELD_OUT, 10)
    assert names[1] == larger[1]
    assert set(names[0]) < set(larger[0])
    assert not set(larger[0]) & set(larger[1])
    assert names != [[e.name for e in part.episodes] for part in split(demos, 4, seed=2)]
    with pytest.raises(OptionError, match="11 episodes to learn from and 20 held out do not fit"):
        split(demos, 11, seed=1)


def test_the_table_shows_what_the_held_out_error_would_have_chosen() -> None:
    rows = [
        {"size": 10, "pairs": 1200, "steps": steps, "seed": seed, "score": score, "error": error}
        for steps, score, error in ((1000, 0.2, 0.1), (5000, 0.6, 0.3))
        for seed in range(3)
    ]
    assert (
        markdown(rows).splitlines()[2] == "| 10 | 1,200 | 0.200 | 0.600 | 5,000 | 1,000 | +0.400 |"
    )
    assert markdown([]) == "Not run yet."


@pytest.mark.slow
@pytest.mark.needs("gym_pusht")
def test_a_tiny_study_tests_one_training_at_several_steps(
    make_demos: Make, tmp_path: Path, run_here: RunHere, check_origin: CheckOrigin,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    run_here(flow_steps)
    monkeypatch.setattr(flow_steps, "HELD_OUT", 2)
    demos = make_demos(episodes=5, length=12, obs_size=5, action_low=None, action_high=None)
    pixels = [
        replace(e, obs=256 + 200 * e.obs, action=256 + 200 * e.action, reward=None)
        for e in demos.episodes
    ]
    Demonstrations(tuple(pixels)).save(tmp_path / "people.hdf5")
    options = FlowStepsOptions(
        data=tmp_path / "people.hdf5", out=tmp_path, seeds=2, episodes=1, sizes=(2, 3),
        steps=(2, 4), device="cpu",
    )  # fmt: skip
    flow_steps.run(options)
    rows = read(tmp_path / "flow-steps" / "rows.json")
    cells = [(r["size"], r["steps"], r["seed"]) for r in rows]
    assert cells == [(n, s, k) for n in (3, 2) for s in (2, 4) for k in (1080, 1081)]
    assert [r["pairs"] for r in rows] == [36] * 4 + [24] * 4
    assert len({r["error"] for r in rows}) == len(rows)
    check_origin(*rows)
    flow_steps.run(options)
    assert read(tmp_path / "flow-steps" / "rows.json") == rows


def test_the_file_is_asked_for() -> None:
    with pytest.raises(OptionError, match="needs a file of people; name it with --data"):
        flow_steps.measure(10, FlowStepsOptions(seeds=1))
