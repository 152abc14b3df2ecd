"""All methods on a crowd."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from reproduction.records import read
from reproduction.studies import family


@pytest.mark.filterwarnings("ignore::counterbc.errors.InfeasibleActions")
def test_every_operator_of_the_crowd_has_an_equal_share() -> None:
    demos = family.crowd(0)
    assert demos.pairs == family.PAIRS
    counts = {name: demos.subset(operator=name).pairs for name in family.OPERATORS}
    assert set(counts.values()) <= {family.PAIRS // 6, family.PAIRS // 6 + 1}
    assert demos.subset(mask="expert").operators == (family.OPERATORS[0],)


def test_expertise_that_falls_with_the_noise_has_rank_correlation_1() -> None:
    rho = {
        name: np.array([0.9 - 0.1 * i, 0.8 - 0.1 * i]) for i, name in enumerate(family.OPERATORS)
    }
    numbers = family.order(rho)
    assert numbers["spearman"]["runs"] == [1.0, 1.0]
    assert numbers["rho"][family.OPERATORS[0]]["mean"] == pytest.approx(0.85)


def test_methods_are_compared_with_bc_run_by_run() -> None:
    acts = {"sample": {"mean": 2.0, "se": 0.1, "runs": [1.0, 2.0, 3.0]}}
    acts["mean"] = acts["sample"]
    better = {act: v | {"mean": 3.0, "runs": [2.0, 3.0, 4.0]} for act, v in acts.items()}
    about = {"seeds": 3, "steps": 5}
    lines = family.markdown([about | {"case": "bc"} | acts, about | {"case": "x"} | better])
    assert "| bc | 2.00 ± 0.10 | – |" in lines
    assert "| x | 3.00 ± 0.10 | 1.00 [1.00, 1.00] |" in lines


@pytest.mark.slow
def test_the_study_writes_a_row_per_case_and_the_order_of_the_operators(
    tmp_path: Path, check_origin: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    cases = ("bc", "ileed", family.BEST_ALONE)
    options = family.FamilyOptions(seeds=2, steps=2, device="cpu", cases=cases, out=tmp_path)
    family.run(options)
    rows = read(options.numbers("family"))
    assert [(r["case"], r["seeds"], r["steps"]) for r in rows] == [(c, 2, 2) for c in cases]
    for row in rows:
        assert row["mean"]["mean"] == pytest.approx(np.mean(row["mean"]["runs"]), abs=1e-4)
    assert set(rows[1]["expertise"]["rho"]) == set(family.OPERATORS)
    assert "rank correlation with −σ" in capsys.readouterr().out
    check_origin(*rows, trained=True)
