"""Changed pedals in Car Racing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from counterbc.errors import OptionError
from reproduction.records import read
from reproduction.studies import car_racing
from reproduction.studies import car_racing_pedals as pedals


@pytest.mark.parametrize("brake", [-0.4, -0.1, 0.0, 0.1, 0.5])
def test_the_mean_brake_is_that_of_a_noisy_one_that_is_cut_off(brake: float) -> None:
    noise, action = np.linspace(-1, 1, 2001), np.array([0.1, 0.2, brake])
    clipped_mean = np.clip(brake + pedals.NOISE * noise, 0, 1).mean()
    difference = pedals.mean_brake(action, action, noise[:3])
    np.testing.assert_allclose(difference, [0.1, 0.2, clipped_mean], atol=1e-3)


def test_exchanged_pedals_are_the_other_method_s_at_the_same_frames(tiny: Any, quick: Any) -> None:
    policies = quick(tiny, "counter-bc", radii=(0.0, 0.4), seeds=2)
    obs = np.random.default_rng(0).normal(size=(12, 3))
    frames = policies.tensor(obs).unflatten(0, (4, 3))  # (P, tracks, S)
    driver, swap = (pedals.driver(policies, 3, "mean", flag)(frames) for flag in (False, True))
    for drives, lends in ((0, 2), (1, 3), (2, 0), (3, 1)):
        act = policies[lends].actor().act
        actions = [act(frame) for frame in frames[drives].numpy()]
        np.testing.assert_allclose(swap[drives], actions, rtol=1e-5, atol=1e-5)
    exchange = pedals.exchange_pedals(driver, swap, driver)
    np.testing.assert_array_equal(exchange[..., :1], driver[..., :1])
    np.testing.assert_array_equal(exchange[..., 1:], swap[..., 1:])


def test_the_best_bc_is_the_one_that_visits_most() -> None:
    numbers: dict[str, Any] = {", ".join(v): {"lap": [0.1, 0.2, 0.3, 0.4]} for v in pedals.VARIANTS}
    numbers["taken, sample, own"] = {"lap": [0.5, 0.7, 0.8, 1.0]}
    assert "Above the best BC (actions taken, act=sample, 60 %):" in pedals.best(numbers)
    assert "act=sample: +30 [+30, +30]" in pedals.best(numbers)


@pytest.mark.slow
@pytest.mark.needs("envpool")
def test_the_study_writes_every_variant_and_trains_each_policy_once(
    tmp_path: Path, check_origin: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    cell = replace(car_racing.training_cell(2), pairs=20, pool=100)
    monkeypatch.setattr(pedals, "training_cell", lambda seeds: replace(cell, seeds=seeds))
    options = pedals.CarRacingPedalsOptions(seeds=2, steps=2, tracks=1, out=tmp_path)
    pedals.run(options)
    pedals.load_demonstrations.cache_clear()
    numbers = read(options.numbers(pedals.STUDY))
    assert numbers.pop("options") == {"seeds": 2, "steps": 2, "tracks": 1}
    assert set(numbers) == {", ".join(v) for v in pedals.VARIANTS} | {pedals.DEMONSTRATIONS}
    policies = {p.name for p in (tmp_path / pedals.STUDY / "policies").iterdir()}
    assert policies == {"keep", "project"}
    check_origin(numbers.pop(pedals.DEMONSTRATIONS))
    check_origin(*numbers.values(), trained=True)
    with pytest.raises(OptionError, match="choose another folder with --out"):
        pedals.run(replace(options, steps=3))
