"""The paper's methods in worlds with long episodes."""

from __future__ import annotations

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
