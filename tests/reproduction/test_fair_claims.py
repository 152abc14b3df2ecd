"""Claims of figure 4 and table 1 on rows of the study `fair`, from made-up rows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from counterbc.demonstrators import NOISES
from reproduction.fair_claims import FAIR_LEAD, TAKINGS, Taking, fair_claims, fair_improvements
from reproduction.markdown_tables import table1
from reproduction.numbers import Numbers
from reproduction.paper import PAPER_METHODS
from reproduction.records import Record, write_rows
from tests.reproduction.studies.test_fair_tables import rows_of

MIXED = "noise whole, crowd scattered, as in the paper"


def rows_by(lead: float, taken: str, *teachers: str, world: str = "cartpole") -> list[Record]:
    """Return rows of every method by these teachers, with Counter-BC this far above the others."""
    rng, rows = np.random.default_rng(0), []
    for teacher in teachers:
        sigma = None if teacher == "crowd" else 0.5
        values = {name: [*(100 + rng.normal(0, 1, 6))] for name in PAPER_METHODS}
        values["counter-bc"] = [x + lead for x in values["counter-bc"]]
        rows += rows_of(values, taken=taken, teacher=teacher, sigma=sigma, world=world)
    return rows


def verdicts_of(rows: list[Record]) -> dict[str, str]:
    return {claim.paper: claim.rule(Numbers(), "sample").verdict for claim in fair_claims(rows)}


def test_all_teachers_together_need_every_teacher_and_method() -> None:
    rows = rows_by(20.0, "whole", *NOISES, "crowd")
    assert verdicts_of(rows)[FAIR_LEAD.format("whole episodes")] == "reproduced"
    without_one = verdicts_of([r for r in rows if r["teacher"] != "gaussian"])
    assert [*without_one] == ["the same holds under uniform noise (whole episodes)"]
    assert not verdicts_of([r for r in rows if r["variant"] != "bcnd"])


def test_noise_may_be_whole_and_the_crowd_scattered_as_in_the_paper() -> None:
    rows = rows_by(20.0, "whole", *NOISES) + rows_by(-70.0, "scattered", "crowd")
    found = {c.paper: c for c in fair_claims(rows)}
    assert found[FAIR_LEAD.format(MIXED)].differs == ("late crowd", "400 pairs")
    assert FAIR_LEAD.format("scattered pairs") not in found
    # Three times 20 above, and once 70 below: over datasets no difference shows.
    assert verdicts_of(rows)[FAIR_LEAD.format(MIXED)] == "not reproduced"
    assert verdicts_of(rows)["the same holds under uniform noise (whole episodes)"] == "reproduced"


def test_noise_alone_has_a_claim_only_where_the_figures_scatter_it() -> None:
    rows = rows_by(20.0, "whole", *NOISES, world="intersection")
    assert not verdicts_of(rows)
    assert not [*fair_improvements(rows, "intersection")]


@pytest.mark.parametrize("taking", TAKINGS)
@pytest.mark.parametrize("sizes", [1, 5])
def test_what_differs_from_the_paper_follows_from_how_pairs_are_taken(
    taking: Taking, sizes: int
) -> None:
    differs = taking.differs(sizes)
    assert ("scattered noise" in differs) == (taking.text == "scattered pairs")
    assert ("whole crowd" in differs) == (taking.text == "whole episodes")
    assert ("400 pairs" in differs) == (sizes == 1)


def test_claims_are_about_all_sizes_where_every_method_and_teacher_has_them() -> None:
    # 400 pairs say the opposite of the other sizes, so that the verdict shows which were used.
    rows = rows_by(-20.0, "whole", *NOISES, "crowd")
    for pairs in (100, 200, 800, 1600):
        other_rows = rows_by(20.0, "whole", *NOISES, "crowd")
        rows += [row | {"pairs": pairs} for row in other_rows]
    (claim,) = [c for c in fair_claims(rows) if c.paper == FAIR_LEAD.format("whole episodes")]
    assert claim.differs == ("late crowd", "whole crowd")
    assert claim.rule(Numbers(), "sample").verdict == "reproduced"
    is_gap = {"variant": "bcnd", "pairs": 800, "teacher": "crowd"}
    gap_rows = [r for r in rows if not is_gap.items() <= r.items()]
    (claim,) = [c for c in fair_claims(gap_rows) if c.paper == FAIR_LEAD.format("whole episodes")]
    assert claim.differs == ("late crowd", "400 pairs", "whole crowd")
    assert claim.rule(Numbers(), "sample").verdict == "contradicted"


def test_table_1_has_a_line_for_each_way_of_taking_pairs(tmp_path: Path) -> None:
    write_rows(rows_by(20.0, "whole", *NOISES, "crowd"), tmp_path / "fair")
    (line,) = [x for x in table1(tmp_path).splitlines() if "| BC | ours (" in x]
    assert line.startswith("| Cartpole | BC | ours (late crowd, 400 pairs, whole crowd), 6 runs | ")
    assert "| 39 % | 20 % [" in line
    assert line.endswith("| partly |")
