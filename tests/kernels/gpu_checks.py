"""Checks of a training on a GPU, as plain functions: they need neither pytest nor gymnasium."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from counterbc import METHODS, Policies, train
from tests.kernels.stacks import advance, block, demonstrations, largest_difference, stack

PAPER = ("bc", "weighted-bc", "bc-rnn", "bcnd", "counter-bc")
NARROW, WIDE = (16, 32), (64, 64)


def trained(method: str, device: str, **options: Any) -> Policies:
    demos = [demonstrations(length=15, seed=seed) for seed in range(3)]
    small: dict[str, Any] = {"seeds": 3, "radius": 0.4, "progress": False}
    return train(demos, method, device=device, **(small | options))


def difference(ours: Policies, theirs: Policies) -> float:
    return max(float((ours.params[k] - theirs.params[k]).abs().max()) for k in theirs.params)


def auto_takes_triton_for_the_common_case_and_torch_for_the_rest() -> None:
    cases: list[tuple[str, dict[str, Any], str]] = [
        ("counter-bc", {"hidden": WIDE}, "triton"),
        ("bc", {"hidden": NARROW}, "triton"),
        ("weighted-bc", {"hidden": WIDE}, "torch"),
        ("bc", {"hidden": (64,)}, "torch"),
        ("bc", {"hidden": (64, 48)}, "torch"),
        ("bc", {"hidden": (128, 64)}, "torch"),
        ("counter-bc", {"hidden": WIDE, "memory": 0.0}, "torch"),
        ("counter-bc", {"hidden": WIDE, "counterfactuals": 600}, "torch"),
    ]
    for method, changes, name in cases:
        networks = stack(demonstrations(), method, device="cuda", **changes)
        assert networks.kernel.name == name, (method, changes, networks.kernel.name)


def auto_leaves_large_batches_of_few_networks_to_torch() -> None:
    demos = demonstrations(episodes=30)
    for batch, seeds, name in ((40, 3, "triton"), (256, 3, "torch"), (256, 64, "triton")):
        networks = stack(demos, device="cuda", hidden=WIDE, batch=batch, seeds=seeds)
        assert networks.kernel.name == name, (batch, seeds, networks.kernel.name)


def fifty_steps_of_triton_are_those_of_torch() -> None:
    for method in ("bc", "counter-bc"):
        for batch in (10, 16, 37):
            for hidden in (NARROW, WIDE):
                options: dict[str, Any] = {"device": "cuda", "batch": batch, "hidden": hidden}
                ours, torchs = (
                    stack(demonstrations(), method, kernel=kernel, **options)
                    for kernel in ("triton", "torch")
                )
                position, epoch = block(ours, 50)
                ours.steps(position[:20], epoch[:20])  # a block continues the one before it
                ours.steps(position[20:], epoch[20:])
                advance(torchs, 50)
                assert largest_difference(ours, torchs) < 1e-4, (method, batch, hidden)


def a_training_on_the_gpu_agrees_with_one_on_the_cpu() -> None:
    for method in PAPER:
        assert method in METHODS
        options: dict[str, Any] = {"steps": 200, "dtype": torch.float64}
        gpu = trained(method, "cuda", **options)
        assert difference(gpu, trained(method, "cpu", **options)) < 1e-6, method
        assert gpu.curve is not None
        assert bool(gpu.curve.loss[-1].isfinite().all())


def two_trainings_on_the_gpu_give_the_same_bits() -> None:
    for method in PAPER:
        runs = [trained(method, "cuda", steps=60) for _ in range(2)]
        assert difference(*runs) == 0, method


def counterfactuals_computed_again_in_the_graph_equal_kept_ones() -> None:
    options: dict[str, Any] = {"steps": 40, "dtype": torch.float64}
    kept = trained("counter-bc", "cuda", **options)
    assert difference(trained("counter-bc", "cuda", memory=0.0, **options), kept) < 1e-6


CHECKS: list[Callable[[], None]] = [
    auto_takes_triton_for_the_common_case_and_torch_for_the_rest,
    auto_leaves_large_batches_of_few_networks_to_torch,
    fifty_steps_of_triton_are_those_of_torch,
    a_training_on_the_gpu_agrees_with_one_on_the_cpu,
    two_trainings_on_the_gpu_give_the_same_bits,
    counterfactuals_computed_again_in_the_graph_equal_kept_ones,
]
