"""Native layers and Adam against torch."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import torch

from counterbc.kernels.adam import Adam

numba = pytest.importorskip("numba", reason="it compiles")
native = pytest.importorskip("counterbc.kernels.numba_chain", reason="it compiles")
WIDTHS, ROWS = (3, 5, 20, 2), 7


@numba.njit(error_model="numpy")
def both_passes(theta: Any, table: Any, x: Any, by_out: Any, grads: Any) -> Any:
    chain = native.make_chain(table, len(x))
    chain.units[: x.size] = x.ravel()
    native.forward(theta, chain, len(x))
    chain.back[chain.places[-2] :] = by_out.ravel()
    native.backward(theta, chain, len(x), grads, np.empty_like(grads), True)
    return chain.units[chain.places[-2] :], chain.back[: x.size]


def test_output_and_gradients_are_those_of_torch() -> None:
    torch.manual_seed(0)
    layers = [torch.nn.Linear(i, o) for i, o in pairwise(WIDTHS)]
    parts = [x.detach() for layer in layers for x in (layer.weight.T, layer.bias)]
    begins = np.cumsum([0, *(x.numel() for x in parts)])
    table = np.array([[*parts[2 * i].shape, *begins[2 * i : 2 * i + 2]] for i in range(3)])
    theta = torch.cat([x.flatten() for x in parts]).numpy()
    x, by_out = torch.randn(ROWS, 3, requires_grad=True), torch.randn(ROWS, 2)
    grads = np.empty_like(theta)
    out, by_x = both_passes(theta, table, x.detach().numpy(), by_out.numpy(), grads)
    by_torch = layers[2](layers[1](layers[0](x).relu()).relu())
    by_torch.backward(by_out)
    np.testing.assert_allclose(out, by_torch.detach().flatten().numpy(), rtol=1e-4, atol=1e-6)
    assert x.grad is not None
    np.testing.assert_allclose(by_x, x.grad.flatten().numpy(), rtol=1e-4, atol=1e-6)
    slopes = [p.grad for layer in layers for p in (layer.weight, layer.bias)]
    like_flat = [g.mT if g.ndim == 2 else g for g in slopes if g is not None]
    exact = torch.cat([g.flatten() for g in like_flat])
    np.testing.assert_allclose(grads, exact.numpy(), rtol=1e-4, atol=1e-6)


def test_an_update_is_that_of_adam() -> None:
    torch.manual_seed(0)
    p = torch.randn(1, 37)
    values, first, second = p[0].numpy().copy(), np.zeros(37, np.float32), np.zeros(37, np.float32)
    adam = Adam([p], 0.1)
    for step in (1, 2, 3):
        grad = torch.randn(1, 37)
        adam.step([grad])
        size, root = np.float32(0.1 / (1 - 0.9**step)), np.float32((1 - 0.999**step) ** 0.5)
        native.update(values, grad[0].numpy(), first, second, size, root)
    np.testing.assert_allclose(values, p[0].numpy(), rtol=1e-5, atol=1e-6)
