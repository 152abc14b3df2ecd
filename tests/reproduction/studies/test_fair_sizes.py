"""How many of the planned cells of the fair comparison were run."""

from __future__ import annotations

from reproduction.records import Record
from reproduction.studies import fair_sizes
from reproduction.studies.fair import FairOptions, cells

KIND = {"world": "cartpole", "pairs": 400, "taken": "whole", "teacher": "crowd", "sigma": None}


def test_cells_that_were_run_are_counted_among_those_planned() -> None:
    variants = ("bc", "bc, tuned", "counter-bc, Δ 0", "counter-bc, Δ 1")
    rows: list[Record] = [KIND | {"variant": variant} for variant in variants]
    lines = fair_sizes.sizes(rows).splitlines()[2:]
    by_part = {tuple(c.strip() for c in line.split("|")[1:4]): line for line in lines}
    # Four teachers, and six variants at the paper's 10,000 steps or seven tuned ones.
    fixed = by_part["Cartpole", "whole", "fixed"]
    assert fixed.endswith(
        "| 100: 0 of 24, 200: 0 of 24, 400: 1 of 24, 800: 0 of 24, 1600: 0 of 24 |"
    )
    assert "400: 1 of 28, 800: 0 of 8" in by_part["Cartpole", "whole", "tuned"]
    # 10,000 steps for the crowd and uniform noise; three shorter trainings for the latter.
    assert by_part["Cartpole", "whole", "Δ and steps (figure 6)"].endswith("| 400: 1 of 5 |")
    assert by_part["Cartpole", "scattered", "other σ (figure 5)"].endswith("| 400: 0 of 32 |")


def test_what_is_missing_is_counted_with_its_cost() -> None:
    (done,) = [
        c for c in cells(FairOptions(worlds=("cartpole",), taken=("whole",), teachers=("crowd",)))
        if c["pairs"] == 400 and c["variant"] == "bcnd, tuned"
    ]  # fmt: skip
    lines = fair_sizes.not_run([done]).splitlines()
    (line,) = [x for x in lines if "BCND, tuned, in Cartpole" in x]
    # Three methods, four teachers and two ways of taking pairs, but for one; 10 minutes each.
    assert line == "| 400 pairs: Weighted-BC, BC-RNN and BCND, tuned, in Cartpole | 23 | 3.8 |"
    assert any(x.startswith("| figure 6: Δ, and Δ × steps, in Cartpole | 10 | 1.7") for x in lines)
