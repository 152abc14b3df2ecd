"""Counterfactuals for flows on Push-T: equal grids, what is reported, the tables, a tiny run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from reproduction.records import read
from reproduction.studies import flow, flow_counter
from reproduction.studies.flow_counter import (
    AVERAGED,
    COUNTER,
    EXECUTED,
    LABELS,
    USUAL,
    VARIANTS,
    FlowCounterOptions,
    candidates,
    chosen,
    grid,
    stored_choices,
)
from reproduction.studies.label_errors import ERRORS
from tests.reproduction.studies.conftest import CheckOrigin, RunHere
from tests.reproduction.studies.test_flow import people as people

Record = dict[str, Any]
CORRELATED = "correlated 0.1"
REPORT = FlowCounterOptions(phase="report")


def _rows(kind: str, variant: str, best: int = 0, seeds: int = 2) -> list[Record]:
    """Return all rows of a choice in which one training is best at temperature 0.5."""
    return [
        cell | {
            "phase": "choose", "kind": kind, "execute": USUAL, "temperature": t, "seed": seed,
            "score": 0.5 + 0.1 * (t == 0.5) + 0.2 * (i == best) + 0.01 * seed, "success": 0.0,
        }
        for i, cell in enumerate(grid(kind, variant))
        for t in flow.TEMPERATURES
        for seed in range(seeds)
    ]  # fmt: skip


def _acting(scores: dict[int, float], **facts: Any) -> list[Record]:
    about = flow_counter._acting(USUAL) | {"seed": 0, "success": 0.5} | facts
    return [about | {"execute": e, "score": score} for e, score in scores.items()]


@pytest.mark.parametrize("kind", ERRORS)
def test_every_variant_has_four_trainings(kind: str) -> None:
    grids = [grid(kind, variant) for variant in VARIANTS]
    assert [len(cells) for cells in grids] == [4] * len(VARIANTS)
    assert {c["steps"] for cells in grids for c in cells} == set(flow.STEPS)


def test_rows_of_the_earlier_study_are_not_computed_again() -> None:
    options = FlowCounterOptions(kinds=tuple(ERRORS), variants=("flow", "own samples"))
    missing = [about for about, _ in candidates(options, stored_choices())]
    plain = [a for a in missing if a["variant"] == "flow"]
    assert [(a["steps"], a["ema_share"]) for a in plain] == [(5000, 0.0)] * len(ERRORS)
    assert len(missing) == len(plain) + 4 * len(ERRORS)
    assert len(list(candidates(options, []))) == 8 * len(ERRORS)


def test_the_best_mean_is_chosen_once_all_candidates_are_there() -> None:
    rows = _rows(CORRELATED, "own samples", best=2)
    wanted = grid(CORRELATED, "own samples")[2] | {"temperature": 0.5}
    assert chosen(rows, CORRELATED, "own samples") == wanted
    less = [row for row in rows if row["radius"] == wanted["radius"]]
    assert chosen(less, CORRELATED, "own samples") is None
    assert not list(candidates(replace(REPORT, kinds=(CORRELATED,)), less))


def test_the_report_trains_the_choice_and_other_radii_of_labels_for_correlated_errors() -> None:
    rows = [r for v in ("flow", LABELS) for r in _rows(CORRELATED, v, best=1)]
    rows += _rows("uniform 0.2", LABELS, best=1)
    trials = list(candidates(replace(REPORT, kinds=("uniform 0.2", CORRELATED)), rows))
    assert [(a["kind"], a["variant"], a["radius"]) for a, _ in trials] == [
        ("uniform 0.2", LABELS, 0.25), (CORRELATED, "flow", 0.0), (CORRELATED, LABELS, 0.125),
        (CORRELATED, LABELS, 0.25), (CORRELATED, LABELS, 0.5),
    ]  # fmt: skip
    assert all(tests == [(USUAL, 0.5)] for _, tests in trials)


def test_without_errors_the_missing_setting_of_counter_bc_is_tried_alone() -> None:
    ((about, tests),) = candidates(FlowCounterOptions(kinds=("two goals",)), [])
    assert (about["variant"], about["steps"], about["radius"]) == (COUNTER, 15000, 0.2)
    assert len(tests) == len(flow.TEMPERATURES)
    people = [a for a, _ in candidates(FlowCounterOptions(kinds=("people",)), [])]
    assert sorted(a["lag"] for a in people if a["variant"] == "flow") == [0, 1, 2, 3]


def test_another_way_to_act_is_reported_beside_the_usual_one_if_it_is_better() -> None:
    options = replace(REPORT, kinds=("people",))
    scores = dict.fromkeys(EXECUTED, 0.9)
    assert not list(candidates(options, _acting(scores | {USUAL: 0.95})))
    ((about, tests),) = candidates(options, _acting(scores | {AVERAGED: 0.95}))
    assert about["phase"] == "report"
    assert tests == [(USUAL, 0.5), (AVERAGED, 0.5)]
    assert not list(candidates(options, _acting({AVERAGED: 0.95})))  # others are missing


def test_the_tables_show_choices_and_paired_differences() -> None:
    rows = [r for v in ("flow", LABELS) for r in _rows(CORRELATED, v, best=1)]
    for variant, gain in (("flow", 0.0), (LABELS, 0.25)):
        best = chosen(rows, CORRELATED, variant)
        assert best is not None
        report = {"phase": "report", "kind": CORRELATED, "execute": USUAL, "success": 0.5} | best
        rows += [report | {"seed": s, "score": 0.4 + 0.1 * s + gain} for s in range(3)]
        rows += [report | {"seed": s, "score": 0.4 + 0.1 * s, "radius": 0.5} for s in range(3)]
    plain, labels = flow_counter.markdown(rows).strip().splitlines()[2:]
    assert plain.startswith(f"| {CORRELATED} | flow | 5,000 |  | 0.5 | no | 0.805 | 0.500 [")
    assert "| 0.25 | 0.5 | yes |" in labels
    assert "+0.250 [+0.250, +0.250]" in labels
    by_radius = flow_counter.radius_table(rows).strip().splitlines()[2:]
    assert [line.split(" | ")[0] for line in by_radius] == ["| 0.25", "| 0.5"]
    assert "+0.000 [" in by_radius[1]


def test_the_table_of_acting_shows_lags_and_averaged_chunks() -> None:
    rows = _acting(dict.fromkeys(EXECUTED, 0.9)) + _acting({USUAL: 0.7}, lag=2, temperature=1.0)
    lines = flow_counter.acting_table(rows).strip().splitlines()[2:]
    assert "| chunks averaged | 0.5 | 0.900 |" in lines[EXECUTED.index(AVERAGED)]
    assert "| 8 executed, lag 2 | 1 | 0.700 |" in lines[-1]


@pytest.mark.slow
@pytest.mark.needs("gym_pusht")
def test_a_tiny_study_chooses_and_then_reports(
    people: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run_here: RunHere,
    check_origin: CheckOrigin,
) -> None:  # fmt: skip
    monkeypatch.setattr(flow_counter, "STEPS", (1, 2))
    monkeypatch.setattr(flow_counter, "TEMPERATURES", (0.5,))
    run_here(flow_counter)
    options = FlowCounterOptions(
        data=people, out=tmp_path, seeds=1, episodes=1, device="cpu", kinds=(CORRELATED,),
        variants=("flow", "posterior for the flow", "own samples"),
    )  # fmt: skip
    flow_counter.run(options)
    flow_counter.run(replace(options, phase="report"))
    rows = read(tmp_path / "flow-counter" / "rows.json")
    reported = [r for r in rows if r["phase"] == "report"]
    assert len(rows) - len(reported) == 3 * 4
    assert [r["variant"] for r in reported] == list(options.variants)
    assert {r["seed"] for r in reported} == {3100}
    check_origin(*reported, trained=True)
