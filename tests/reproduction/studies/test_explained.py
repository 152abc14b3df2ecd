"""Datasets in which nothing can be predicted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from reproduction import datasets
from reproduction.records import read_rows
from reproduction.studies import explained
from reproduction.studies.scores import make_data, operators


def test_shuffled_actions_are_the_same_actions_elsewhere() -> None:
    plain = make_data("intersection", operators(), 70, 3)[0]
    mixed = explained.dataset("shuffled", 3)
    np.testing.assert_array_equal(mixed.obs, plain.obs)
    assert not np.array_equal(mixed.action, plain.action)
    np.testing.assert_allclose(np.sort(mixed.action, 0), np.sort(plain.action, 0), rtol=0.5)


def test_actions_that_follow_themselves_start_anew_in_each_episode() -> None:
    demos = explained.dataset("AR(1)", 3)
    action, starts = demos.action, demos.starts
    later = np.arange(len(action)) > starts
    correlation = np.corrcoef(action[later, 0], action[np.flatnonzero(later) - 1, 0])[0, 1]
    assert correlation == pytest.approx(0.9, abs=0.04)


def test_the_previous_action_is_observed_beside_the_same_actions() -> None:
    plain, shown = explained.dataset("AR(1)", 3), explained.dataset("observed", 3)
    np.testing.assert_array_equal(shown.action, plain.action)
    for before, now in zip(plain.episodes, shown.episodes, strict=True):
        size = before.obs.shape[1]
        np.testing.assert_array_equal(now.obs[:, :size], before.obs)
        assert not now.obs[0, size:].any()
        np.testing.assert_array_equal(now.obs[1:, size:], before.action[:-1])


@pytest.mark.parametrize(("seed", "noise"), [(3, 0.3), (4, 0.5), (5, 0.8)])
def test_the_previous_action_is_observed_with_noise_of_the_level_of_the_seed(
    seed: int, noise: float
) -> None:
    clear, noisy = explained.dataset("observed", seed), explained.dataset("noisy", seed)
    np.testing.assert_array_equal(noisy.action, clear.action)
    error = noisy.obs - clear.obs
    size = clear.obs.shape[1] - clear.action_size
    assert not error[:, :size].any()
    ratio = error[:, size:].std(0) / clear.action.std(0)
    np.testing.assert_allclose(ratio, noise, rtol=0.1)


def test_velocities_are_missing() -> None:
    assert explained.dataset("missing", 3).obs_names == ("x", "theta")


@pytest.mark.slow
@pytest.mark.usefixtures("few_steps")
def test_the_study_writes_a_row_for_each_dataset(
    tmp_path: Path, run_here: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    run_here(datasets)
    kinds = ("noise", "scores")
    options = explained.ExplainedOptions(seeds=1, first=0, kinds=kinds, device="cpu", out=tmp_path)
    explained.run(options)
    rows = read_rows(tmp_path / "explained")
    assert [r["kind"] for r in rows] == list(kinds)
    assert not any(r["ranked"] for r in rows)
    assert all(r["response_low"] <= r["response"] <= r["response_high"] for r in rows)
    assert "| 0 of 1 |" in capsys.readouterr().out


def test_datasets_of_the_present_rule_are_counted_apart() -> None:
    shares = dict.fromkeys(("present", "previous", "beyond", "present_low"), 0.5)
    earlier = {"kind": "noisy", "seed": 0, "ranked": True, "quick_ranked": False} | shares
    assert "present rule" not in explained.markdown([earlier])
    new = earlier | {"seed": 1, "ranked": False, "response": 0.01, "response_low": -0.004}
    text = explained.markdown([earlier | {"response": None}, new, new])
    assert "| 1 of 3 |" in text
    assert "with noise” 0 of 2 (lower end of the response at most 0 %)." in text
