"""A small network that is trained before the policy."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from counterbc.errors import OptionError
from counterbc.weightings import Pairs
from counterbc.weightings.pretraining import Pretraining


def line() -> Pairs:
    """Return 100 pairs whose reward to go is 2 x − 1."""
    x = torch.linspace(-1, 1, 100)
    table = {"state": x.unsqueeze(-1), "to_go": 2 * x - 1}
    return Pairs(table, torch.arange(100), torch.tensor(100), torch.tensor(3))


def state(pairs: Pairs) -> Tensor:
    return pairs["state"]


def test_a_regression_finds_a_line() -> None:
    network, pairs = Pretraining(hidden=(16,), steps=1000, batch=32), line()

    def squared(value: Tensor, batch: Pairs) -> Tensor:
        return (value.squeeze(-1) - batch["to_go"]).square()

    params = network.fit(pairs, "value", state, squared)
    error = network.predict(params, pairs, state).squeeze(-1) - pairs["to_go"]
    assert float(error.abs().max()) < 0.2
    assert float(error.abs().mean()) < 0.05
    assert {value.dtype for value in params.values()} == {torch.float64}


@pytest.mark.parametrize("options", [{"hidden": ()}, {"steps": 0}, {"batch": 0}, {"hidden": (0,)}])
def test_sizes_below_one_are_refused(options: dict[str, int]) -> None:
    with pytest.raises(OptionError, match="all must be 1 or more, with at least one layer"):
        Pretraining(**options)  # type: ignore[arg-type]  # on purpose


def test_a_learning_rate_of_zero_is_refused() -> None:
    with pytest.raises(OptionError, match="learning_rate is 0"):
        Pretraining(learning_rate=0)
