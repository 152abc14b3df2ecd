"""Pairs in effect."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from torch import Tensor

import counterbc as cb
from counterbc.policies.policy import Params
from counterbc.weightings.weighting import Batch, Weighting
from reproduction.records import read
from reproduction.studies.can_weights import CanWeightsOptions, effective_pairs, run


@dataclass(frozen=True)
class Fixed(Weighting):
    """Weights by the place of a pair in its batch."""

    values: tuple[float, ...]

    def weights(self, params: Params, batch: Batch, log_pi: Tensor) -> Tensor:
        return log_pi.new_tensor(self.values).view_as(log_pi)


@pytest.mark.parametrize(
    ("weights", "effective"),
    [
        ((1, 1, 1, 1), 4),
        ((0, 5, 0, 0), 1),
        ((3, 1, 0, 0), 1.6),  # 1 / (0.75² + 0.25²)
        ((2, 1, 1, 0), 8 / 3),  # 1 / (0.5² + 0.25² + 0.25²)
    ],
)
def test_pairs_in_effect_are_one_over_the_sum_of_squared_shares(
    weights: tuple[float, ...],
    effective: float,
    tiny: Any,
    quick: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(cb.METHODS, "fixed", cb.Method(weighting=Fixed(weights)))
    policies = quick(tiny, "bc", seeds=[0])
    assert effective_pairs(policies, "fixed", tiny, 4) == pytest.approx(effective)


@pytest.mark.parametrize("method", ["weighted-bc", "bcnd"])
def test_all_pairs_are_in_effect_if_they_are_equal_and_fewer_otherwise(
    method: str, tiny: Any, quick: Any
) -> None:
    policies = quick(tiny, method, seeds=[0])
    equal = replace(tiny, episodes=tuple(_repeat_first_pair(e) for e in tiny.episodes[:1]))
    assert effective_pairs(policies, method, equal, 8) == pytest.approx(8)
    assert effective_pairs(policies, method, tiny, 8) < 8


def _repeat_first_pair(episode: cb.Episode) -> cb.Episode:
    obs, action = (np.repeat(x[:1], len(x), axis=0) for x in (episode.obs, episode.action))
    return replace(episode, obs=obs, action=action)


def test_the_study_writes_the_pairs_in_effect(tiny: Any, tmp_path: Path, check_origin: Any) -> None:
    tiny.save(tmp_path / "demos.hdf5")
    options = CanWeightsOptions(data=tmp_path / "demos.hdf5", steps=2, device="cpu", out=tmp_path)
    run(options)
    numbers = read(options.numbers("can"))["weights"]
    assert numbers["steps"] == 2
    assert all(1 <= numbers["in effect"][m] <= 2000 for m in ("weighted-bc", "bcnd"))
    check_origin(numbers, trained=True)
