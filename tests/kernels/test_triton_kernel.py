"""On a GPU: the same trainings, as one kernel or captured in a CUDA graph."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from counterbc import METHODS, Policies, train
from counterbc.demonstrators import UniformNoise, demonstrate
from counterbc.settings import Settings
from counterbc.training.batches import Batches
from counterbc.training.network_stack import NetworkStack
from counterbc.training.plan import Job
from tests.skips import NO_GPU

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.filterwarnings("ignore::counterbc.errors.InfeasibleActions"),
]

GpuSteps = pytest.importorskip(
    "counterbc.kernels.triton_kernel",
    reason="the GPU kernel needs Triton" if torch.cuda.is_available() else NO_GPU,
).GpuSteps
PAPER = ("bc", "weighted-bc", "bc-rnn", "bcnd", "counter-bc")


def trained(method: str, device: str, **options: Any) -> Policies:
    demos = [demonstrate("intersection", UniformNoise(0.5), 60, seed) for seed in range(3)]
    return train(demos, method, seeds=3, device=device, progress=False, **options)


def test_the_kernel_takes_the_common_case_and_torch_the_rest() -> None:
    assert isinstance(population("counter-bc").native, GpuSteps)
    assert isinstance(population("bc", hidden=(16, 32)).native, GpuSteps)
    for method, changes in (
        ("weighted-bc", {}), ("bc", {"hidden": (64,)}), ("bc", {"hidden": (64, 48)}),
        ("bc", {"hidden": (128, 64)}), ("counter-bc", {"memory": 0.0}),
    ):  # fmt: skip
        assert population(method, **changes).native is None


def test_large_batches_of_few_networks_and_many_counterfactuals_are_left_to_torch() -> None:
    few, many = (population("counter-bc", counterfactuals=m).native for m in (50, 600))
    assert few is not None
    assert many is not None
    shapes = {(1, 3, 40): True, (1, 3, 256): False, (1, 64, 256): True}
    for shape, pays in shapes.items():
        position = torch.zeros(shape, dtype=torch.int64)
        assert few.pays(position) == pays
        assert not many.pays(position)


@pytest.mark.parametrize("method", ["bc", "counter-bc"])
@pytest.mark.parametrize("batch", [10, 16, 37])
@pytest.mark.parametrize("hidden", [(64, 64), (16, 32)])
def test_fifty_steps_of_the_kernel_are_those_of_torch(
    method: str, batch: int, hidden: tuple[int, int]
) -> None:
    ours, torchs = (population(method, hidden=hidden) for _ in range(2))
    position, epoch = Batches(ours.view.nets, batch).block(0, 50)
    ours.steps(position[:20], epoch[:20])  # a block goes on where the one before ended
    ours.steps(position[20:], epoch[20:])
    for p, e in zip(position, epoch, strict=True):
        torchs.step(p, e)
    for name, value in torchs.state().items():
        torch.testing.assert_close(ours.state()[name], value, rtol=1e-5, atol=1e-5, msg=name)
    torch.testing.assert_close(ours.loss, torchs.loss, rtol=1e-5, atol=1e-5)


def population(method: str, **changes: Any) -> NetworkStack:
    settings = Settings(**changes)
    chosen = settings.apply(METHODS[method])
    demos = demonstrate("intersection", UniformNoise(0.5), 60, 0)
    job = Job([demos], "test", chosen, settings, "default", None)
    job.assign(3, None)
    view = job.view(job.datasets, torch.device("cuda"), torch.float32)
    view.fit()
    view.update_columns(None, chosen.shards)
    return NetworkStack(view, job.fresh(view, 0), settings.rate(chosen.policy))


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
