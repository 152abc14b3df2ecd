"""The CUDA kernel: on a GPU directly, and anywhere by a record of what it computed."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from counterbc.kernels import cuda_kernel
from counterbc.kernels.cuda_kernel import CudaKernel, rows_of, shared_bytes
from counterbc.kernels.step_kernel import StepCase
from counterbc.kernels.torch_kernel import TorchKernel
from counterbc.policies import GaussianGRU, GaussianMLP
from counterbc.weightings import OperatorExpertise, StateExpertise, Uniform
from tests.kernels.cuda_on_cpu import COMPILER, function_on_cpu
from tests.kernels.gpu_checks import CHECKS
from tests.kernels.record_kernels import CASES, check_record
from tests.kernels.stacks import block, demonstrations, largest_difference, stack

ITS_OWN = [check for check in CHECKS if "cuda_" in check.__name__]
CASE = StepCase(
    policy=GaussianMLP(),
    weighting=Uniform(),
    obs_size=4,
    action_size=2,
    samples=1,
    in_memory=True,
    networks=50,
    batch=40,
    device="cuda",
    dtype=torch.float32,
)


@pytest.mark.parametrize("case", CASES["cuda"])
def test_plain_torch_computes_what_cuda_computed_on_a_gpu(case: str) -> None:
    check_record("cuda", case)


@pytest.mark.gpu
@pytest.mark.parametrize("check", ITS_OWN, ids=lambda check: check.__name__)
def test_on_a_gpu(check: Callable[[], None]) -> None:
    check()


@pytest.mark.slow
@pytest.mark.skipif(COMPILER is None, reason="there is no C++ compiler")
@pytest.mark.parametrize(
    ("method", "batch", "inputs"),
    [
        ("bc", 37, 3),
        ("counter-bc", 100, 3),
        ("bcnd", 10, 5),
        ("weighted-bc", 37, 12),
        ("bc-rnn", 50, 12),
    ],
)
def test_the_sources_compute_what_torch_computes_when_a_cpu_runs_them(
    method: str, batch: int, inputs: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        cuda_kernel, "cuda_function",
        lambda *options: function_on_cpu(tmp_path, *options[:-1]),
    )  # fmt: skip
    native, plain, exact = (
        stack(
            demonstrations(inputs=inputs), method, hidden=(64, 64), batch=batch, seeds=2,
            later=True, kernel="torch", dtype=dtype,
        )
        for dtype in (torch.float32, torch.float32, torch.float64)
    )  # fmt: skip
    assert isinstance(native.kernel, TorchKernel)
    native.kernel = CudaKernel(native.kernel.case, native.kernel.tensors)
    position, epoch = block(plain, 5)
    for networks in (plain, exact):
        networks.steps(position, epoch)
    for part in (slice(0, 3), slice(3, 5)):  # a block continues the one before it
        native.steps(position[part], epoch[part])
    error, tolerance = (largest_difference(n, exact) for n in (native, plain))
    assert error < 10 * tolerance + 1e-5


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"device": "cpu"}, "it runs on cuda and this training is on cpu"),
        ({"policy": GaussianMLP(hidden=(32, 64))}, r"two layers of 64 units, not \(32, 64\)"),
        ({"policy": GaussianMLP(hidden=(64,))}, "with two hidden layers"),
        ({"weighting": StateExpertise(hidden=(64, 32))}, r"not \(64, 64, 64, 32\)"),
        ({"weighting": StateExpertise(), "batch": 65}, "in batches of up to 64"),
        ({"weighting": StateExpertise(), "policy": GaussianGRU(hidden=(64, 64))}, "beside a GRU"),
        ({"weighting": OperatorExpertise()}, "does not compute the weights of OperatorExpertise"),
        ({"action_size": 5}, "at most 64 observation dimensions, 4 action dimensions"),
        ({"obs_size": 65}, "at most 64 observation dimensions"),
    ],
)
def test_what_does_not_fit_is_refused_by_its_reason(changes: dict[str, Any], reason: str) -> None:
    message = CudaKernel.misfit(replace(CASE, **changes))
    assert message is not None
    assert re.search(reason, message), message


@pytest.mark.parametrize("batch", [1, 8, 37, 40, 41, 80, 100, 160, 256])
def test_tiles_of_rows_cover_a_batch_with_fewer_than_eight_rows_to_spare_each(batch: int) -> None:
    rows = rows_of(replace(CASE, batch=batch))
    tiles = -(-batch // rows)
    assert rows % 8 == 0
    assert rows <= 40
    assert batch <= rows * tiles < batch + 8 * tiles


def test_three_networks_of_the_paper_and_one_gru_fit_on_an_h200() -> None:
    on_chip = 228 * 1024  # of a multiprocessor; each block takes one KiB more than it asks for
    assert 3 * (shared_bytes(CASE) + 1024) <= on_chip
    for case in (
        replace(CASE, weighting=StateExpertise()),
        replace(CASE, policy=GaussianGRU(hidden=(64, 64))),
    ):
        assert shared_bytes(case) + 1024 <= on_chip
