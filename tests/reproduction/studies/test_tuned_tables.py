"""Tables of tuned methods."""

from __future__ import annotations

from typing import Any

from reproduction.studies.tuned_tables import cost_table, markdown, summary


def rows(variant: str, *returns: float) -> list[dict[str, Any]]:
    about = {"world": "w", "pairs": 400, "teacher": "t", "act": "mean", "shown": 5.0}
    return [about | {"variant": variant, "seed": i, "return": r} for i, r in enumerate(returns)]


def test_the_difference_is_paired_by_seed() -> None:
    table = markdown(
        rows("counter-bc, tuned", 3.0, 4.0, 5.0) + rows("bc, tuned", 1.0, 2.0, 3.0)[::-1]
    )
    cells = [cell.strip() for cell in table.splitlines()[2].split("|")[1:-1]]
    assert cells[:5] == ["w", "400", "t", "mean", "5.0"]
    assert cells[5:9] == ["–", "–", "2.00", "4.00"]
    assert cells[9:11] == ["+2.00 [+2.00, +2.00]", "+100.0 [+100.0, +100.0] %"]


def test_a_variant_that_was_not_run_leaves_no_difference() -> None:
    assert markdown(rows("bc, tuned", 1.0)).splitlines()[2].endswith("| 1.00 | – | – | – | – |")


def test_the_summary_averages_percentages_over_kinds_and_has_an_interval_over_runs() -> None:
    pair = rows("counter-bc, tuned", 3.0, 5.0) + rows("bc, tuned", 2.0, 2.0)
    other = [r | {"world": "v"} for r in pair]
    text = summary(pair + other)
    assert text.startswith("- act=mean: tuned Counter-BC minus tuned BC is +100.0 % [")
    assert text.splitlines()[0].endswith("on average over 2 kinds of data, 2 runs.")


def test_the_summary_names_the_kinds_in_which_a_loss_cannot_be_excluded() -> None:
    even = rows("counter-bc, tuned", 2.0, 2.0) + rows("bc, tuned", 2.0, 2.0)
    assert summary(even).splitlines()[1] == "- act=mean: every lower bound is above −2 %."
    worse = [r | {"world": "v"} for r in even]
    worse = [r | ({"return": 1.8} if r["variant"] == "counter-bc, tuned" else {}) for r in worse]
    assert summary(even + worse).splitlines()[1] == (
        "- act=mean: cannot exclude −10.0 % in v, 400 pairs, t. "
        "All other lower bounds are above −2 %."
    )
    many = [r | {"world": f"v{i}"} for r in worse for i in range(6)]
    assert "; and less than that in 2 more. All" in summary(even + many)


def test_the_cost_of_tuning_grows_from_the_fewest_pairs() -> None:
    rows = [{"world": "w", "pairs": n, "train": 2.0, "tune": t} for n, t in ((400, 4), (1600, 6))]
    assert cost_table(rows).splitlines()[2:] == [
        "| w | 400 | 2.0 s | 4.0 s | 2.0 | – |",
        "| w | 1600 | 2.0 s | 6.0 s | 3.0 | 1.5 × for 4 × the pairs |",
    ]
    assert cost_table([]) == "Not run yet."
