"""Checks of a training on a GPU, as plain functions: they need neither pytest nor gymnasium."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from counterbc import METHODS, Policies, train
from counterbc.acting.member import Member
from counterbc.kernels.products import multiplying
from counterbc.training.batches import Batches
from counterbc.training.network_stack import NetworkStack
from counterbc.training.networks import networks as lists_of
from tests.kernels.stacks import advance, block, demonstrations, largest_difference, stack

PAPER = ("bc", "weighted-bc", "bc-rnn", "bcnd", "counter-bc")
NATIVE = (*PAPER, "ileed")
NARROW, WIDE = (16, 32), (64, 64)
STEPS = 20


def train_small(method: str, device: str, **options: Any) -> Policies:
    demos = [demonstrations(length=15, seed=seed) for seed in range(3)]
    small: dict[str, Any] = {"seeds": 3, "radius": 0.4, "progress": False}
    return train(demos, method, device=device, **(small | options))


def difference(actual: Policies, reference: Policies) -> float:
    return max(
        float((actual.params[k] - reference.params[k]).abs().max()) for k in reference.params
    )


def auto_takes_cuda_for_the_default_sizes_triton_for_some_and_torch_for_the_rest() -> None:
    cases: list[tuple[str, dict[str, Any], str]] = [
        ("counter-bc", {"hidden": WIDE}, "cuda"),
        ("weighted-bc", {"hidden": WIDE}, "cuda"),
        ("bcnd", {"hidden": WIDE, "batch": 10}, "cuda"),
        ("bc-rnn", {"hidden": WIDE}, "cuda"),
        ("bc", {"hidden": NARROW}, "triton"),
        ("ileed", {"hidden": WIDE}, "triton"),
        ("bc-rnn", {"hidden": NARROW}, "triton"),
        ("counter-bc", {"hidden": WIDE, "counterfactuals": 200}, "triton"),
        ("bc-rnn", {"hidden": (64,)}, "torch"),
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
        networks = stack(demos, device="cuda", hidden=NARROW, batch=batch, seeds=seeds)
        assert networks.kernel.name == name, (batch, seeds, networks.kernel.name)


def check_close_to_float64(
    methods: tuple[str, ...], kernel: str = "triton", inputs: int = 3
) -> None:
    """Require that a kernel is as close to float64 as torch is, by tensors of the training state.

    They are compared after few steps: float32 trainings diverge from each other soon after.
    """
    demos = demonstrations(inputs=inputs)
    for method in methods:
        for batch in (10,) if method == "bcnd" else (10, 16, 37):
            for hidden in (NARROW, WIDE) if kernel == "triton" else (WIDE,):
                options: dict[str, Any] = {"batch": batch, "hidden": hidden, "later": True}
                exact = stack(demos, method, dtype=torch.float64, **options)
                advance(exact, STEPS)
                native, plain = (
                    stack(demos, method, device="cuda", kernel=name, **options)
                    for name in (kernel, "torch")
                )
                position, epoch = block(native, STEPS)
                native.steps(position[:8], epoch[:8])  # a block continues the one before it
                native.steps(position[8:], epoch[8:])
                advance(plain, STEPS)
                error, tolerance = (largest_difference(n, exact) for n in (native, plain))
                assert error < 10 * tolerance + 1e-5, (method, batch, hidden, error, tolerance)


def layers_are_as_close_to_float64_as_torch_is() -> None:
    check_close_to_float64(("bc", "counter-bc", "bcnd"))


def networks_of_weights_are_as_close_to_float64_as_torch_is() -> None:
    check_close_to_float64(("weighted-bc", "ileed"))


def a_gru_is_as_close_to_float64_as_torch_is() -> None:
    check_close_to_float64(("bc-rnn",))


def many_inputs_are_as_close_to_float64_as_torch_is() -> None:
    check_close_to_float64(("bc", "bc-rnn"), inputs=12)


def cuda_is_as_close_to_float64_as_torch_is() -> None:
    check_close_to_float64(PAPER, "cuda")


def cuda_with_many_inputs_is_as_close_to_float64_as_torch_is() -> None:
    check_close_to_float64(("bc", "weighted-bc", "bc-rnn"), "cuda", inputs=12)


def cuda_walks_through_large_batches() -> None:
    demos = demonstrations(episodes=12)
    for method in ("bc", "counter-bc", "bc-rnn"):
        options: dict[str, Any] = {"hidden": WIDE, "batch": 100}
        exact = stack(demos, method, dtype=torch.float64, **options)
        native = stack(demos, method, device="cuda", kernel="cuda", **options)
        for networks in (exact, native):
            advance(networks, STEPS)
        assert largest_difference(native, exact) < 1e-5, method


def cuda_gives_a_network_the_same_bits_alone_and_among_many() -> None:
    for method in PAPER:
        small, large = (
            stack(demonstrations(), method, device="cuda", kernel="cuda", hidden=WIDE, batch=10,
                  seeds=seeds)
            for seeds in (2, 400)
        )  # fmt: skip
        for networks in (small, large):
            advance(networks, STEPS)
        for name, value in small.params.items():
            assert torch.equal(value, large.params[name][: len(value)]), (method, name)


def a_training_on_the_gpu_agrees_with_one_on_the_cpu() -> None:
    for method in PAPER:
        assert method in METHODS
        options: dict[str, Any] = {"steps": 50, "dtype": torch.float64}
        gpu = train_small(method, "cuda", **options)
        assert difference(gpu, train_small(method, "cpu", **options)) < 1e-6, method
        assert gpu.curve is not None
        assert bool(gpu.curve.loss[-1].isfinite().all())


def two_trainings_on_the_gpu_give_the_same_bits() -> None:
    for method in NATIVE:
        runs = [train_small(method, "cuda", steps=60) for _ in range(2)]
        assert difference(*runs) == 0, method


def counterfactuals_computed_again_in_the_graph_equal_kept_ones() -> None:
    options: dict[str, Any] = {"steps": 40, "dtype": torch.float64}
    table = train_small("counter-bc", "cuda", **options)
    assert difference(train_small("counter-bc", "cuda", memory=0.0, **options), table) < 1e-6


def cuda_orders_pairs_as_a_cpu_does() -> None:
    for lengths in ((400, 7, 1024), (100,) * 50, (1030, 40)):
        members = [Member(seed, (0.0,)) for seed in range(len(lengths))]
        nets = lists_of(members, [torch.arange(n) for n in lengths], shards=1)
        for batch, first, steps in ((5, 0, 1), (40, 123, 60)):
            on_gpu = Batches(nets.to(torch.device("cuda")), batch).block(first, steps)
            on_cpu = Batches(nets, batch).block(first, steps)
            for gpu, cpu in zip(on_gpu, on_cpu, strict=True):
                assert torch.equal(gpu.cpu(), cpu), (lengths, batch)


def tf32_rounds_products_and_gives_the_same_bits_twice() -> None:
    """The first step shows the rounding; after some steps units of ReLU at 0 hide it."""
    options: dict[str, Any] = {"hidden": (256, 256), "batch": 16}
    exact = stack(demonstrations(), "bc", dtype=torch.float64, **options)
    kinds = ("float32", "tf32", "tf32")
    runs = [stack(demonstrations(), "bc", device="cuda", products=x, **options) for x in kinds]
    for networks in (exact, *runs):
        advance(networks, 1)
    plain, tf32 = (gradient_difference(networks, exact) for networks in runs[:2])
    assert plain < 2e-5 < tf32 < 0.05, (plain, tf32)
    for networks in runs[1:]:
        position, epoch = block(networks, STEPS)
        networks.steps(position[1:], epoch[1:])
    for name, value in runs[1].state().items():
        assert torch.equal(value, runs[2].state()[name]), name


def gradient_difference(networks: NetworkStack, reference: NetworkStack) -> float:
    """Return the largest relative RMS difference of the gradients of a first step."""
    pairs = [
        (a.cpu().double(), b)
        for a, b in zip(networks.adam.first, reference.adam.first, strict=True)
    ]
    return max(float((a - b).norm() / b.norm()) for a, b in pairs)


def a_program_that_lets_torch_use_tf32_changes_nothing() -> None:
    options: dict[str, Any] = {"hidden": (256, 256), "device": "cuda"}
    plain, inside = (stack(demonstrations(), "bc", **options) for _ in range(2))
    advance(plain, STEPS)
    with multiplying("tf32"):
        advance(inside, STEPS)
    assert largest_difference(inside, plain) == 0


CHECKS: list[Callable[[], None]] = [
    auto_takes_cuda_for_the_default_sizes_triton_for_some_and_torch_for_the_rest,
    auto_leaves_large_batches_of_few_networks_to_torch,
    layers_are_as_close_to_float64_as_torch_is,
    networks_of_weights_are_as_close_to_float64_as_torch_is,
    a_gru_is_as_close_to_float64_as_torch_is,
    many_inputs_are_as_close_to_float64_as_torch_is,
    cuda_is_as_close_to_float64_as_torch_is,
    cuda_with_many_inputs_is_as_close_to_float64_as_torch_is,
    cuda_walks_through_large_batches,
    cuda_gives_a_network_the_same_bits_alone_and_among_many,
    a_training_on_the_gpu_agrees_with_one_on_the_cpu,
    two_trainings_on_the_gpu_give_the_same_bits,
    counterfactuals_computed_again_in_the_graph_equal_kept_ones,
    cuda_orders_pairs_as_a_cpu_does,
    tf32_rounds_products_and_gives_the_same_bits_twice,
    a_program_that_lets_torch_use_tf32_changes_nothing,
]
