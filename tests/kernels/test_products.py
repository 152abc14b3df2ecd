"""How matrices are multiplied on a GPU: torch's switch, and who may ask for it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from counterbc import train
from counterbc.errors import FormatError, OptionError
from counterbc.kernels.dispatch import choose_kernel
from counterbc.kernels.products import PRODUCTS, check_products, multiplying
from counterbc.settings import Settings
from tests.kernels.stacks import demonstrations
from tests.kernels.test_cuda_kernel import CASE


@pytest.mark.parametrize("products", PRODUCTS)
def test_torch_is_set_within_the_context_and_as_before_after_it(products: str) -> None:
    before = torch.backends.cuda.matmul.fp32_precision
    with multiplying(products):
        assert torch.backends.cuda.matmul.allow_tf32 == (products == "tf32")
    assert torch.backends.cuda.matmul.fp32_precision == before


def test_float32_stays_float32_where_a_program_lets_torch_use_tf32() -> None:
    with multiplying("tf32"):
        with multiplying("float32"):
            assert not torch.backends.cuda.matmul.allow_tf32
        assert torch.backends.cuda.matmul.allow_tf32


@pytest.mark.parametrize("products", PRODUCTS)
@pytest.mark.parametrize("precision", ["medium", "high"])
def test_a_precision_that_a_program_chose_by_name_stays(precision: str, products: str) -> None:
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision(precision)
    try:
        with multiplying(products):
            pass
        assert torch.get_float32_matmul_precision() == precision
    finally:
        torch.set_float32_matmul_precision(before)


def test_torch_is_set_as_before_after_an_error() -> None:
    before = torch.backends.cuda.matmul.fp32_precision
    with pytest.raises(KeyError), multiplying("tf32"):
        raise KeyError
    assert torch.backends.cuda.matmul.fp32_precision == before


def test_a_cpu_refuses_tf32_and_says_what_to_do() -> None:
    text = "products is 'tf32', but this training is of float32 on cpu; only GPUs .* leave products"
    with pytest.raises(OptionError, match=text):
        train(demonstrations(), "bc", products="tf32", device="cpu", steps=1, progress=False)
    with pytest.raises(OptionError, match=text):
        choose_kernel("auto", replace(CASE, products="tf32", device="cpu"))


def test_float64_is_not_rounded_to_tf32() -> None:
    with pytest.raises(OptionError, match="of float64 on cuda"):
        check_products("tf32", "cuda", torch.float64)
    check_products("float32", "cuda", torch.float64)
    check_products("tf32", "cuda", torch.float32)


def test_the_default_is_float32_and_recorded_with_every_training() -> None:
    assert Settings().products == "float32"
    options: dict[str, Any] = {"radius": 0.4, "steps": 2, "device": "cpu", "progress": False}
    policies = train(demonstrations(), "bc", hidden=(8, 8), **options)
    assert policies.run_config.settings["products"] == "float32"


def test_other_products_are_refused_by_name() -> None:
    with pytest.raises(OptionError, match=r"products is 'bf16'; .*float32.*tf32"):
        Settings(products="bf16")


def test_a_resumed_run_keeps_its_products(tmp_path: Path) -> None:
    options: dict[str, Any] = {"radius": 0.4, "lag": 0.0, "offsets": "none", "ensemble": 1}
    options |= {"hidden": (8, 8), "device": "cpu", "progress": False, "out": tmp_path / "run"}
    train(demonstrations(), "bc", steps=2, **options)
    path = tmp_path / "run" / "config.json"
    path.write_text(path.read_text().replace('"products": "float32"', '"products": "tf32"'))
    with pytest.raises(FormatError, match=r"started differently: .*products"):
        train(demonstrations(), "bc", steps=4, resume=True, **options)
