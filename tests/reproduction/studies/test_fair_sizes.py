"""How many of the planned cells of the fair comparison were run."""

from __future__ import annotations

from reproduction.records import Record
from reproduction.studies import fair_sizes

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
