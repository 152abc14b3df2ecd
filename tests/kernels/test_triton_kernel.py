"""The Triton kernel: on a GPU directly, and anywhere by a record of what it computed."""

from __future__ import annotations

import json
from collections.abc import Callable

import numpy as np
import pytest

from tests.kernels.gpu_checks import CHECKS
from tests.kernels.record_triton import CASES, RECORD, STEPS, results

SHARE = 1e-4  # of a tensor's largest number; float32 sums in another order differ by about 1e-6


@pytest.mark.skipif(
    not RECORD.exists(), reason=f"{RECORD.name} is not recorded yet: see record_triton.py"
)
@pytest.mark.parametrize("case", CASES)
def test_plain_torch_computes_what_triton_computed_on_a_gpu(case: str) -> None:
    with np.load(RECORD) as record:
        about = json.loads(str(record["about"]))
        assert about["cases"] == json.loads(json.dumps(CASES)), "record it again"
        assert about["steps"] == STEPS
        arrays = results(case, "torch", "cpu")
        assert set(arrays) == {name for name in record if name.startswith(f"{case}/")}
        for name, value in arrays.items():
            scale = np.abs(value).max()
            np.testing.assert_allclose(
                record[name], value, rtol=0, atol=SHARE * scale, err_msg=name
            )


@pytest.mark.gpu
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_on_a_gpu(check: Callable[[], None]) -> None:
    check()
