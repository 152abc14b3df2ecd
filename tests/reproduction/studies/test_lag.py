"""The study of teachers whose delay is known."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from counterbc.demonstrators import Chain, Delay, UniformNoise
from reproduction.records import read
from reproduction.studies import lag


def row(world: str, value: float, verdict: str, confident: bool = False) -> dict[str, Any]:
    about = {"world": world, "noise": "none", "pairs": 400, "seconds": 0.1, "median_length": 200}
    return about | {"lag": value, "verdict": verdict, "confident": confident}


def test_answers_and_errors_are_counted_by_hand() -> None:
    # 0.1 s are 5 steps of Cartpole; half a step is tolerated.
    rows = [
        row("cartpole", 5.0, "late", confident=True),
        row("cartpole", 5.5, "late"),
        row("cartpole", 6.0, "late", confident=True),
        row("cartpole", 0.0, "cannot tell"),
    ]
    counts = lag.tally(rows)
    assert (counts.datasets, counts.answers) == (4, 0.75)
    assert counts.right == pytest.approx(2 / 3)
    assert (counts.confident_wrong, counts.used, counts.none) == (0.25, 0.5, 0.25)
    # 0.1 s is one step of Intersection; there a whole step is tolerated.
    assert lag.tally([row("intersection", 2.0, "late")]).right == 1
    assert lag.tally([row("intersection", 2.5, "late")]).right == 0


def test_delays_of_more_than_two_fifths_of_an_episode_are_left_out_of_the_table() -> None:
    rows = [row("cartpole", 5.0, "late")]
    assert "| 0.1 s | 100% | 100% | 0% | 100% |" in lag.markdown(rows)
    assert lag.markdown([rows[0] | {"median_length": 12}]) == "Not run yet."


def test_goals_are_ranges_over_kinds_and_count_the_kinds_that_miss_them() -> None:
    sure = [row("cartpole", 5.0, "late")] * 2
    unsure = [row("cartpole", 4.0, "late"), row("cartpole", 0.0, "cannot tell")]
    not_late = [row("cartpole", 0.5, "late") | {"seconds": 0.0}]
    rows = [*sure, *(r | {"noise": "typical"} for r in unsure), *not_late]
    line = lag.goals(rows).splitlines()[-1]
    # Right are 2 of 2, 0 of 1 and 1 of 1; answers are given in 2 of 2, 1 of 2 and 1 of 1.
    assert line == (
        "| cartpole | 400 | 0–100 %, missed in 1 of 3 | 50–100 %, missed in 1 of 3 "
        "| 0 %, missed in 1 of 1 | 0 % |"
    )


def test_the_page_says_how_many_datasets_there_are_of_each_size() -> None:
    rows = [row("cartpole", 5.0, "late")] * 2
    assert lag.size(rows) == "datasets of each kind: 2 with 400 pairs"
    more = [r | {"pairs": 1600} for r in rows] + [row("cartpole", 5.0, "late") | {"noise": "w"}]
    assert lag.size(rows + more) == "datasets of each kind: 1–2 with 400 pairs, 2 with 1600 pairs"


def test_teachers_have_the_delay_and_the_noise_of_their_name() -> None:
    assert lag.late_teacher("white 0.3", 0.2) == Chain((Delay(0.2), UniformNoise(0.3)))
    assert lag.late_teacher("none", 0.1) == Chain((Delay(0.1), UniformNoise(0.0)))
    assert getattr(lag.late_teacher("typical", 0.05), "delay", None) == 0.05


def test_the_study_writes_a_row_for_every_dataset_and_computes_it_once(
    tmp_path: Path, check_origin: Any, run_here: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_here(lag)
    options = lag.LagOptions(
        seeds=2, worlds=("intersection",), seconds=(0.1,), pairs=(120,), out=tmp_path, workers=1
    )
    lag.run(options)
    rows = read(tmp_path / "lag" / "rows.json")
    assert [(r["noise"], r["seed"]) for r in sorted(rows, key=lambda r: r["noise"])] == [
        (noise, seed) for noise in sorted(lag.LAG_NOISES) for seed in (2900, 2901)
    ]
    check_origin(*rows)
    monkeypatch.setattr(lag, "choose", None)  # nothing is left to compute
    lag.run(options)
    assert read(tmp_path / "lag" / "rows.json") == rows


def test_the_page_says_where_nothing_was_run(tmp_path: Path) -> None:
    (page,) = lag.sections(tmp_path).values()
    assert page["lag"] == page["lag-goals"] == "Not run yet."
    assert page["lag-size"] == "datasets of each kind: none yet"
