"""Comparisons of policies: what is chosen, what is reported, and a tiny run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from counterbc.demonstrators import UniformNoise, demonstrate
from counterbc.errors import OptionError
from reproduction.records import read
from reproduction.studies import policy_choice
from reproduction.studies.policy_choice import (
    BASELINE,
    FIRST_SEEDS,
    PolicyChoice,
    PolicyChoiceOptions,
    best_settings,
    candidates,
    markdown,
    run_choice,
    sentence,
)
from tests.reproduction.studies.conftest import CheckOrigin

Record = dict[str, Any]
CHOICE = PolicyChoice(
    study="fork-chunks", world="fork", measure="success", title="success", steps=(1, 2),
    variants=(BASELINE, "chunk, squared error", "flow"), settings={"kernel": "torch"},
)  # fmt: skip


def _row(variant: str, steps: int, temperature: float, score: float, **facts: Any) -> Record:
    return {
        "phase": "choose", "variant": variant, "steps": steps, "temperature": temperature,
        "score": score, "length": 100.0, "seed": 0,
    } | facts  # fmt: skip


def _tuned() -> list[Record]:
    """Rows of two settings, of which the one with the best mean does not have the best seed."""
    return [
        _row("flow", 1, 0.5, 0.6), _row("flow", 1, 0.5, 0.8, seed=1),
        _row("flow", 2, 0.0, 0.9), _row("flow", 2, 0.0, 0.3, seed=1),
        _row("flow", 2, 1.0, 1.0, phase="report"), _row("other", 2, 1.0, 1.0),
    ]  # fmt: skip


def test_the_best_mean_of_the_first_phase_is_chosen() -> None:
    assert best_settings(_tuned(), "flow") == {"steps": 1, "temperature": 0.5}
    assert best_settings(_tuned(), BASELINE) is None


def test_a_tie_goes_to_the_shorter_episodes() -> None:
    rows = [_row("flow", 1, 0.0, 1.0), _row("flow", 2, 0.5, 1.0, length=90.0)]
    assert best_settings(rows, "flow") == {"steps": 2, "temperature": 0.5}


def test_the_report_trains_the_chosen_settings_alone() -> None:
    steps = [about["steps"] for about in candidates(CHOICE, "choose", "flow", [])]
    assert steps == [1, 2]
    (about,) = candidates(CHOICE, "report", "flow", _tuned())
    assert about == {"phase": "report", "variant": "flow", "steps": 1, "temperature": 0.5}
    assert not list(candidates(CHOICE, "report", BASELINE, _tuned()))


def test_the_table_reports_the_chosen_settings_and_the_difference_paired_by_seed() -> None:
    rows = [*_tuned(), _row(BASELINE, 2, 0.0, 0.5)]
    for seed in (1, 0, 2):
        plain, facts = 0.5 + 0.1 * seed, {"phase": "report", "seed": seed}
        rows.append(_row(BASELINE, 2, 0.0, plain, **facts))
        rows.append(_row("flow", 1, 0.5, plain - 0.25, **facts))
        rows.append(_row("flow", 2, 0.0, 1.0, **facts))  # not chosen
    first, second = markdown(CHOICE, rows).splitlines()[2:]
    assert first == f"| {BASELINE} | 2 | 0 | 60.0 % (50 to 70) |  | 100 |"
    text = f"{BASELINE} 60.0 %; points above it: flow −25.0 [−25.0, −25.0]"
    assert sentence(CHOICE, rows) == text
    assert sentence(CHOICE, _tuned()) == "not run yet"
    assert second == "| flow | 1 | 0.5 | 35.0 % (25 to 45) | −25.0 [−25.0, −25.0] | 100 |"


def test_a_tiny_comparison_chooses_reports_and_resumes(
    tmp_path: Path, check_origin: CheckOrigin, monkeypatch: pytest.MonkeyPatch
) -> None:
    demos = demonstrate("fork", UniformNoise(0.1), 60, 0)
    options = PolicyChoiceOptions(
        out=tmp_path, seeds=2, episodes=2, choice_seeds=1, choice_episodes=1, device="cpu",
        variants=(BASELINE, "flow"),
    )  # fmt: skip
    run_choice(CHOICE, options, lambda seeds: [demos] * len(seeds))
    rows = read(tmp_path / "fork-chunks" / "rows.json")
    tried = [r for r in rows if r["phase"] == "choose"]
    assert {r["seed"] for r in tried} == {FIRST_SEEDS["choose"]}
    assert [(r["steps"], r["temperature"]) for r in tried if r["variant"] == "flow"] == [
        (s, t) for s in (1, 2) for t in (0.0, 0.5, 1.0)
    ]
    reports = [r for r in rows if r["phase"] == "report"]
    assert [(r["variant"], r["seed"] - FIRST_SEEDS["report"]) for r in reports] == [
        (v, k) for v in (BASELINE, "flow") for k in (0, 1)
    ]
    for row in reports:
        best = best_settings(rows, row["variant"])
        assert best is not None
        assert best.items() <= row.items()
    check_origin(*rows, trained=True)
    monkeypatch.setattr(policy_choice, "train", None)  # nothing is left to train
    run_choice(CHOICE, options, lambda seeds: demos)
    assert read(tmp_path / "fork-chunks" / "rows.json") == rows


def test_a_variant_of_another_comparison_is_refused(tmp_path: Path) -> None:
    options = PolicyChoiceOptions(out=tmp_path, variants=("chunk, 5 Gaussians",))
    with pytest.raises(OptionError, match="chunk, 5 Gaussians"):
        run_choice(replace(CHOICE, variants=("flow",)), options, lambda seeds: [])
