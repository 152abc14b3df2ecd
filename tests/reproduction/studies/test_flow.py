"""The study of flows on Push-T: what is tuned, what is reported, and a tiny run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from counterbc.data.demonstrations import Demonstrations
from counterbc.errors import OptionError
from reproduction.records import read
from reproduction.studies import flow
from reproduction.studies.flow import FlowOptions, candidates, chosen, dataset, markdown
from tests.fixture_types import Make
from tests.reproduction.studies.conftest import CheckOrigin, RunHere

Record = dict[str, Any]
RELABELLED = "labels from held-out flows"


def _row(variant: str, steps: int, temperature: float, score: float, **facts: Any) -> Record:
    return {
        "phase": "choose", "kind": "people", "variant": variant, "steps": steps, "radius": 0.0,
        "temperature": temperature, "ema_share": flow.EMA_SHARE, "score": score, "success": 0.0,
        "seed": 0,
    } | facts  # fmt: skip


def _tuned() -> list[Record]:
    """Rows of two settings, of which the one with the best mean does not have the best seed."""
    return [
        _row("flow", 5000, 0.5, 0.6, seed=0), _row("flow", 5000, 0.5, 0.8, seed=1),
        _row("flow", 15000, 0.0, 0.9, seed=0), _row("flow", 15000, 0.0, 0.3, seed=1),
        _row("flow", 5000, 1.0, 1.0, phase="report"), _row("flow", 5000, 1.0, 1.0, kind="other"),
    ]  # fmt: skip


def test_the_best_mean_of_the_first_phase_is_chosen() -> None:
    best = {"steps": 5000, "radius": 0.0, "temperature": 0.5, "ema_share": flow.EMA_SHARE}
    assert chosen(_tuned(), "people", "flow") == best
    assert chosen(_tuned(), "people", "smoothed labels") is None


def test_the_report_trains_the_chosen_settings_alone() -> None:
    options = FlowOptions(phase="report", kinds=("people",), variants=("flow", "smoothed labels"))
    (about,) = candidates(options, _tuned())
    assert about == {
        "phase": "report", "kind": "people", "variant": "flow", "steps": 5000, "radius": 0.0,
        "temperature": 0.5, "ema_share": flow.EMA_SHARE,
    }  # fmt: skip


def test_weights_without_an_average_are_tried_at_the_best_settings_where_errors_are_added() -> None:
    kinds = ("people", "uniform 0.2")
    options = FlowOptions(kinds=kinds, variants=("flow",))
    grid = len(flow.STEPS)
    rows = [row | {"kind": kind} for kind in kinds for row in _tuned()[:4]]
    assert len(list(candidates(options, []))) == 2 * grid
    *_, last = trials = list(candidates(options, rows))
    assert len(trials) == 2 * grid + 1
    assert last == {
        "phase": "choose", "kind": "uniform 0.2", "variant": "flow", "steps": 5000, "radius": 0.0,
        "ema_share": flow.NO_AVERAGE,
    }  # fmt: skip


def test_the_first_phase_tries_every_number_of_steps_with_the_radius_of_the_data() -> None:
    options = FlowOptions(kinds=("correlated 0.1", "two goals"), variants=(RELABELLED,))
    trials = [(a["kind"], a["steps"], a["radius"]) for a in candidates(options, [])]
    radius = {"correlated 0.1": 0.25, "two goals": 0.2}
    assert trials == [(k, s, radius[k]) for k in radius for s in flow.STEPS]


def test_variants_are_trained_on_the_data_that_they_are_for() -> None:
    abouts = list(candidates(FlowOptions(), []))
    kinds = {v: {a["kind"] for a in abouts if a["variant"] == v} for v in flow.VARIANTS}
    assert kinds["chunk, squared error"] == {"people"}
    assert kinds["the larger group of intents"] == {"two goals"}
    assert kinds["smoothed labels"] == set(flow.RADII) - {"two goals"}
    assert kinds["flow"] == kinds[RELABELLED] == set(flow.RADII)


def test_the_table_reports_the_chosen_settings_and_the_paired_difference() -> None:
    rows = [*_tuned(), _row("smoothed labels", 5000, 0.0, 0.5)]
    for seed in range(3):
        plain = 0.5 + 0.1 * seed
        facts = {"phase": "report", "seed": seed}
        rows.append(_row("flow", 5000, 0.5, plain, success=0.5, **facts))
        rows.append(_row("flow", 15000, 0.0, 0.0, **facts))  # not chosen
        rows.append(_row("smoothed labels", 5000, 0.0, plain + 0.25, **facts))
    first, second = markdown(rows).strip().splitlines()[2:]
    assert first.startswith("| people | flow | 5,000 |  | 0.5 | yes | 0.600 [")
    assert "| 50 % |" in first
    assert "+0.250 [+0.250, +0.250]" in second


@pytest.fixture
def people(make_demos: Make, tmp_path: Path) -> Path:
    """Ten short episodes with the five numbers and two actions of Push-T, in pixels."""
    demos = make_demos(episodes=10, length=12, obs_size=5, action_low=None, action_high=None)
    pixels = [
        replace(e, obs=256 + 200 * e.obs, action=256 + 200 * e.action, reward=None, operator=None)
        for e in demos.episodes
    ]
    path = tmp_path / "people.hdf5"
    Demonstrations(tuple(pixels)).save(path)
    return path


@pytest.fixture
def _tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flow, "STEPS", (1, 2))
    monkeypatch.setattr(flow, "TEMPERATURES", (0.0, 1.0))
    monkeypatch.setattr(flow, "FLOWS", replace(flow.FLOWS, steps=2))


@pytest.mark.usefixtures("_tiny")
def test_labels_from_held_out_flows_are_within_the_radius_of_the_erroneous_ones(
    people: Path,
) -> None:
    about = {"kind": "uniform 0.2", "variant": "flow", "radius": 0.2}
    options = FlowOptions(data=people, device="cpu")
    plain = dataset(about, options, 3).action
    labels = dataset(about | {"variant": RELABELLED}, options, 3).action
    low, high = np.percentile(plain, [1, 99], axis=0)
    moved = np.linalg.norm((labels - plain) / ((high - low) / 2), axis=1)
    assert 0.1 < moved.max() <= 0.2 + 1e-4


def test_files_that_are_needed_are_asked_for(people: Path) -> None:
    about = {"kind": "two goals", "variant": "flow", "radius": 0.0}
    with pytest.raises(OptionError, match="needs a file of people; name it with --data"):
        dataset(about, FlowOptions(), 0)
    with pytest.raises(OptionError, match="two goals need a second file; name it with --other"):
        dataset(about, FlowOptions(data=people), 0)
    both = FlowOptions(data=people, other=people)
    assert len(dataset(about, both, 0)) == 20


@pytest.mark.slow
@pytest.mark.needs("gym_pusht")
@pytest.mark.usefixtures("_tiny")
def test_a_tiny_study_chooses_and_then_reports(
    people: Path, tmp_path: Path, run_here: RunHere, check_origin: CheckOrigin
) -> None:
    run_here(flow)
    options = FlowOptions(
        data=people, out=tmp_path, seeds=1, episodes=1, device="cpu", kinds=("people",),
        variants=("flow", RELABELLED),
    )  # fmt: skip
    flow.run(options)
    tuned = read(tmp_path / "flow" / "rows.json")
    assert len(tuned) == 2 * 2 * 2  # variants, steps, temperatures
    flow.run(replace(options, phase="report"))
    reported = [r for r in read(tmp_path / "flow" / "rows.json") if r["phase"] == "report"]
    assert [r["variant"] for r in reported] == ["flow", RELABELLED]
    for row in reported:
        assert row["seed"] == flow.SEEDS["report"]
        best = chosen(tuned, "people", row["variant"])
        assert best is not None
        assert best.items() <= row.items()
    check_origin(*reported, trained=True)
