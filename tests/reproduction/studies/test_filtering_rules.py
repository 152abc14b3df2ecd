"""What is excluded by our rules, by other scores and at random."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

import counterbc as cb
from counterbc.diagnosis.scores import Score, episode_scores
from reproduction.studies import filtering_rules
from reproduction.studies.filtering_data import corrupt_dataset
from reproduction.studies.filtering_rules import RULES, Case, exclusions
from reproduction.studies.filtering_tables import ALL, ORACLE, OURS


@pytest.fixture
def case(monkeypatch: pytest.MonkeyPatch) -> Case:
    """Return a dataset whose corrupted episodes have residuals twice as large as the others."""
    demos, is_bad = corrupt_dataset("intersection", "wrong goal", 1)
    sizes = np.where(is_bad, 0.6, 0.3).repeat([len(e) for e in demos.episodes])
    noise = np.random.default_rng(0).normal(size=demos.action.shape)
    scores = episode_scores(demos, sizes[:, None] * noise, demos.action.astype(np.float64))

    def judge(_: Case) -> tuple[Mapping[str, tuple[Score, ...]], bool]:
        return {"usual": scores, "trimmed": scores}, True

    def random_scores(_: Case, bc_steps: int) -> dict[str, NDArray[np.float64]]:
        return {"BC residual": np.arange(40.0) + bc_steps}

    monkeypatch.setattr(filtering_rules, "our_scores", judge)
    monkeypatch.setattr(filtering_rules, "policy_scores", random_scores)
    return Case(world="intersection", kind="wrong goal", seed=1, demos=demos, is_bad=is_bad)


def test_without_a_rule_there_is_a_subset_for_each(case: Case) -> None:
    masks, about = exclusions(case, 100, None, 2)
    assert list(masks) == [ALL, *RULES]
    assert all(mask.shape == (2, 40) for mask in masks.values())
    assert about["a tenth"]["excluded"] == 4
    assert about[ALL]["excluded"] == 0
    counts = [about[f"trimmed, z > {level:g}"]["excluded"] for level in (2.0, 2.5, 3.0, 4.0)]
    assert counts == sorted(counts, reverse=True)
    assert about["trimmed, z > 2"]["corrupted_excluded"] >= 5


def test_every_other_score_excludes_as_many_as_ours(case: Case) -> None:
    masks, about = exclusions(case, 100, "trimmed, z > 2", 3)
    count = about[OURS]["excluded"]
    assert count > 0
    scores = [name for name in masks if name not in (ALL, ORACLE)]
    assert {"BC residual", "democlean", "random", "random, as long"} < set(scores)
    assert all((masks[name].sum(1) == count).all() for name in scores)
    assert len(np.unique(masks["random"], axis=0)) > 1
    np.testing.assert_array_equal(masks[ORACLE][0], case.is_bad)
    assert np.flatnonzero(masks["BC residual"][0]).tolist() == list(range(40 - count, 40))


def test_the_tenth_has_the_largest_distances(case: Case) -> None:
    scores = [
        replace(s, distance=float(i))
        for i, s in enumerate(filtering_rules.our_scores(case)[0]["usual"])
    ]
    assert sorted(filtering_rules.tenth(scores)) == [36, 37, 38, 39]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::counterbc.errors.InfeasibleActions")
def test_air_hockey_with_wrong_goals_is_ranked_although_a_quick_regression_explains_nothing() -> (
    None
):
    demos, _ = corrupt_dataset("air-hockey", "wrong goal", 1070)
    estimate = cb.meaning(
        demos, radius=0.4, held_out=cb.HeldOut(repeats=1, rounds=1, steps=1000), lag=0.0,
        offsets="none", device="cpu", progress=False,
    )  # fmt: skip
    past = estimate.explained.past
    assert past is not None
    assert past.present.value < past.visible.value * past.last_two.value
    assert estimate.explained.tells
