"""The comparison of tuned methods."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from counterbc.demonstrators import UniformNoise
from counterbc.errors import OptionError
from counterbc.selection.tuning import TuneSearch
from counterbc.trainer import train
from reproduction.records import read, write_rows
from reproduction.studies import tuned
from tests.fixture_types import Make


def test_the_kinds_are_the_36_of_the_study_radius_and_whole_episodes_of_five_teachers() -> None:
    kinds = [kind for kind, _ in tuned.kinds(tuned.TunedOptions())]
    names = [tuple(kind.values()) for kind in kinds]
    assert len(names) == len(set(names)) == 36 + 3 * 5
    assert sum(kind["teacher"].endswith("scattered") for kind in kinds) == 36


def test_scattered_pairs_are_a_sample_of_a_pool() -> None:
    about = {"world": "intersection", "pairs": 30, "teacher": "uniform 0.1, scattered"}
    (demos,) = tuned.datasets_of(about, UniformNoise(0.1), range(1))
    assert demos.pairs == 30
    assert demos.selected is not None
    (whole,) = tuned.datasets_of(about | {"teacher": "no noise"}, UniformNoise(0.0), range(1))
    assert whole.selected is None


def test_the_study_trains_and_tests_every_variant(
    tmp_path: Path, check_origin: Any, run_here: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    search = TuneSearch(radii=(0.0, 0.2), step_counts=(5, 10), ensembles=(1, 2))
    monkeypatch.setattr("counterbc.selection.tuner.TuneSearch", lambda: search)
    short = {
        name: variant | ({"steps": 5} if "steps" in variant else {})
        for name, variant in tuned.VARIANTS.items()
    }
    monkeypatch.setattr(tuned, "VARIANTS", short)
    monkeypatch.setattr(tuned, "WHOLE_PAIRS", 120)
    kinds = tuned.kinds
    monkeypatch.setattr(tuned, "kinds", lambda options: list(kinds(options))[-1:])
    run_here(tuned)
    options = tuned.TunedOptions(
        seeds=2, worlds=("intersection",), episodes=2, out=tmp_path, workers=1
    )
    tuned.run(options)
    numbers = read(tmp_path / "tuned" / "rows.json")
    assert {r["teacher"] for r in numbers} == {"0.2 s late, typical"}
    assert len(numbers) == len(tuned.VARIANTS) * 2 * 2  # seeds and ways of acting
    for r in numbers:
        is_tuned = "tuned" in r["variant"]
        assert r["steps"] in ((5, 10) if is_tuned else (None,))
        assert is_tuned or (r["lag"], r["ensemble"]) == ([0.0], 1)
        assert r["radius"] == 0 or r["variant"].startswith("counter-bc")
    check_origin(*numbers)


def test_the_page_says_where_nothing_was_run(tmp_path: Path) -> None:
    assert tuned.sections(tmp_path)["tune"]["tuned"] == "Not run yet."


def test_teachers_and_pairs_can_be_asked_for() -> None:
    options = tuned.TunedOptions(
        worlds=("cartpole",), teachers=("novice", "0.2 s late"), pairs=1600
    )
    kinds = [kind for kind, _ in tuned.kinds(options)]
    assert [(k["teacher"], k["pairs"]) for k in kinds] == [("novice", 1600), ("0.2 s late", 1600)]
    assert all(map(tuned.is_later, kinds))
    with pytest.raises(OptionError, match="teacher"):
        list(tuned.kinds(tuned.TunedOptions(teachers=("nobody",))))


def test_kinds_that_were_added_later_are_in_a_table_of_their_own(tmp_path: Path) -> None:
    about = {"world": "w", "act": "mean", "seed": 1, "return": 2.0, "shown": 5.0}
    kinds = [("no noise", 400), ("crowd", 400), ("0.2 s late", 1600)]
    rows = [about | {"teacher": t, "pairs": n, "variant": "bc, tuned"} for t, n in kinds]
    write_rows(rows, tmp_path / "tuned")
    tables = tuned.sections(tmp_path)["tune"]
    assert [len(tables[name].splitlines()) for name in ("tuned", "tuned-later")] == [3, 4]


def test_a_member_is_tested_with_the_networks_that_its_own_dataset_chose(make_demos: Make) -> None:
    sizes = [1, 2]
    several = [make_demos(seed=s) for s in range(2)]
    options: dict[str, Any] = {"steps": 5, "hidden": (8, 8), "radius": 0.2, "progress": False}
    policies = train(several, seeds=2, ensemble=2, **options)
    with_choices = replace(policies, config={"choices": [{"ensemble": n} for n in sizes]})
    assert tuned.ensembles_of(with_choices) == sizes
    assert tuned.ensembles_of(policies) == [2, 2]
    single = train(several, seeds=2, ensemble=1, **options)
    for name, value in tuned.first_networks(policies, 1).params.items():
        assert torch.equal(value, single.params[name])
