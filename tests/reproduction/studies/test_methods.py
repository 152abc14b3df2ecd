"""The paper's methods in worlds with long episodes."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import pytest

from counterbc.acting.act import ACTS
from reproduction.paper import PAPER_METHODS
from reproduction.records import read
from reproduction.studies import methods


def test_marks_say_where_a_method_differs_from_bc() -> None:
    intervals = ({"low": 0.1, "high": 1}, {"low": -1, "high": -0.1}, {"low": -1, "high": 1}, None)
    marks = [methods.sign({"above_bc": interval}) for interval in intervals]
    assert marks == [" ▲", " ▼", "", ""]


def test_a_line_has_all_methods_of_a_cell() -> None:
    about = {"world": "fork", "teacher": "t", "pairs": 100, "act": "mean", "se": 0.5}
    rows = [about | {"method": m, "mean": v} for m, v in (("bc", 1.0), ("bcnd", 2.0))]
    assert methods.markdown(rows).splitlines()[2] == (
        "| fork | t | 100 | mean | 1.0 ± 0.5 | 2.0 ± 0.5 |"
    )


@pytest.mark.slow  # worker processes train Weighted-BC's discriminator at its full length
def test_the_study_writes_all_methods_with_their_measures(
    tmp_path: Path, check_origin: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(methods, "PAIRS", (20,))
    monkeypatch.delitem(methods.STUDY_TEACHERS, "uniform σ 0.5")
    monkeypatch.setitem(methods.WORLD_MEASURES, "intersection", ("length",))
    options = methods.MethodsOptions(seeds=2, steps=2, worlds=("intersection",), out=tmp_path)
    methods.run(options)
    rows = read(options.numbers("methods"))
    assert [(r["method"], r["act"]) for r in rows] == [*product(PAPER_METHODS, ACTS)]
    for row in rows:
        assert row["measures"]["length"]["mean"] == 20
        assert ("above_bc" in row) == (row["method"] != "bc")
    check_origin(*rows, trained=True)
