"""Claims on rows that are nearer to the paper's than those of its figures, from made-up rows."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from reproduction.markdown_tables import summary, verdicts
from reproduction.numbers import Numbers
from reproduction.records import Record, write_rows
from reproduction.study_claims import LATE_CROWD, study_claims
from tests.reproduction.studies.test_car_racing_paper_tables import made_up
from tests.reproduction.studies.test_fair_tables import rows_of

METHODS = {name: [50.0] * 3 for name in ("bc", "weighted-bc", "bc-rnn", "bcnd")}


def crowd_rows(*counter_runs: float, **changes: str) -> list[Record]:
    """Return rows of the late crowd, with these runs of Counter-BC."""
    return rows_of(METHODS | {"counter-bc": list(counter_runs)}, **changes)


def test_the_late_crowd_has_a_claim_for_each_way_of_taking_pairs(tmp_path: Path) -> None:
    whole, scattered = crowd_rows(60.0, 61.0, 62.0), crowd_rows(40.0, 41.0, 42.0, taken="scattered")
    write_rows(whole + scattered, tmp_path / "fair")
    found = {claim.paper: claim for claim in study_claims(tmp_path)}
    assert {paper: claim.rule(Numbers(), "sample").verdict for paper, claim in found.items()} == {
        f"{LATE_CROWD} (scattered pairs)": "contradicted",
        f"{LATE_CROWD} (whole episodes)": "reproduced",
    }
    claim = found[f"{LATE_CROWD} (whole episodes)"]
    assert (claim.section, claim.place, claim.rows) == ("5.1", "cartpole", "3 runs")
    assert claim.differs == ("late crowd", "400 pairs", "whole crowd")
    assert "above BC +22.0 %" in claim.rule(Numbers(), "mean").ours


def test_a_claim_needs_every_baseline(tmp_path: Path) -> None:
    write_rows([r for r in crowd_rows(60.0, 61.0) if r["variant"] != "bcnd"], tmp_path / "fair")
    assert not [*study_claims(tmp_path)]


def test_air_hockey_can_support_the_claim_but_not_refute_it(tmp_path: Path) -> None:
    rows = crowd_rows(40.0, 41.0, 42.0, world="air-hockey")
    write_rows([r for r in rows if r["variant"] != "bc-rnn"], tmp_path / "fair")
    (claim,) = study_claims(tmp_path)
    assert (claim.section, claim.is_as_in_paper) == ("6", False)
    line = f"| 6 | {LATE_CROWD} (whole episodes) | "
    (row,) = [x for x in summary(tmp_path).splitlines() if x.startswith(line)]
    assert "not tested as in the paper (contradicted here)" in row


def test_one_noise_in_car_racing_does_not_refute_a_percentage_over_all_teachers(
    tmp_path: Path,
) -> None:
    few_tiles = iter(np.linspace(5, 5.5, 20))
    rows = [
        r | {"tiles": next(few_tiles)} if r["variant"] == "counter-bc" else r for r in made_up()
    ]
    write_rows(rows, tmp_path / "car-racing-paper")
    over_bc, over_bcnd = study_claims(tmp_path)
    assert over_bc.paper == "2,370 % over BC, by the paper's conventions (uniform noise)"
    assert not over_bc.is_as_in_paper
    assert over_bc.rule(Numbers(), "sample").text == "contradicted (adjusted: below)"
    assert over_bcnd.paper.startswith("563 % over BCND")
    (line,) = [x for x in verdicts(tmp_path).splitlines() if over_bc.paper in x]
    assert "| ours (scattered noise, 400 pairs, one noise, 5 runs), uniform noise, 5 runs |" in line
    assert "| not tested as in the paper (contradicted here; adjusted: below) |" in line


def test_an_interval_that_includes_0_needs_no_adjusted_word(tmp_path: Path) -> None:
    write_rows(made_up(), tmp_path / "car-racing-paper")
    _, over_bcnd = study_claims(tmp_path)
    assert over_bcnd.rule(Numbers(), "sample").verdict == "cannot tell"
