"""What is said of trained policies, in full."""

from __future__ import annotations

from typing import Any

import pytest

from counterbc.acting.summary import acting_text, summarize
from counterbc.data.demonstrations import Demonstrations
from counterbc.policies import Chunk, GaussianMLP
from tests.fixture_types import Train


def test_a_flow_with_relative_actions_is_described_line_by_line(
    tiny: Demonstrations, quick: Train
) -> None:
    policies = quick(tiny, "bc", policy="flow", seeds=3, relative="state[1],-", temperature=0.2)
    reads = "reading 2 observations; it predicts 8 actions and executes 4"
    assert summarize(policies).splitlines() == [
        "Policies trained with bc",
        "  members  3, seeds 0 … 2",
        "  radius   not used",
        f"  policy   Flow(8, 8): 3 → 2, {reads}",
        "  weights  moving average, with a share of 0.002 of each step",
        "  actions  [-1, 1] each",
        "  relative action[0] to state[1], action[1] absolute",
    ]


def test_a_policy_of_one_step_says_only_what_holds(tiny: Demonstrations, quick: Train) -> None:
    policies = quick(tiny, "counter-bc", seeds=[4, 2], radius=(0.1, 0.3), ensemble=2)
    assert summarize(policies).splitlines() == [
        "Policies trained with counter-bc",
        "  members  2 of 2 networks each, seeds 4, 2",
        "  radius   0.1/0.3 (given)",
        "  policy   GaussianMLP(8, 8): 3 → 2",
        "  actions  [-1, 1] each",
    ]


AVERAGING = "; it predicts 4 actions at every step and averages the overlapping chunks"


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"horizon": 4, "execute": 3}, "; it predicts 4 actions and executes 3"),
        ({"horizon": 4, "execute": 3, "average_chunks": True}, AVERAGING),
        ({"history": 3}, ", reading 3 observations"),
        ({}, ""),
    ],
)
def test_how_a_policy_acts(fields: dict[str, Any], text: str) -> None:
    assert acting_text(GaussianMLP(**fields)) == text
    assert acting_text(Chunk(**{"history": 1, "horizon": 1, "execute": 1} | fields)) == text
