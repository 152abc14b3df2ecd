"""Verdicts on numbers made up for each case, and the page that they are written into."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from counterbc.errors import FormatError
from counterbc.studies.claims import claims
from counterbc.studies.judges import NO, OPEN, PARTLY, YES, simpler
from counterbc.studies.numbers import Numbers, against, told
from counterbc.studies.page import SECTIONS, fill, main
from counterbc.studies.sections import hardware, seconds, summary, table1, verdicts

BASELINES = ("bc", "weighted-bc", "bc-rnn", "bcnd")


def compared(differences: dict[str, tuple[float, float]], **about: Any) -> dict[str, Any]:
    """Statistics in which Counter-BC is above others by (difference, p)."""
    return about | {
        "anova": {"text": "F(2.00, 98.00) = 5.0, p = .009", "p": 0.009},
        "post_hoc": [
            {"method": "counter-bc", "other": m, "difference": {"mean": d}, "p": p}
            for m, (d, p) in differences.items()
        ],
    }


def cells(means: dict[str, float], **about: Any) -> list[dict[str, Any]]:
    return [about | {"method": m, "mean": v, "sem": 0.1, "count": 50} for m, v in means.items()]


def judged(folder: Path, said: dict[str, Any]) -> dict[str, tuple[str, str]]:
    """What was found of each claim with act=sample, by the paper's words; the first of several."""
    for figure, numbers in said.items():
        (folder / f"{figure}.json").write_text(json.dumps(numbers))
    numbers = Numbers(folder)
    found = {c.paper: c.judge(numbers, "sample") for c in reversed([*claims(numbers)])}
    return {paper: (f.ours, f.verdict) for paper, f in found.items()}


@pytest.mark.parametrize(
    ("last", "verdict"),
    [((0.2, 0.04), YES), ((0.2, 0.06), PARTLY), ((-0.2, 0.001), PARTLY), ((0.2, None), PARTLY)],
)
def test_a_claim_over_all_baselines_needs_all_of_them(
    last: tuple[float, Any], verdict: str, tmp_path: Path
) -> None:
    above = dict.fromkeys(BASELINES, (0.5, 0.001)) | {"bcnd": last}
    about = {"world": "cartpole", "act": "sample"}
    test = compared(above, teacher="all", **about)
    shown = cells(
        dict.fromkeys((*BASELINES, "counter-bc"), 1.0), teacher="crowd", pairs=100, **about
    )
    found = judged(tmp_path, {"figure4": {"cells": shown, "statistics": [test]}})
    key = "all teachers together, Counter-BC is above each baseline (p < .01)"
    assert found[key][1] == verdict
    assert found["so it is with the crowd in place of people"] == ("", OPEN)


def test_signs_count_only_where_they_are_significant_and_turn_where_less_is_better() -> None:
    test = compared({"bc": (0.5, 0.01), "bcnd": (-0.5, 0.01), "bc-rnn": (0.5, 0.2)})
    assert against(test) == {"bc": 1, "bcnd": -1, "bc-rnn": 0}
    assert against(test, better=-1) == {"bc": -1, "bcnd": 1, "bc-rnn": 0}
    assert told(test) == (
        "above BC +0.50 (p = .010), BCND −0.50 (p = .010), BC-RNN +0.50 (p = .200)"
    )


def test_sizes_are_judged_with_every_teacher_counted_alike(tmp_path: Path) -> None:
    shown = []
    for teacher, pairs, bcnd, ours in (
        ("epsilon-greedy", 100, 5.0, 4.0), ("epsilon-greedy", 1600, 6.0, 7.0),
        ("uniform", 100, 1.0, 3.0), ("uniform", 1600, 0.0, 9.0),
    ):  # fmt: skip
        about = {"world": "cartpole", "act": "sample", "teacher": teacher, "pairs": pairs}
        shown += cells({"bcnd": bcnd, "counter-bc": ours}, **about)
    found = judged(tmp_path, {"figure4": {"cells": shown}})
    assert found["under ε-greedy BCND occasionally wins"] == (
        "BCND is higher at 1 of 2 sizes; Counter-BC above it by +0.00 on average", YES,
    )  # fmt: skip
    # BCND: (5 + 1) / 2 = 3 at 100 and (6 + 0) / 2 = 3 at 1600; Counter-BC 3.5 and 8.
    assert found["more pairs help every method"] == (
        "from 100 to 1600 pairs: BCND +0.00, Counter-BC +4.50", PARTLY,
    )  # fmt: skip
    assert found["Counter-BC leads at every size"] == ("highest at 2 of 2 sizes", YES)


def test_noise_is_judged_at_its_ends(tmp_path: Path) -> None:
    shown = []
    for sigma, bc, bcnd, ours in ((0.0, 100.0, 99.0, 90.0), (1.0, 50.0, 80.0, 60.0)):
        about = {"world": "cartpole", "act": "sample", "teacher": "uniform", "sigma": sigma}
        shown += cells({"bc": bc, "bcnd": bcnd, "counter-bc": ours}, **about)
    found = judged(tmp_path, {"figure5": {"cells": shown}})
    assert found["without noise all methods are roughly equal"][1] == PARTLY  # 99 is, 90 is not
    # Above BC by −10, then +10: grown. Above BCND by −9, then −20: not, and one of two is "partly".
    assert found["Counter-BC's lead grows with σ"] == (
        "above BC by −10.00 at σ 0, +10.00 at σ 1", PARTLY,
    )  # fmt: skip


