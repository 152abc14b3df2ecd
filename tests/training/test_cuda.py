"""On a GPU: the same trainings, captured in a CUDA graph."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from counterbc import METHODS, Policies, train
from counterbc.demonstrators import Uniform, demonstrate

pytestmark = [
    pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA device"),
    pytest.mark.filterwarnings("ignore::counterbc.errors.InfeasibleActions"),
]

PAPER = ("bc", "weighted-bc", "bc-rnn", "bcnd", "counter-bc")


def trained(method: str, device: str, **options: Any) -> Policies:
    demos = [demonstrate("intersection", Uniform(0.5), 60, seed) for seed in range(3)]
    return train(demos, method, seeds=3, device=device, progress=False, **options)


def difference(a: Policies, b: Policies) -> float:
    return max(float((a.params[k] - b.params[k]).abs().max()) for k in a.params)


@pytest.mark.parametrize("method", PAPER)
def test_a_training_on_the_gpu_agrees_with_one_on_the_cpu(method: str) -> None:
    assert method in METHODS
    options: dict[str, Any] = {"steps": 200, "dtype": torch.float64}
    cpu, gpu = trained(method, "cpu", **options), trained(method, "cuda", **options)
    assert difference(cpu, gpu) < 1e-6  # stored as float32
    assert gpu.curve is not None
    assert gpu.curve.loss[-1].isfinite().all()


@pytest.mark.parametrize("method", PAPER)
def test_two_trainings_on_the_gpu_give_the_same_bits(method: str) -> None:
    assert difference(trained(method, "cuda", steps=60), trained(method, "cuda", steps=60)) == 0


def test_counterfactuals_computed_again_in_the_graph_equal_kept_ones() -> None:
    kept = trained("counter-bc", "cuda", steps=40, dtype=torch.float64)
    again = trained("counter-bc", "cuda", steps=40, dtype=torch.float64, memory=0.0)
    assert difference(kept, again) < 1e-6
