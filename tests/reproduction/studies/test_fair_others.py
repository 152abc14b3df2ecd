"""Other methods that are tuned alike, from made-up rows whose answers are known."""

from __future__ import annotations

from pathlib import Path

from reproduction.records import write_rows
from reproduction.studies import fair_tables
from reproduction.studies.fair_comparisons import compare
from reproduction.studies.fair_others import OTHERS, others
from tests.reproduction.studies.test_fair_tables import rows_of


def test_other_tuned_methods_are_adjusted_for_every_comparison_of_their_table() -> None:
    tuned = {"bc, tuned": [10.0, 11.0, 12.0], "posterior, tuned": [10.1, 11.0, 12.1]}
    rows = rows_of(tuned | {"epsilon-insensitive, tuned": [11.0, 12.1, 13.2]})
    rows += rows_of(
        {name: tuned[name] for name in ("bc, tuned", "posterior, tuned")}, teacher="uniform"
    )
    rows += rows_of({"bc, tuned": [1.0, 2.0, 3.0]}, teacher="gaussian")
    (head, _, *lines) = others(rows, *OTHERS).splitlines()
    assert head.endswith(
        "| ε-insensitive, tuned over BC, tuned | Posterior, tuned over BC, tuned |"
    )
    assert len(lines) == 4  # two teachers, two ways of acting; the third has tuned BC alone
    assert sum(line.count("–") for line in lines) == 2
    part = [row for row in rows if row["act"] == "mean" and row["teacher"] == "crowd"]
    expected = compare(part, "epsilon-insensitive, tuned", "bc, tuned", 6)
    assert f"| mean | {expected} |" in others(rows, *OTHERS)


def test_rows_with_new_seeds_have_a_table_of_their_own(tmp_path: Path) -> None:
    tuned = {"bc, tuned": [10.0, 11.0], "epsilon-insensitive, tuned": [10.5, 11.6]}
    write_rows(rows_of(tuned | {"bc": [1.0, 2.0]}), tmp_path / "fair-again" / "fair")
    tables = fair_tables.sections(tmp_path)["reproduction"]
    assert tables["fair again"] == others(rows_of(tuned), OTHERS[0])
    assert "ε-insensitive" not in tables["fair others"]
