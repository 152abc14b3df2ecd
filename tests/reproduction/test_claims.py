"""Verdicts on numbers made up for each case, and the page that they are written into."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from counterbc.errors import FormatError
from reproduction.claims import LEAD, claims
from reproduction.fill_docs import SECTIONS, fill, main
from reproduction.markdown_tables import hardware, seconds, summary, table1, verdicts
from reproduction.numbers import Numbers, against, sign, told
from reproduction.verdicts import OPEN, PARTLY, UNCLEAR, YES

BASELINES = ("bc", "weighted-bc", "bc-rnn", "bcnd")


def compared(
    differences: dict[str, tuple[float, float]], by_runs: float | None = None, **about: Any
) -> dict[str, Any]:
    """Statistics in which Counter-BC is above others by (difference, p), by runs too."""
    return about | {
        "anova": {"text": "F(2.00, 98.00) = 5.0, p = .009", "p": 0.009},
        "post_hoc": [
            {"method": "counter-bc", "other": m, "difference": {"mean": d}, "p": p,
             "p_by_runs": by_runs or p}
            for m, (d, p) in differences.items()
        ],
    }  # fmt: skip


def cells(means: dict[str, float], **about: Any) -> list[dict[str, Any]]:
    return [about | {"method": m, "mean": v, "sem": 0.1, "count": 50} for m, v in means.items()]


def judged(folder: Path, said: dict[str, Any]) -> dict[str, tuple[str, str]]:
    """What was found of each claim with act=sample, by the paper's words; the first of several."""
    for figure, numbers in said.items():
        (folder / f"{figure}.json").write_text(json.dumps(numbers))
    numbers = Numbers(folder)
    found = {c.paper: c.judge(numbers, "sample") for c in reversed([*claims(numbers)])}
    return {paper: (f.ours, f.verdict) for paper, f in found.items()}


def test_signs_count_only_where_they_are_significant_and_turn_where_less_is_better() -> None:
    test = compared({"bc": (0.5, 0.01), "bcnd": (-0.5, 0.01), "bc-rnn": (0.5, 0.2)})
    assert [sign(t) for t in against(test)] == [1, -1, 0]
    assert [sign(t, better=-1) for t in against(test)] == [-1, 1, 0]
    assert [sign(t, level=0.01) for t in against(test)] == [0, 0, 0]
    assert told(test) == (
        "above BC +0.50 (p = .010), BCND −0.50 (p = .010), BC-RNN +0.50 (p = .200)"
    )


def figure4(p: float, *teachers: str, shown: Sequence[str]) -> dict[str, Any]:
    """Counter-BC above each baseline with this p, by these teachers, of those shown."""
    about: dict[str, Any] = {"world": "push-t", "act": "sample"}
    tests = [compared(dict.fromkeys(BASELINES, (0.5, p)), teacher=t, **about) for t in teachers]
    each = [cell for t in shown for cell in cells({"bc": 1.0}, teacher=t, pairs=100, **about)]
    return {"figure4": {"cells": each, "statistics": tests}}


def test_all_teachers_together_have_the_level_that_the_paper_states(tmp_path: Path) -> None:
    shown = ("crowd", "uniform", "typical")
    found = judged(tmp_path, figure4(0.02, "all", "uniform", "typical", shown=shown))
    assert found[LEAD][1] == PARTLY  # p < .05, not < .01
    assert found["so it is with uniform"][1] == YES
    assert found["so it is with the crowd in place of people"] == ("", OPEN)
    assert judged(tmp_path, figure4(0.009, "all", shown=shown))[LEAD][1] == YES


@pytest.mark.parametrize("others", [(), ("typical",)])
def test_a_teacher_who_is_alone_stands_for_all(others: tuple[str, ...], tmp_path: Path) -> None:
    found = judged(tmp_path, figure4(0.009, "uniform", *others, shown=("uniform", *others)))
    assert found[LEAD][1] == YES
    assert "so it is with uniform" not in found


def test_recorded_people_have_a_claim_of_their_own(tmp_path: Path) -> None:
    found = judged(tmp_path, figure4(0.04, "people", shown=("people",)))
    assert found["with people's demonstrations, Counter-BC is above each baseline"][1] == YES
    assert LEAD not in {c.paper for c in claims(Numbers(tmp_path)) if c.where == "push-t"}


@pytest.mark.parametrize(("p", "verdict"), [(0.0009, YES), (0.002, PARTLY)])
def test_air_hockey_is_judged_by_the_paper_s_subjects_at_its_level(
    p: float, verdict: str, tmp_path: Path
) -> None:
    about: dict[str, Any] = {"act": "sample", "measure": "hits"}
    test = compared(dict.fromkeys(("bc", "bcnd"), (0.5, p)), by_runs=0.3, **about)
    found = judged(tmp_path, {"figure7": {"statistics": [test]}})
    ours, said = found["Counter-BC has more hits than each baseline (p < .001)"]
    assert said == verdict
    assert ("; by runs p = .300" in ours) == (verdict == YES)


