"""Claims and their verdicts on numbers made up for each case."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from reproduction.claims import LEAD, claims
from reproduction.figure_numbers import Figure4, Figure7, Table1
from reproduction.numbers import Numbers
from reproduction.verdicts import OPEN, PARTLY, UNCLEAR, YES
from tests.reproduction.made_up import BASELINES, cells, compared, improvement


def findings(numbers: Numbers) -> dict[str, tuple[str, str]]:
    """What was found of each claim with act=sample, by the paper's words; the first of several."""
    found = {c.paper: c.rule(numbers, "sample") for c in reversed([*claims(numbers)])}
    return {paper: (f.ours, f.verdict) for paper, f in found.items()}


def figure4(p: float, *teachers: str, names: Sequence[str]) -> Numbers:
    """Counter-BC above each baseline with this p, by these teachers, of those shown."""
    about: dict[str, Any] = {"world": "push-t", "act": "sample"}
    leads = dict.fromkeys(BASELINES, (0.5, p))
    tests = tuple(compared(leads, teacher=t, **about) for t in teachers)
    points = (cells({"bc": 1.0}, teacher=t, pairs=100, **about) for t in names)
    rows = tuple(cell for point in points for cell in point)
    return Numbers(figure4=Figure4(cells=rows, statistics=tests))


def test_all_teachers_together_have_the_level_that_the_paper_states() -> None:
    names = ("quick-crowd", "uniform", "typical")
    found = findings(figure4(0.02, "all", "uniform", "typical", names=names))
    assert found[LEAD][1] == PARTLY  # p < .05, not < .01
    assert found["the same holds under uniform noise"][1] == YES
    assert found["the same holds for the quick crowd in place of people"] == ("", OPEN)
    assert findings(figure4(0.009, "all", names=names))[LEAD][1] == YES


@pytest.mark.parametrize("rest", [(), ("typical",)])
def test_a_teacher_who_is_alone_stands_for_all(rest: tuple[str, ...]) -> None:
    found = findings(figure4(0.009, "uniform", *rest, names=("uniform", *rest)))
    assert found[LEAD][1] == YES
    assert "the same holds under uniform noise" not in found


def test_recorded_people_have_a_claim_of_their_own() -> None:
    numbers = figure4(0.04, "people", names=("people",))
    found = findings(numbers)
    assert found["with people's demonstrations, Counter-BC is above each baseline"][1] == YES
    assert LEAD not in {c.paper for c in claims(numbers) if c.place == "push-t"}


@pytest.mark.parametrize(("p", "verdict"), [(0.0009, YES), (0.002, PARTLY)])
def test_air_hockey_is_judged_by_the_paper_s_subjects_at_its_level(p: float, verdict: str) -> None:
    about: dict[str, Any] = {"act": "sample", "measure": "hits"}
    test = compared(dict.fromkeys(("bc", "bcnd"), (0.5, p)), by_runs=0.3, **about)
    found = findings(Numbers(figure7=Figure7(statistics=(test,))))
    finding, sentence = found["Counter-BC has more hits than each baseline (p < .001)"]
    assert sentence == verdict
    assert ("; by runs p = .300" in finding) == (verdict == YES)


def test_what_was_not_run_stands_open_with_its_command() -> None:
    found = findings(Numbers())
    text = "as σ nears 1 all methods approach chance"
    assert found[text] == (
        "`python -m reproduction run figure5 --env car-racing --paper-size`",
        OPEN,
    )
    assert {verdict for _, verdict in found.values()} == {OPEN}
    assert "Counter-BC hits more often, in less time" in found
    test = compared({}, act="sample", measure="hits")
    drawn = findings(Numbers(figure7=Figure7(statistics=(test,))))
    assert "Counter-BC hits more often, in less time" not in drawn


def test_improvements_are_claims_where_the_paper_has_a_number() -> None:
    table = tuple(improvement(b, p, -3.0, 13.0) for b, p in (("bc", 10), ("bcnd", None)))
    found = findings(Numbers(table1=Table1(improvements=table)))
    assert found["10 % over BC"] == ("5 % [−3, 13]", UNCLEAR)
    assert not any("over BCND" in paper for paper in found)
