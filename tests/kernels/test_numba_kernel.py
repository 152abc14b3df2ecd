"""The native steps against torch's, and when which of them are taken."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
import torch

from counterbc.data.demonstrations import Demonstrations
from counterbc.methods import METHODS, Method
from counterbc.policies import GaussianMLP, Policy
from counterbc.settings import Settings
from counterbc.supports import Ball
from counterbc.training.batches import Batches
from counterbc.training.network_stack import NetworkStack
from counterbc.training.plan import Job
from counterbc.weightings import Batch, PolicyLikelihood, Uniform

NativeSteps = pytest.importorskip(
    "counterbc.kernels.numba_kernel", reason="the native steps need numba"
).NativeSteps

Make = Callable[..., Demonstrations]


def population(
    demos: Demonstrations,
    method: str | Method = "counter-bc",
    dtype: torch.dtype = torch.float32,
    seeds: int = 3,
    **changes: Any,
) -> NetworkStack:
    settings = Settings(**({"hidden": (8, 8)} | changes))
    chosen = settings.apply(METHODS[method] if isinstance(method, str) else method)
    job = Job([demos], "test", chosen, settings, "default", None)
    job.assign(seeds, None)
    view = job.view(job.datasets, torch.device("cpu"), dtype)
    view.fit()
    view.update_columns(None, chosen.shards)
    return NetworkStack(view, job.fresh(view, 0), settings.rate(chosen.policy))


def advance(trained: NetworkStack, steps: int = 50, batch: int = 20, native: bool = True) -> None:
    position, epoch = Batches(trained.view.nets, batch).block(0, steps)
    if native:
        assert trained.native is not None
        trained.steps(position, epoch)
    else:
        for p, e in zip(position, epoch, strict=True):
            trained.step(p, e)


def assert_same_training(ours: NetworkStack, torchs: NetworkStack, **options: Any) -> None:
    advance(ours, **options)
    advance(torchs, **options, native=False)
    for name, value in torchs.state().items():
        torch.testing.assert_close(ours.state()[name], value, rtol=1e-5, atol=1e-5, msg=name)
    torch.testing.assert_close(ours.loss, torchs.loss, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("method", ["bc", "counter-bc"])
@pytest.mark.parametrize("hidden", [(8,), (16, 8), (8, 16, 8)])
def test_fifty_steps_are_those_of_torch(
    method: str, hidden: tuple[int, ...], tiny: Demonstrations
) -> None:
    assert_same_training(*(population(tiny, method, hidden=hidden) for _ in range(2)))


def test_batches_that_blocks_do_not_divide_are_summed_over_all_blocks(make_demos: Make) -> None:
    demos = make_demos(episodes=6, length=20)
    both = [population(demos, "counter-bc", hidden=(100, 120)) for _ in range(2)]
    assert isinstance(both[0].native, NativeSteps)
    assert both[0].native.rows == 16
    assert_same_training(*both, batch=37, steps=20)  # by 50, float32 has left float64 behind


def test_each_dimension_may_have_its_radius(tiny: Demonstrations) -> None:
    assert_same_training(*(population(tiny, radius=(0.1, 0.5)) for _ in range(2)))


def test_a_population_of_parts_reads_its_own_pairs(tiny: Demonstrations) -> None:
    method = replace(METHODS["counter-bc"], shards=3)
    assert_same_training(*(population(tiny, method) for _ in range(2)), batch=5)


def test_a_spread_beyond_its_range_gets_no_gradient(tiny: Demonstrations) -> None:
    both = [population(tiny, seeds=4) for _ in range(2)]
    for each in both:
        with torch.no_grad():
            each.params["policy.head.bias"][0, 2:] = 9.0
            each.params["policy.head.bias"][1, 2] = -30.0
    before = both[0].params["policy.head.bias"].detach().clone()
    for each, native in zip(both, (True, False), strict=True):
        advance(each, steps=1, native=native)
    after = [each.params["policy.head.bias"].detach() for each in both]
    assert torch.equal(after[0][0, 2:], before[0, 2:])
    assert after[0][1, 2] == -30
    torch.testing.assert_close(after[0], after[1], rtol=0, atol=1e-5)


@pytest.mark.parametrize("where", ["policy.layer0.weight", "policy.layer1.bias"])
@pytest.mark.parametrize("method", ["bc", "counter-bc"])
def test_a_member_that_diverged_shows_it_and_stays_alone(
    method: str, where: str, tiny: Demonstrations
) -> None:
    ill, well = population(tiny, method), population(tiny, method)
    with torch.no_grad():
        ill.params[where][1] = float("nan")
    for each in (ill, well):
        advance(each, steps=5)
    assert ill.loss.isnan().tolist() == [False, True, False]
    for name, value in well.params.items():
        assert torch.equal(ill.params[name][[0, 2]], value[[0, 2]])
        assert bool(ill.params[name][1].isnan().any())


def test_the_number_of_threads_changes_no_bit(tiny: Demonstrations) -> None:
    both = [population(tiny, seeds=5) for _ in range(2)]
    for threads, each in enumerate(both, start=1):
        torch.set_num_threads(threads)
        advance(each)
        assert torch.get_num_threads() == threads
    assert torch.equal(both[0].loss, both[1].loss)
    for name, value in both[0].state().items():
        assert torch.equal(both[1].state()[name], value)


def test_a_member_alone_gets_the_same_bits(tiny: Demonstrations) -> None:
    three, one = population(tiny, seeds=3), population(tiny, seeds=1)
    for each in (three, one):
        advance(each)
    for name, value in one.params.items():
        assert torch.equal(three.params[name][:1], value)


def test_blocks_of_steps_are_the_steps_one_by_one(tiny: Demonstrations) -> None:
    block, single = population(tiny), population(tiny)
    position, epoch = Batches(block.view.nets, 20).block(0, 12)
    block.steps(position, epoch)
    for i in range(12):
        single.steps(position[i : i + 1], epoch[i : i + 1])
    for name, value in block.state().items():
        assert torch.equal(single.state()[name], value)


@dataclass(frozen=True)
class OwnPolicy(GaussianMLP):
    """It might compute anything."""


@dataclass(frozen=True)
class OwnLoss(PolicyLikelihood):
    def loss(
        self, params: Any, batch: Batch, policy: Policy, head: tuple[torch.Tensor, ...]
    ) -> torch.Tensor:
        return 2 * super().loss(params, batch, policy, head)


@pytest.mark.parametrize(
    ("method", "changes"),
    [
        ("bc-rnn", {}),
        ("weighted-bc", {}),
        ("bcnd", {}),
        ("bc", {"dtype": torch.float64}),
        ("counter-bc", {"resample": True}),
        ("counter-bc", {"memory": 0.0}),
        ("bc", {"hidden": (256, 256)}),
        (Method(policy=GaussianMLP(history=2)), {}),
        (Method(policy=OwnPolicy()), {}),
        (Method(support=Ball(), weighting=OwnLoss()), {}),
        (Method(support=Ball(), weighting=Uniform()), {}),
    ],
)
def test_what_only_torch_can_do_is_left_to_it(
    method: str | Method, changes: dict[str, Any], tiny: Demonstrations
) -> None:
    trained = population(tiny, method, **changes)
    assert trained.native is None
    before = trained.params["policy.head.bias"].detach().clone()
    trained.steps(*Batches(trained.view.nets, 5).block(0, 1))
    assert not torch.equal(trained.params["policy.head.bias"], before)


@pytest.mark.parametrize("method", ["bc", Method(weighting=PolicyLikelihood()), "counter-bc"])
def test_the_common_case_is_native(method: str | Method, tiny: Demonstrations) -> None:
    assert population(tiny, method).native is not None


def test_without_numba_torch_takes_every_step(
    tiny: Demonstrations, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "counterbc.kernels.numba_kernel", None)
    assert population(tiny).native is None


def test_a_process_that_compiles_trains_to_the_same_bits_as_one_that_does_not(
    tmp_path: Path,
) -> None:
    program = """if True:
        import hashlib
        import numpy as np
        from counterbc import Demonstrations, Episode, train
        rng = np.random.default_rng(0)
        obs, action = rng.normal(size=(200, 4)), rng.uniform(-1, 1, (200, 2))
        demos = Demonstrations((Episode(obs, action),))
        trained = train(demos, "counter-bc", seeds=2, steps=500, progress=False)
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
