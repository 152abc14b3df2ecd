"""The figure of held-out errors by lag, and by Δ and steps."""

from __future__ import annotations

from pathlib import Path

import pytest

from counterbc.errors import OptionError
from counterbc.selection.clusters import Estimate
from counterbc.selection.lag_choice import LagChoice
from counterbc.selection.tuning import Trial, Tuning

ERROR = Estimate(0.4, 0.05)
TRIALS = tuple(Trial(r, n, ERROR, Estimate(0.01, 0.02)) for r in (0.0, 0.2) for n in (200, 1600))
CURVE = LagChoice(
    (1.0,), "late", lags=(0, 1, 2), error=(0.5, 0.3, 0.4), above=(0.2, 0.0, 0.1),
    above_se=(0.05, 0.0, 0.02), own_past_error=(0.3, 0.2, 0.3), rate=10.0,
)  # fmt: skip


def drawn(tuning: Tuning, path: Path) -> str:
    tuning.plot(path)
    return path.read_text(encoding="utf-8")


def test_the_figure_has_both_criteria_and_every_radius(tmp_path: Path) -> None:
    svg = drawn(Tuning(CURVE, 0.2, 200, trials=TRIALS, protocol="5 folds"), tmp_path / "a.svg")
    for words in ("lag (s)", "state alone", "and own past actions", "Δ 0.2 *", "1,600", "5 folds"):
        assert f"<!-- {words} -->" in svg


def test_without_a_rate_or_a_search_the_figure_shows_what_there_is(tmp_path: Path) -> None:
    steps = LagChoice(
        (0.0,), "not late", lags=(0, 1), error=(0.3, 0.4), above=(0.0, 0.1), above_se=(0.0, 0.1)
    )
    svg = drawn(Tuning(steps, 0.2, 200, trials=TRIALS), tmp_path / "steps.svg")
    assert "<!-- lag (steps) -->" in svg
    assert "own past actions" not in svg
    svg = drawn(Tuning(LagChoice(), 0.2, 200, trials=TRIALS), tmp_path / "none.svg")
    assert "<!-- no lag was searched -->" in svg


def test_a_choice_without_trials_is_drawn(tmp_path: Path) -> None:
    svg = drawn(Tuning(CURVE, (0.2, 0.4), 200), tmp_path / "given.svg")
    assert "<!-- state alone -->" in svg
    assert "<!-- radius and steps were given -->" in svg


def test_another_kind_of_picture_is_refused(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match=r"cannot draw .*a.pdf; allowed: .png, .svg"):
        Tuning(CURVE, 0.2, 200).plot(tmp_path / "a.pdf")
    assert list(tmp_path.iterdir()) == []
