"""The Triton kernel: on a GPU directly, and anywhere by a record of what it computed."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.kernels.gpu_checks import CHECKS
from tests.kernels.record_kernels import CASES, check_record

KERNEL_CHECKS = [
    check for check in CHECKS if "float64" not in check.__name__ and "cuda_" not in check.__name__
]
"""The rest are tests of the modules that they are about."""


@pytest.mark.parametrize("case", CASES["triton"])
def test_plain_torch_computes_what_triton_computed_on_a_gpu(case: str) -> None:
    check_record("triton", case)


@pytest.mark.gpu
@pytest.mark.parametrize("check", KERNEL_CHECKS, ids=lambda check: check.__name__)
def test_on_a_gpu(check: Callable[[], None]) -> None:
    check()
