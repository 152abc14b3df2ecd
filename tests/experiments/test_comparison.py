"""A comparison gives every method, and the expert, the same starts."""

from __future__ import annotations

import numpy as np
import pytest

from counterbc.demonstrators import NO_ERROR, UniformNoise, returns
from counterbc.errors import OptionError
from counterbc.experiments.comparison import (
    Comparison,
    demonstrations,
    same_starts,
    train_and_evaluate,
)


def test_a_teacher_without_errors_earns_what_the_expert_earns() -> None:
    result = same_starts("intersection", NO_ERROR, [3, 3])
    assert result.demonstrated == result.expert
    assert (result.difference.mean, result.difference.se) == (0.0, 0.0)


def test_the_difference_to_the_expert_is_paired_by_run() -> None:
    noisy = UniformNoise(0.5)
    result = same_starts("intersection", noisy, [2, 3])
    gaps = [
        returns("intersection", noisy, n, k).mean() - returns("intersection", NO_ERROR, n, k).mean()
        for k, n in enumerate((2, 3))
    ]
    assert result.difference.mean == pytest.approx(np.mean(gaps))
    assert result.difference.se == pytest.approx(abs(gaps[0] - gaps[1]) / 2)
    assert result.difference.mean == pytest.approx(result.demonstrated - result.expert)


@pytest.mark.filterwarnings("ignore::counterbc.errors.InfeasibleActions")
def test_methods_see_the_same_demonstrations_and_starts() -> None:
    changes = {"steps": 2, "radius": 0.4}
    comparison = Comparison(pairs=20, seeds=2, episodes=2, changes=changes, device="cpu")
    datasets = demonstrations(comparison)
    results = [
        train_and_evaluate(comparison, method, datasets, progress=False)[0]
        for method in ("bc", "counter-bc")
    ]
    first, second = ([(e.act, e.seeds, e.seed) for e in evaluations] for evaluations in results)
    assert first == second == [("mean", (0, 1), 0), ("sample", (0, 1), 0)]


def test_too_few_pairs_for_the_shards_of_a_method_are_refused() -> None:
    with pytest.raises(OptionError, match="pairs is 3; it must be 4 or more"):
        Comparison(pairs=3)
