"""BCND: pairs are weighted by the policies of the round before."""

from __future__ import annotations

import math

import torch

from counterbc.weightings import PreviousPolicy
from tests.weightings.batches import batch


def test_the_first_round_is_behavior_cloning() -> None:
    weights = PreviousPolicy().weights({}, batch(torch.zeros(3, 1)), torch.randn(3, 1))
    assert weights.tolist() == [[1.0]] * 3


def test_later_weights_are_the_mean_of_each_policys_share_of_the_batch() -> None:
    # The first policy gives the pairs the probabilities 1 and 3, the second 1 and 1.
    previous = torch.tensor([[0.0, 0.0], [math.log(3.0), 0.0]])
    weights = PreviousPolicy().weights(
        {}, batch(torch.zeros(2, 1), log_pi_prev=previous), torch.zeros(2, 1)
    )
    torch.testing.assert_close(weights, torch.tensor([[0.375], [0.625]]))
