"""The comparison of tuned methods on demonstrations without errors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from counterbc.selection.tuning import TuneSearch
from reproduction.records import read
from reproduction.studies import no_noise, tuned


def rows(variant: str, radius: float, *returns: float) -> list[dict[str, Any]]:
    about = {"world": "w", "pairs": 400, "teacher": "no noise", "act": "mean", "shown": 5.0}
    about |= {"variant": variant, "radius": radius}
    return [about | {"seed": i, "return": r} for i, r in enumerate(returns)]


def test_differences_are_paired_by_seed_and_in_percent_of_bc() -> None:
    bc = rows("bc, tuned", 0.0, 10.0, 20.0, 30.0)
    posterior = rows("posterior, tuned", 0.1, 11.0, 21.0, 31.0)[::-1]
    (line,) = no_noise.markdown(bc + posterior).splitlines()[2:]
    assert line == (
        "| w | 400 | mean | posterior, tuned | 5.0 | 20.00 | 21.00 | +5.0 % [+5.0, +5.0] | 0% | 3 |"
    )


def test_a_method_without_the_runs_of_bc_is_left_out() -> None:
    bc = rows("bc, tuned", 0.0, 10.0, 20.0)
    assert no_noise.markdown(bc + rows("posterior, tuned", 0.0, 10.0)) == "Not run yet."


def test_the_study_tunes_every_method_on_the_same_seeds_and_computes_it_once(
    tmp_path: Path, check_origin: Any, run_here: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    search = TuneSearch(radii=(0.0, 0.2), step_counts=(5, 10), ensembles=(1, 2))
    monkeypatch.setattr("counterbc.selection.tuner.TuneSearch", lambda: search)
    monkeypatch.setattr(tuned, "WHOLE_PAIRS", 120)
    run_here(no_noise)
    options = no_noise.NoNoiseOptions(
        seeds=2, worlds=("intersection",), episodes=2, out=tmp_path, workers=1
    )
    no_noise.run(options)
    numbers = read(tmp_path / "no-noise" / "rows.json")
    for variant in no_noise.VARIANTS:
        runs = [(r["act"], r["seed"]) for r in numbers if r["variant"] == variant]
        assert runs == [(act, seed) for act in ("mean", "sample") for seed in (2950, 2951)]
    assert {r["steps"] for r in numbers} <= {5, 10}
    values = {(r["variant"], r["act"], r["seed"]): r["return"] for r in numbers}
    zero = [r for r in numbers if r["radius"] == 0 and r["variant"] != "bc, tuned"]
    assert {r["variant"] for r in zero} == {"counter-bc, tuned", "posterior, tuned"}
    for r in zero:  # to the bit
        assert r["return"] == values["bc, tuned", r["act"], r["seed"]]
    check_origin(*numbers)
    monkeypatch.setattr(tuned, "measure", None)  # nothing is left to compute
    no_noise.run(options)
    assert read(tmp_path / "no-noise" / "rows.json") == numbers


def test_the_page_says_where_nothing_was_run(tmp_path: Path) -> None:
    assert no_noise.sections(tmp_path) == {"tune": {"no-noise": "Not run yet."}}
