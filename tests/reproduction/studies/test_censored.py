"""The study of actions that were cut at their bounds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from counterbc.demonstrators import GaussianNoise, demonstrate
from counterbc.trainer import train
from reproduction.records import read
from reproduction.studies import censored


def test_the_study_compares_both_likelihoods_on_the_same_data(
    tmp_path: Path, check_origin: Any, run_here: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_here(censored)
    options = censored.CensoredOptions(
        seeds=2, problems=("brake", "cartpole"), noises=("gaussian",), pairs=(60,), steps=2,
        episodes=2, out=tmp_path,
    )  # fmt: skip
    censored.run(options)
    rows = read(tmp_path / "censored" / "rows.json")
    assert len(rows) == 2 * 2 * 2 * 2  # problems, methods, with and without, seeds
    for r in rows:
        assert (r["kernel"] == "torch") or not r["censored"]
        assert (r["problem"] == "brake") == (r.get("sample") is None)
        assert 0 < r["on_bound"] < 1
    shares = {(r["problem"], r["seed"]): r["on_bound"] for r in rows}
    assert all(shares[r["problem"], r["seed"]] == r["on_bound"] for r in rows)
    check_origin(*rows, trained=True)
    before = (tmp_path / "censored" / "rows.json").read_bytes()
    monkeypatch.setattr(censored, "measure", None)  # nothing is computed twice
    censored.run(options)
    assert (tmp_path / "censored" / "rows.json").read_bytes() == before
    table = censored.sections(tmp_path)["censored"]["censored"]
    assert all(f"| {measure} |" in table for measure in ("error", "mean", "sample"))


def rows(is_censored: bool, *errors: float) -> list[dict[str, Any]]:
    about = {"problem": "brake", "noise": "uniform", "pairs": 400, "method": "bc"}
    about |= {"censored": is_censored, "on_bound": 0.25}
    return [about | {"seed": i, "error": e} for i, e in enumerate(errors)]


def test_the_change_is_paired_by_seed_and_marked_where_it_is_sure() -> None:
    table = censored.markdown(rows(True, 0.3, 0.1) + rows(False, 0.4, 0.2)[::-1])
    cells = [cell.strip() for cell in table.splitlines()[2].split("|")[1:-1]]
    assert cells == [
        "brake", "uniform", "400", "25%", "bc", "error", "0.300", "-0.100 [-0.100, -0.100] ▲",
    ]  # fmt: skip
    assert "▼" in censored.markdown(rows(True, 0.4, 0.2) + rows(False, 0.3, 0.1))
    assert censored.markdown(rows(True, 0.4)) == "Not run yet."


def test_half_of_the_brakes_ask_for_the_bound() -> None:
    data = censored.demonstrations("brake", "uniform", 400, 0)
    assert (data.actions_are, data.action.min(), data.action.max()) == ("taken", 0, 1)
    off = data.action[data.obs < -0.01]
    assert np.mean(off == 0) == pytest.approx(0.5, abs=0.1)


def test_the_error_is_in_units_in_which_actions_span_minus_one_to_one() -> None:
    data = censored.demonstrations("brake", "uniform", 100, 0)
    policies = train(data, "bc", steps=1, radius=0.0, lag=0.0, ensemble=1, progress=False)
    actor = policies.actor()
    states, meant = censored.expert_pairs("brake")
    off = [2 * (actor.act(s) - a) for s, a in zip(states, meant, strict=True)]
    (error,) = censored.action_errors(policies, states, meant)
    assert error == pytest.approx(np.sqrt(np.mean(np.square(off))), rel=1e-5)


def test_the_states_of_a_world_are_the_experts() -> None:
    states, meant = censored.expert_pairs("cartpole")
    assert states.shape == (censored.STATES, 4)
    torch.manual_seed(0)
    clean = demonstrate("cartpole", GaussianNoise(0.0), 10, 0)
    assert meant.shape[1] == clean.action_size
