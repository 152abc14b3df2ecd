"""Tables of docs/reproduction.md on numbers made up for each case."""

from __future__ import annotations

import json
import re
from pathlib import Path

from reproduction.figure_numbers import Figure4, Figure7, FigureCell, Lead, Table1
from reproduction.markdown_tables import (
    conventions,
    improvements_in_short,
    rewards,
    seconds,
    summary,
    table1,
    verdicts,
)
from tests.reproduction.made_up import cells, improvement, paired, write_numbers


def test_table_1_says_what_could_be_reached_at_most(tmp_path: Path) -> None:
    table = Table1(improvements=(improvement("bc", 39, -3.0, 13.0),))
    write_numbers(tmp_path, "table1", table)
    lines = table1(tmp_path).splitlines()
    above = "+8.00 [+6.00, +10.00]"
    # 200 steps at most, above 160 by a quarter.
    line = f"39 % | 5 % [−3, 13] | – | {above} of 160.0 | 25 % | cannot tell |"
    assert f"| Cartpole | BC | the paper's, 50 runs | {line}" in lines  # no teachers were drawn
    assert "| Car racing | BC | – | 2,370 % | – | – | – | – | not run |" in lines


def test_the_readme_has_the_paper_s_percentages_above_ours(tmp_path: Path) -> None:
    write_numbers(tmp_path, "table1", Table1(improvements=(improvement("bc", 39, -3.0, 13.0),)))
    _, _, paper, sampled, mean = improvements_in_short(tmp_path).splitlines()
    assert paper == "| Cartpole | the paper | 39 % | 129 % | 51 % | 38 % |"
    assert sampled == "|  | ours, act=sample | 5 % | – | – | – |"
    assert mean == "|  | ours, act=mean | – | – | – | – |"


def test_the_summary_has_a_column_per_world_and_tells_where_the_mean_differs(
    tmp_path: Path,
) -> None:
    points: list[FigureCell] = []
    leads = []
    for act, lead in (("sample", 2.0), ("mean", -0.5)):
        about = {"world": "cartpole", "act": act}
        points += cells({"bc": 1.0}, teacher="uniform", pairs=100, **about)
        leads.append(paired(Lead, lead, 0.01, act=act, at=100, other="bc"))
    write_numbers(tmp_path, "figure4", Figure4(cells=tuple(points), leads=tuple(leads)))
    table = summary(tmp_path)
    assert "| section | the paper | Cartpole | Car racing | Can | Air hockey |" in table
    assert re.search(r"Of these, \d+ reproduced and \d+ partly rest on rows", table)
    line = (
        "| 5.2 | Counter-BC leads at every size | reproduced (mean: contradicted here) |  |  |  |"
    )
    assert line in table.splitlines()
    (claim,) = [x for x in verdicts(tmp_path).splitlines() if "leads at every size" in x]
    assert "| ours (scattered noise), 50 runs |" in claim
    assert conventions(tmp_path).splitlines()[2].startswith("| scattered noise | Cartpole")


def test_seconds_are_told_of_the_device_that_made_the_rows(tmp_path: Path) -> None:
    stage = {"figure7, air-hockey": {"of": 20, "computed": 6, "seconds": 188.8}}
    calls = [{"device": d, "cores": 2, "stages": stage} for d in ("cuda", "cpu")]
    (tmp_path / "timings.json").write_text(json.dumps(calls))
    write_numbers(tmp_path, "figure7", Figure7(made=("cpu, torch 2.11.0",)))
    _, _, *lines = seconds(tmp_path).splitlines()
    assert lines == ["| cpu, 2 cores | figure7, air-hockey | 6 of 20 | 189 |"]


def test_rewards_are_those_of_the_size_nearest_to_400_pairs(tmp_path: Path) -> None:
    about = {"world": "cartpole", "act": "sample", "teacher": "crowd"}
    points = cells({"bc": 1.0}, pairs=100, **about) + cells({"bc": 2.0}, pairs=800, **about)
    write_numbers(tmp_path, "figure4", Figure4(cells=points))
    assert rewards(tmp_path).splitlines()[-1] == "| Cartpole, crowd | sample | 1.00 ± 0.10 |"