@pytest.mark.parametrize(("falls", "verdict"), [(0.009, YES), (0.011, PARTLY)])
def test_a_curve_may_turn_back_by_less_than_a_standard_error(
    falls: float, verdict: str, tmp_path: Path
) -> None:
    rows = [
        {"radius": r, "runs": 100, "to_examples": {"mean": v, "sd": 0.1}}
        for r, v in ((None, 0.3), (0.1, 0.3 - falls), (1.0, 0.5))
    ]
    (tmp_path / "figure3.json").write_text(json.dumps({"by radius": rows}))
    found = simpler(Numbers(tmp_path), "mean", "to_examples", sign=1)
    assert found.verdict == verdict
    assert found.ours == f"BC 0.30, Δ 0.1 {0.3 - falls:.2f}, Δ 1 0.50"


def test_radii_are_judged_run_by_run(tmp_path: Path) -> None:
    about = {"world": "cartpole", "teacher": "crowd", "act": "sample"}
    above = [
        about | {"radius": r, "difference": {"mean": d, "low": d - 1, "high": d + 1}, "p": p}
        for r, d, p in ((1.0, -3.0, 0.001), (0.0, 0.1, 0.9), (0.4, 2.0, 0.06))
    ]
    found = judged(tmp_path, {"figure6": {"cells": cells({"bc": 1.0}, **about), "above_bc": above}})
    assert found["crowd: at Δ 0 Counter-BC is BC"] == (
        "Δ 0: +0.10 [−0.90, +1.10] above BC, p = .900", YES,
    )  # fmt: skip
    assert found["crowd: a larger Δ improves on BC"][1] == NO  # not told apart
    assert found["crowd: too large a Δ falls below BC"][1] == YES


def test_chance_is_a_tenth_of_what_is_reached_without_noise(tmp_path: Path) -> None:
    shown = []
    for sigma, bc, ours in ((0.0, 900.0, 800.0), (1.0, 91.0, 89.0)):
        about = {"world": "car-racing", "act": "sample", "teacher": "uniform", "sigma": sigma}
        shown += cells({"bc": bc, "counter-bc": ours}, **about)
    found = judged(tmp_path, {"figure5": {"cells": shown}})
    assert found["as σ nears 1 all methods approach chance"] == (
        "σ 1: BC 91.0, Counter-BC 89.0", PARTLY,
    )  # fmt: skip


def test_what_was_not_run_stands_open_with_its_command(tmp_path: Path) -> None:
    found = judged(tmp_path, {})
    text = "as σ nears 1 all methods approach chance"
    assert found[text] == ("`counterbc reproduce figure5 --env car-racing --paper-size`", OPEN)
    assert {verdict for _, verdict in found.values()} == {OPEN}
    assert "Counter-BC hits more often, in less time" in found
    assert "Counter-BC hits more often, in less time" not in judged(tmp_path, {"figure7": {}})


def test_an_improvement_is_reproduced_within_our_interval(tmp_path: Path) -> None:
    row = {"world": "cartpole", "act": "sample", "low": -3.0, "high": 12.0, "percent": 5.0}
    table = [row | {"baseline": b, "paper": p} for b, p in (("bc", 10), ("bcnd", 40))]
    table.append(row | {"baseline": "bc-rnn", "paper": 40, "percent": -1.0})
    found = judged(tmp_path, {"table1": {"improvements": table}})
    assert found["10 % over BC"] == ("5 % [−3, 12]", YES)
    assert found["40 % over BCND"][1] == PARTLY
    assert found["40 % over BC-RNN"][1] == NO


def test_table_1_says_what_could_be_reached_at_most(tmp_path: Path) -> None:
    row = {"world": "cartpole", "act": "sample", "low": -3.0, "high": 12.0, "percent": 5.0}
    said = {"improvements": [row | {"baseline": "bc", "paper": 39, "other": 160.0}]}
    (tmp_path / "table1.json").write_text(json.dumps(said))
    lines = table1(tmp_path).splitlines()
    # 200 steps at most, above 160 by a quarter.
    assert "| Cartpole | BC | 39 % | 5 % [−3, 12] | – | 25 % | partly |" in lines
    assert "| Car racing | BC | 2,370 % | – | – | – | not run |" in lines


def test_the_summary_has_a_column_per_world_and_tells_where_the_mean_differs(
    tmp_path: Path,
) -> None:
    shown = [
        cell
        for act, ours in (("sample", 2.0), ("mean", 0.5))
        for cell in cells({"bc": 1.0, "counter-bc": ours}, world="cartpole", act=act,
                          teacher="uniform", pairs=100)
    ]  # fmt: skip
    (tmp_path / "figure4.json").write_text(json.dumps({"cells": shown}))
    said = summary(tmp_path)
    assert "| section | the paper | Cartpole | Car racing | Can | Air hockey |" in said
    line = "| 5.2 | Counter-BC leads at every size | reproduced (mean: not reproduced) |  |  |  |"
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
    assert fill(page, root / "results") == page


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
