"""Cleaned demonstrations with and without time, against what was meant."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.signal import savgol_filter

from reproduction import datasets
from reproduction.records import Record, read_rows
from reproduction.studies import clean_time


def test_the_filter_is_that_of_savitzky_and_golay() -> None:
    action = np.random.default_rng(0).normal(size=(30, 2))
    filtered, weight = clean_time._filter(action, 7)
    np.testing.assert_allclose(filtered, savgol_filter(action, 7, 2, axis=0, mode="interp"))
    changed = action.copy()
    changed[12] += 1
    np.testing.assert_allclose(clean_time._filter(changed, 7)[0][12] - filtered[12], weight[12])
    short = np.ones((2, 2))
    np.testing.assert_array_equal(clean_time._filter(short, 7)[0], short)


def test_long_windows_predict_slow_actions_and_short_ones_fast_actions() -> None:
    rng, t = np.random.default_rng(0), np.arange(80)[:, None]
    for period, expected in ((60, (15, 41)), (6, (5, 5))):
        action = np.sin(2 * np.pi * t / period) + 0.1 * rng.normal(size=(80, 1))
        errors = {w: clean_time._left_out_error([action], w) for w in clean_time.WINDOWS}
        low, high = expected
        assert low <= min(errors, key=lambda window: errors[window]) <= high


@pytest.mark.parametrize("world", clean_time.CLEAN_WORLDS)
def test_without_noise_the_expert_s_mean_is_demonstrated(world: str) -> None:
    demos, mean = clean_time.dataset(world, clean_time.NO_NOISE, 0)
    np.testing.assert_allclose(demos.action, mean, rtol=1e-5, atol=1e-6)
    noisy, intended = clean_time.dataset(world, "typical", 0)
    assert intended.shape == noisy.action.shape
    assert np.abs(noisy.action - intended).mean() > 0.05


def rows_of(smooth: float, moved: float = 0.0, reward: float = 1.0) -> list[Record]:
    """Return rows in which `smooth` has this distance, and the others 0.3."""
    rows: list[Record] = []
    for world in clean_time.CLEAN_WORLDS:
        for seed in range(3):
            row: Record = {"world": world, "teacher": "typical", "seed": seed}
            row |= {f"distance_{name}": 0.3 + 0.01 * seed for name in clean_time.VARIANTS}
            row |= {f"return_{name}": 2.0 + seed for name in clean_time.LEARNED}
            row["distance_smooth"] = smooth + 0.011 * seed
            row["return_smooth"] = reward + 1.1 * seed
            rows += [row, {"world": world, "teacher": "no noise", "seed": seed}]
            rows[-1]["moved_smooth"] = moved
    return rows


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (rows_of(0.2, reward=2.0), True),
        (rows_of(0.299, reward=2.0), False),  # not clearly nearer
        (rows_of(0.2, moved=0.03, reward=2.0), False),
        (rows_of(0.2, reward=1.0), False),  # clearly below clean
    ],
)
def test_smoothing_is_the_default_if_it_is_nearer_everywhere_and_harms_nowhere(
    rows: list[Record], expected: bool
) -> None:
    assert clean_time.is_default(rows) is expected
    verdict = "is" if expected else "is not"
    assert f"smoothing {verdict} the default" in clean_time.markdown(rows)


@pytest.mark.slow
@pytest.mark.usefixtures("few_steps")
def test_a_row_has_the_distance_of_each_variant_and_the_return_of_bc_on_it(
    tmp_path: Path, run_here: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_here(datasets)
    monkeypatch.setattr(clean_time, "STEPS", 2)
    monkeypatch.setattr(clean_time, "PAIRS", 60)
    options = clean_time.CleanTimeOptions(
        seeds=1, first=0, worlds=("cartpole",), teachers=("typical", "no noise"), device="cpu",
        out=tmp_path,
    )  # fmt: skip
    clean_time.run(options)
    person, perfect = read_rows(tmp_path / "clean-time")
    assert person["distance_smooth"] != person["distance_clean"] > 0
    assert person["distance_tuned filter"] <= person["distance_filter"]
    assert all(person[f"return_{name}"] > 0 for name in clean_time.LEARNED)
    assert perfect["distance_shown"] == pytest.approx(0, abs=1e-6)
    assert "| cartpole |" in clean_time.sections(tmp_path)["clean"]["time"]