def test_what_was_not_run_stands_open_with_its_command(tmp_path: Path) -> None:
    found = judged(tmp_path, {})
    text = "as σ nears 1 all methods approach chance"
    assert found[text] == ("`counterbc reproduce figure5 --env car-racing --paper-size`", OPEN)
    assert {verdict for _, verdict in found.values()} == {OPEN}
    assert "Counter-BC hits more often, in less time" in found
    assert "Counter-BC hits more often, in less time" not in judged(tmp_path, {"figure7": {}})


def test_improvements_are_claims_where_the_paper_has_a_number(tmp_path: Path) -> None:
    row = {"world": "cartpole", "act": "sample", "low": -3.0, "high": 12.0, "percent": 5.0}
    table = [row | {"baseline": b, "paper": p} for b, p in (("bc", 10), ("bcnd", None))]
    found = judged(tmp_path, {"table1": {"improvements": table}})
    assert found["10 % over BC"] == ("5 % [−3, 12]", UNCLEAR)
    assert not any("over BCND" in paper for paper in found)


def test_table_1_says_what_could_be_reached_at_most(tmp_path: Path) -> None:
    row = {"world": "cartpole", "act": "sample", "low": -3.0, "high": 12.0, "percent": 5.0}
    said = {"improvements": [row | {"baseline": "bc", "paper": 39, "other": 160.0}]}
    (tmp_path / "table1.json").write_text(json.dumps(said))
    lines = table1(tmp_path).splitlines()
    # 200 steps at most, above 160 by a quarter.
    assert "| Cartpole | BC | 39 % | 5 % [−3, 12] | – | 25 % | cannot tell |" in lines
    assert "| Car racing | BC | 2,370 % | – | – | – | not run |" in lines


def test_the_summary_has_a_column_per_world_and_tells_where_the_mean_differs(
    tmp_path: Path,
) -> None:
    shown, leads = [], []
    for act, lead in (("sample", 2.0), ("mean", -0.5)):
        about = {"world": "cartpole", "act": act}
        shown += cells({"bc": 1.0}, teacher="uniform", pairs=100, **about)
        leads.append(about | {"at": 100, "other": "bc", "difference": {"mean": lead}, "p": 0.01})
    (tmp_path / "figure4.json").write_text(json.dumps({"cells": shown, "leads": leads}))
    said = summary(tmp_path)
    assert "| section | the paper | Cartpole | Car racing | Can | Air hockey |" in said
    line = "| 5.2 | Counter-BC leads at every size | reproduced (mean: contradicted) |  |  |  |"
    assert line in said.splitlines()


def test_folders_inside_hold_the_numbers_of_other_worlds(tmp_path: Path) -> None:
    inner = tmp_path / "car-racing"
    inner.mkdir()
    for folder, world in ((tmp_path, "cartpole"), (inner, "car-racing")):
        said = {
            "cells": cells({"bc": 1.0}, world=world, act="mean", teacher="uniform", pairs=400),
            "made": ["cuda, torch 2.11.0"],
        }
        (folder / "figure4.json").write_text(json.dumps(said))
    assert Numbers(tmp_path).worlds("figure4") == ["cartpole", "car-racing"]
    assert Numbers(inner).worlds("figure4") == ["car-racing"]
    assert hardware(tmp_path).count("cuda") == 1


def test_seconds_are_told_of_the_device_that_made_the_rows(tmp_path: Path) -> None:
    part = {"figure7, air-hockey": {"of": 20, "computed": 6, "seconds": 188.8}}
    calls = [{"device": d, "cores": 2, "parts": part} for d in ("cuda", "cpu")]
    (tmp_path / "seconds.json").write_text(json.dumps(calls))
    (tmp_path / "figure7.json").write_text(json.dumps({"made": ["cpu, torch 2.11.0"]}))
    _, _, *lines = seconds(tmp_path).splitlines()
    assert lines == ["| cpu, 2 cores | figure7, air-hockey | 6 of 20 | 189 |"]


def test_the_page_says_what_the_numbers_on_file_say() -> None:
    root = Path(__file__).parents[2]
    page = (root / "docs" / "reproduction.md").read_text(encoding="utf-8")
    assert fill(page, root / "reproduction" / "results") == page


def test_a_page_is_filled_between_its_marks_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    marks = "{0}:\n<!-- {0} -->\nold\n<!-- end of {0} -->\nbeyond\n"
    page = "".join(marks.format(name) for name in SECTIONS)
    (tmp_path / "figure2.json").write_text('{"loss": {"confident, inside": 1.0}}')
    file = tmp_path / "page.md"
    file.write_text(page)
    assert main([str(tmp_path), str(file)]) == 0
    filled = file.read_text()
    assert "old" not in filled
    assert filled.count("beyond") == len(SECTIONS)
    assert verdicts(tmp_path) in filled
    with pytest.raises(FormatError, match="the page has no <!-- summary -->"):
        fill("nothing", tmp_path)
    assert main([str(tmp_path)]) == 1
    assert capsys.readouterr().err == "error: give the folder of numbers and the page\n"
