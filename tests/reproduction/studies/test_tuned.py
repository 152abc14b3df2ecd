"""The comparison of tuned methods."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from counterbc.demonstrators import UniformNoise
from counterbc.selection.tuning import TuneSearch
from reproduction.records import read
from reproduction.studies import tuned


def rows(variant: str, *returns: float) -> list[dict[str, Any]]:
    about = {"world": "w", "pairs": 400, "teacher": "t", "act": "mean", "shown": 5.0}
    return [about | {"variant": variant, "seed": i, "return": r} for i, r in enumerate(returns)]


def test_the_difference_is_paired_by_seed() -> None:
    table = tuned.markdown(
        rows("counter-bc, tuned", 3.0, 4.0, 5.0) + rows("bc, tuned", 1.0, 2.0, 3.0)[::-1]
    )
    cells = [cell.strip() for cell in table.splitlines()[2].split("|")[1:-1]]
    assert cells[:5] == ["w", "400", "t", "mean", "5.0"]
    assert cells[5:9] == ["–", "–", "2.00", "4.00"]
    assert cells[9] == "+2.00 [+2.00, +2.00]"


def test_a_variant_that_was_not_run_leaves_no_difference() -> None:
    assert tuned.markdown(rows("bc, tuned", 1.0)).splitlines()[2].endswith("| 1.00 | – | – | – |")


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


def test_the_summary_averages_percentages_over_kinds_and_has_an_interval_over_runs() -> None:
    pair = rows("counter-bc, tuned", 3.0, 5.0) + rows("bc, tuned", 2.0, 2.0)
    other = [r | {"world": "v"} for r in pair]
    text = tuned.summary(pair + other)
    assert text.startswith("act=mean: tuned Counter-BC minus tuned BC is +100.0 % [")
    assert text.endswith("on average over 2 kinds of data, 2 runs.")


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


def test_the_cost_of_tuning_grows_from_the_fewest_pairs() -> None:
    rows = [{"world": "w", "pairs": n, "train": 2.0, "tune": t} for n, t in ((400, 4), (1600, 6))]
    assert tuned.cost_table(rows).splitlines()[2:] == [
        "| w | 400 | 2.0 s | 4.0 s | 2.0 | – |",
        "| w | 1600 | 2.0 s | 6.0 s | 3.0 | 1.5 × for 4 × the pairs |",
    ]
    assert tuned.cost_table([]) == "Not run yet."
