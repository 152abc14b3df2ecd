"""Lags of operators who are differently late, in short episodes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from counterbc.data.demonstrations import Demonstrations
from counterbc.demonstrators import HUMAN_TEACHERS, Crowd, Human, demonstrate
from counterbc.selection.clusters import Estimate
from counterbc.selection.lag_errors import LagSearch
from counterbc.selection.lag_operators import OperatorLags, operator_lags
from counterbc.selection.shares import Share
from tests.selection.datasets import late_demos

SURE = OperatorLags(
    np.array([8, 9, 10, 11, 12]), 16, Estimate(0.0, 0.1), Share(0.8, 0.7, 0.9)
)  # fmt: skip


def lags_of(demos: Demonstrations) -> OperatorLags:
    lags = operator_lags(demos, LagSearch(), torch.device("cpu"))
    assert lags is not None
    return lags


def test_lags_that_differ_are_found_though_each_operator_has_few_episodes() -> None:
    demos = replace(late_demos(6, 7, 8, 9, 10, episodes=15), rate=50.0)
    lags = lags_of(demos)
    assert lags.lags.tolist() == [6, 7, 8, 9, 10]
    assert lags.longest == 20  # 0.4 s; 0.7 of 30 steps would be 21
    assert lags.are_late


def test_the_operators_of_a_crowd_are_late_by_their_reaction_time() -> None:
    crowd = HUMAN_TEACHERS["crowd"]
    assert isinstance(crowd, Crowd)
    demos = demonstrate("cartpole", crowd, 400, 1000)
    people = dict(crowd.operators)
    delays = [50 * p.delay for name in demos.operators if isinstance(p := people[name], Human)]
    lags = lags_of(demos)
    assert lags.are_late
    assert np.abs(lags.lags - delays).mean() < 1.5
    assert lags.lags.mean() == pytest.approx(np.mean(delays), rel=0.1)


def test_operators_who_react_at_once_return_to_no_lag() -> None:
    demos = demonstrate("cartpole", HUMAN_TEACHERS["quick-skilled"], 2400, 1000)
    episodes = [
        replace(e, obs=e.obs[:27], action=e.action[:27], reward=None, operator=f"p{i % 6}")
        for i, e in enumerate(demos.episodes)
    ]
    lags = lags_of(replace(demos, episodes=tuple(episodes)))
    assert np.median(lags.lags) <= 1
    assert not lags.are_late


@pytest.mark.parametrize(
    ("change", "are_late"),
    [
        ({}, True),
        ({"lags": np.array([0, 1, 10, 10, 10])}, False),  # two of five are not late
        ({"lags": np.array([2, 5, 9, 12, 16])}, False),  # scattered as by chance
        ({"explained": Share(0.6, 0.5, 0.7)}, False),
        ({"gain": Estimate(-0.2, 0.1)}, False),  # clearly worse than no lag
    ],
)
def test_operators_are_late_only_if_nothing_speaks_against_it(
    change: dict[str, object], are_late: bool
) -> None:
    assert replace(SURE, **change).are_late is are_late  # type: ignore[arg-type]  # any field


def test_few_or_unnamed_operators_are_not_searched() -> None:
    few, unnamed = late_demos(2, 3), late_demos(2)
    assert operator_lags(few, LagSearch(), torch.device("cpu")) is None
    assert operator_lags(unnamed, LagSearch(), torch.device("cpu")) is None
