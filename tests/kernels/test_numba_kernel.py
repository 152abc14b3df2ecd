"""The native steps against torch's."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from counterbc.data.demonstrations import Demonstrations
from counterbc.methods import METHODS, Method
from counterbc.training.network_stack import NetworkStack
from tests.kernels.stacks import advance, block, demonstrations, largest_difference, stack

NumbaKernel = pytest.importorskip(
    "counterbc.kernels.numba_kernel", reason="the kernel needs numba"
).NumbaKernel


def assert_same_training(
    demos: Demonstrations, method: str | Method, steps: int = 50, **options: Any
) -> NetworkStack:
    numba_stack = stack(demos, method, kernel="numba", **options)
    torchs = stack(demos, method, kernel="torch", **options)
    for networks in (numba_stack, torchs):
        advance(networks, steps)
    assert largest_difference(numba_stack, torchs) < 1e-4
    return numba_stack


@pytest.mark.parametrize("method", ["bc", "counter-bc"])
@pytest.mark.parametrize("hidden", [(8,), (16, 8), (8, 16, 8)])
def test_fifty_steps_are_those_of_torch(
    method: str, hidden: tuple[int, ...], tiny: Demonstrations
) -> None:
    assert_same_training(tiny, method, hidden=hidden)


def test_layers_and_batches_that_vectors_do_not_divide_are_computed_whole() -> None:
    demos = demonstrations(episodes=6, length=20)
    # By 50 steps, float32 differs from float64 by more than the tolerance.
    numba_stack = assert_same_training(demos, "counter-bc", 20, hidden=(100, 121), batch=37)
    assert isinstance(numba_stack.kernel, NumbaKernel)


def test_each_dimension_may_have_its_radius(tiny: Demonstrations) -> None:
    assert_same_training(tiny, "counter-bc", radius=(0.1, 0.5))


def test_a_stack_of_shards_reads_the_pairs_of_each_shard(tiny: Demonstrations) -> None:
    assert_same_training(tiny, replace(METHODS["counter-bc"], shards=3), batch=5)


def test_a_spread_beyond_its_range_gets_no_gradient(tiny: Demonstrations) -> None:
    both_stacks = [stack(tiny, seeds=4, kernel=kernel) for kernel in ("numba", "torch")]
    for networks in both_stacks:
        with torch.no_grad():
            networks.params["policy.head.bias"][0, 2:] = 9.0
            networks.params["policy.head.bias"][1, 2] = -30.0
        before = networks.params["policy.head.bias"].detach().clone()
        advance(networks, steps=1)
    after = [networks.params["policy.head.bias"].detach() for networks in both_stacks]
    assert torch.equal(after[0][0, 2:], before[0, 2:])
    assert after[0][1, 2] == -30
    torch.testing.assert_close(after[0], after[1], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("parameter_name", ["policy.layer0.weight", "policy.layer1.bias"])
@pytest.mark.parametrize("method", ["bc", "counter-bc"])
def test_a_member_that_diverged_shows_it_and_leaves_the_others_alone(
    method: str, parameter_name: str, tiny: Demonstrations
) -> None:
    ill, well = (stack(tiny, method, kernel="numba") for _ in range(2))
    with torch.no_grad():
        ill.params[parameter_name][1] = float("nan")
    for networks in (ill, well):
        advance(networks, steps=5)
    assert ill.loss.isnan().tolist() == [False, True, False]
    for name, value in well.params.items():
        assert torch.equal(ill.params[name][[0, 2]], value[[0, 2]])
        assert bool(ill.params[name][1].isnan().any())


def test_the_number_of_threads_changes_no_bit(tiny: Demonstrations) -> None:
    both_stacks = [stack(tiny, seeds=5, kernel="numba") for _ in range(2)]
    for threads, networks in enumerate(both_stacks, start=1):
        torch.set_num_threads(threads)
        advance(networks)
        assert torch.get_num_threads() == threads
    assert torch.equal(both_stacks[0].loss, both_stacks[1].loss)
    for name, value in both_stacks[0].state().items():
        assert torch.equal(both_stacks[1].state()[name], value)


def test_a_member_alone_gets_the_same_bits(tiny: Demonstrations) -> None:
    three, single_stack = (stack(tiny, seeds=seeds, kernel="numba") for seeds in (3, 1))
    for networks in (three, single_stack):
        advance(networks)
    for name, value in single_stack.params.items():
        assert torch.equal(three.params[name][:1], value)


def test_a_block_of_steps_equals_its_steps_one_by_one(tiny: Demonstrations) -> None:
    together, single = (stack(tiny, kernel="numba") for _ in range(2))
    position, epoch = block(together, 12)
    together.steps(position, epoch)
    for i in range(12):
        single.steps(position[i : i + 1], epoch[i : i + 1])
    for name, value in together.state().items():
        assert torch.equal(single.state()[name], value)


@pytest.mark.slow
def test_a_process_that_compiles_trains_to_the_same_bits_as_one_that_loads(
    tmp_path: Path,
) -> None:
    program = """if True:
        import hashlib
        import numpy as np
        from counterbc import Demonstrations, Episode, train
        rng = np.random.default_rng(0)
        obs, action = rng.normal(size=(200, 4)), rng.uniform(-1, 1, (200, 2))
        demos = Demonstrations((Episode(obs, action),))
        trained = train(
            demos, "counter-bc", seeds=2, steps=500, radius=0.4, kernel="numba", progress=False
        )
        every = b"".join(v.numpy().tobytes() for v in trained.params.values())
        print(hashlib.sha256(every).hexdigest())
    """
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    runs = [
        subprocess.run(
            [sys.executable, "-c", program], env=environment, capture_output=True, text=True,
            check=True,
        ).stdout
        for _ in range(2)
    ]  # fmt: skip
    assert any(tmp_path.rglob("*.nbc"))  # the first compiled, the second loaded
    assert runs[0] == runs[1]
