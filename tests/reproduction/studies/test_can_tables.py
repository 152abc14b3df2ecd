"""Labels of Can's tables."""

from __future__ import annotations

from reproduction.studies import can_tables
from reproduction.studies.can import ROWS


def test_labels_are_those_of_the_archived_rows() -> None:
    labels = {name: can_tables._label(row, "default") for name, row in ROWS.items()}
    assert labels["BC"] == "bc"
    assert labels["Counter-BC, Δ 0.4"] == "counter-bc-0.4"
    assert labels["Counter-BC, Δ auto"] == "counter-bc-auto"
    assert labels["Counter-BC, Δ 0.4, gripper too"] == "counter-bc-" + ",".join(["0.4"] * 7)
    assert can_tables._label(ROWS["BC"], "wide") == "bc-hidden-256,256"
