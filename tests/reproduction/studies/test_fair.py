"""The comparison of the paper's methods with rivals that are tuned alike."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from counterbc.errors import OptionError
from counterbc.methods import METHODS
from counterbc.selection.lag_choice import LagChoice
from counterbc.selection.tuning import TuneSearch
from reproduction.paper import PAPER_METHODS
from reproduction.records import Record, Records, read, read_rows
from reproduction.sizes import PAPER_SIZES
from reproduction.studies import fair, fair_kinds
from reproduction.studies.fair import FairOptions
from reproduction.studies.fair_kinds import datasets_of


def test_no_cell_is_listed_twice_and_400_pairs_come_first() -> None:
    cells = [tuple(about.values()) for about in fair.cells(FairOptions())]
    assert len(set(cells)) == len(cells)  # a search for lags too
    sizes = [about["pairs"] for about in fair.cells(FairOptions())]
    first_other = next(i for i, pairs in enumerate(sizes) if pairs != 400)
    assert set(sizes[:first_other]) == {400}


def test_options_name_exactly_the_cells_of_a_teacher_and_a_way_of_taking_pairs() -> None:
    options = FairOptions(
        worlds=("cartpole",), pairs=(400,), teachers=("epsilon-greedy", "uniform"),
        taken=("whole",), variants=("bc, tuned", "counter-bc, tuned"),
    )  # fmt: skip
    cells = [(c["taken"], c["teacher"], c["sigma"], c["variant"]) for c in fair.cells(options)]
    assert cells == [
        ("whole", teacher, 0.5, variant)
        for teacher in ("uniform", "epsilon-greedy")
        for variant in ("bc, tuned", "counter-bc, tuned")
    ]


@pytest.mark.parametrize(
    "options", [FairOptions(teachers=("people",)), FairOptions(taken=("half",))]
)
def test_a_value_that_no_cell_has_is_refused(options: FairOptions) -> None:
    with pytest.raises(OptionError, match="allowed: "):
        fair.cells(options)


def test_air_hockey_has_no_bc_rnn_as_in_the_paper() -> None:
    cells = fair.cells(FairOptions(worlds=("cartpole", "air-hockey")))
    worlds = {about["world"] for about in cells if about["variant"].startswith("bc-rnn")}
    assert worlds == {"cartpole"}


def test_noises_and_the_late_crowd_are_whole_and_scattered_in_cartpole() -> None:
    kinds = {(k["teacher"], k["taken"]) for k in fair_kinds.usual_kinds("cartpole", 400)}
    teachers = ("uniform", "gaussian", "epsilon-greedy", "crowd")
    assert kinds == {(t, way) for t in teachers for way in ("whole", "scattered")}
    hockey = {(k["teacher"], k["taken"]) for k in fair_kinds.usual_kinds("air-hockey", 400)}
    assert hockey == {("crowd", "whole"), ("crowd", "scattered")}


def test_the_papers_methods_are_fixed_and_all_others_are_chosen_from_the_data() -> None:
    for name in PAPER_METHODS:
        settings = fair.VARIANTS[name]
        assert (settings["steps"], settings["radius"], settings["lag"]) == (10_000, 0.4, 0.0)
        assert fair.VARIANTS[f"{name}, tuned"] == {"method": name}
    four = fair.VARIANTS[fair.FOUR_BC]["method"]
    assert (four.shards, four.rounds, four.disjoint) == (4, 1, METHODS["bcnd"].disjoint)


def test_scattered_pairs_are_drawn_from_a_large_recording() -> None:
    (kind,) = [
        k for k in fair_kinds.usual_kinds("cartpole", 30)
        if (k["teacher"], k["taken"]) == ("crowd", "scattered")
    ]  # fmt: skip
    (demos,) = datasets_of(kind, range(1))
    assert demos.selected is not None
    assert demos.pairs == 30
    assert sum(map(len, demos.episodes)) == 20_000
    assert len(set(demos.operators)) == 20


@pytest.mark.slow
def test_the_study_trains_every_variant_and_resumes(
    tmp_path: Path, run_here: Any, check_origin: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    search = TuneSearch(radii=(0.0, 0.2), step_counts=(5, 10), ensembles=(1, 2))
    monkeypatch.setattr("counterbc.selection.tuner.TuneSearch", lambda: search)
    run_here(fair)
    (kind, *_) = fair_kinds.usual_kinds("intersection", 120)
    monkeypatch.setattr(fair, "usual_kinds", lambda world, pairs: [kind | {"pairs": pairs}])
    monkeypatch.setattr(fair, "choose_lags", lambda *_: [LagChoice((1.0,))])
    monkeypatch.setattr(fair, "noise_kinds", lambda world: [])
    sweeps = {name: steps // 100 for name, steps in fair.SWEEPS.items()}
    monkeypatch.setattr(fair, "SWEEPS", sweeps)
    options = FairOptions(
        seeds=2, worlds=("intersection",), pairs=(400,), episodes=2, steps=3, out=tmp_path,
        lags=tmp_path / "lags", device="cpu",
    )  # fmt: skip
    fair.run(options)
    rows = read(tmp_path / "fair" / "rows.json")
    radii = [fair.sweep_name(r, n) for r in PAPER_SIZES.radii for n in fair.SWEEPS.values()]
    assert {r["variant"] for r in rows} == {*fair.VARIANTS, *radii}
    assert len(rows) == 2 * 2 * (len(fair.VARIANTS) + len(radii))  # seeds, ways of acting
    steps = {r["steps"] for r in rows if r["variant"].endswith("tuned")}
    assert steps <= {5, 10}
    assert {r["steps"] for r in rows if r["variant"] in PAPER_METHODS} == {3}
    check_origin(*rows, trained=True)
    repeated_variants: list[str] = []

    def measure(stack: list[Record], _: FairOptions) -> list[Record]:
        repeated_variants.extend(about["variant"] for about in stack)
        return []

    monkeypatch.setattr(fair, "measure", measure)
    fair.run(options)
    assert repeated_variants == []
    assert len(read_rows(tmp_path / "fair")) == len(rows)


@pytest.mark.slow
def test_the_lag_of_whole_episodes_is_undone_in_the_data_of_tuned_variants(tmp_path: Path) -> None:
    kind = {"world": "cartpole", "pairs": 400, "taken": "whole", "teacher": "crowd", "sigma": None}
    options, seeds = FairOptions(out=tmp_path), range(1)
    datasets = datasets_of(kind, seeds)
    fixed_lags = fair.lags_of(kind | {"variant": "counter-bc"}, datasets, seeds, options)
    assert fixed_lags == [(0.0,)]
    (tuned_lag,) = fair.lags_of(kind | {"variant": "bc, tuned"}, datasets, seeds, options)
    (path,) = (tmp_path / "fair" / "lags").glob("*.json")
    assert tuple(read(path)) == tuned_lag
    path.write_text("[7.0]")
    second_lags = fair.lags_of(kind | {"variant": "counter-bc, tuned"}, datasets, seeds, options)
    assert second_lags == [(7.0,)]  # searched once, for all variants


def test_the_parts_of_a_search_for_lags_cover_every_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fair, "choose_lags", lambda *_: [LagChoice((2.0,))])
    (kind, *_) = fair_kinds.usual_kinds("intersection", 40)
    options, seeds = FairOptions(out=tmp_path), range(12)
    datasets = datasets_of(kind, seeds)
    for part in fair.LAG_PARTS:
        fair.lags_of(kind | {"variant": part}, datasets, seeds, options)
    assert len(list((tmp_path / "fair" / "lags").glob("*.json"))) == 12


def test_lags_are_searched_only_where_a_tuned_variant_lacks_rows(tmp_path: Path) -> None:
    options = FairOptions(worlds=("intersection",), pairs=(400,), out=tmp_path)
    records = Records(tmp_path / "rows.json")
    planned = fair.cells(options)
    assert fair.missing_cells(options, records) == planned
    records.rows = [
        about | fair.first_of_sweep(about) for about in planned
        if (about["teacher"], about["taken"]) != ("crowd", "whole")
    ]  # fmt: skip
    missing = fair.missing_cells(options, records)
    assert {a["teacher"] for a in missing if a["variant"] in fair.LAG_PARTS} == {"crowd"}
    records.rows += [a for a in missing if a["variant"] in fair.TUNED_VARIANTS]
    rest = {about["variant"] for about in fair.missing_cells(options, records)}
    assert rest == {*fair.PAPER_VARIANTS, *fair.SWEEPS} - {
        s for s in fair.SWEEPS if s != "counter-bc by Δ"
    }


def test_an_unknown_variant_is_refused() -> None:
    with pytest.raises(OptionError, match="variant"):
        fair.cells(FairOptions(variants=("bc, guessed",)))


def test_cells_that_differ_in_their_teachers_alone_are_one_stack_on_a_gpu(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    planned = fair.cells(FairOptions(worlds=("cartpole",), pairs=(400,)))
    assert fair.stacks(planned, "cpu") == [[about] for about in planned]
    monkeypatch.setattr(fair, "find_device", lambda name: torch.device("cuda"))
    stacks = fair.stacks(planned, "cuda")
    assert sorted(str(about) for stack in stacks for about in stack) == sorted(map(str, planned))
    for stack in stacks:
        assert len({(a["world"], a["pairs"], a["taken"], a["variant"]) for a in stack}) == 1
        if len(stack) > 1:
            assert stack[0]["variant"] not in (*fair.TUNED_VARIANTS, *fair.LAG_PARTS)
    assert max(map(len, stacks)) == 8  # four teachers, and uniform noise of four other sizes


@pytest.mark.parametrize("variant", ["counter-bc", "counter-bc by Δ"])
def test_a_stack_has_the_rows_of_its_cells_alone(
    variant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fair, "SWEEPS", dict.fromkeys(fair.SWEEPS, 3))
    kinds = fair_kinds.usual_kinds("intersection", 40)[:2]
    stack = [kind | {"variant": variant} for kind in kinds]
    options = FairOptions(seeds=2, first_seed=5, episodes=2, steps=3, device="cpu")
    together = fair.measure(stack, options)
    alone = [row for about in stack for row in fair.measure([about], options)]
    names = ("teacher", "variant", "act", "seed", "radius", "shown")
    by_name = {tuple(row[name] for name in names): row for row in alone}
    assert len(by_name) == len(alone) == len(together)
    for row in together:
        twin = by_name[tuple(row[name] for name in names)]
        assert row["return"] == pytest.approx(twin["return"], rel=1e-3)
        assert (row["stacked"], twin["stacked"]) == (2, 1)
