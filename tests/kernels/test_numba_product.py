"""Products of small matrices against numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

numba = pytest.importorskip("numba", reason="it compiles")
native = pytest.importorskip("counterbc.kernels.numba_product", reason="it compiles")
Matrix = native.Matrix


@numba.njit(error_model="numpy")
def every_end(a: Any, b: Any, d: Any, out: Any, sizes: Any) -> None:
    m, n, depth = sizes
    x, y = Matrix(a, 0, depth, 1), Matrix(b, 0, n, 1)
    row, whole = Matrix(d, 0, 0, 1), Matrix(d, 0, n, 1)
    native.multiply(x, y, Matrix(out, 0, n, 1), row, sizes)
    native.add_bias(x, y, Matrix(out, m * n, n, 1), row, sizes)
    native.add_bias_relu(x, y, Matrix(out, 2 * m * n, n, 1), row, sizes)
    native.add_matrix(x, y, Matrix(out, 3 * m * n, n, 1), whole, sizes)
    native.mask_by(x, y, Matrix(out, 4 * m * n, n, 1), whole, sizes)


@numba.njit(error_model="numpy")
def transpose_of(a: Any, b: Any, out: Any, sizes: Any) -> None:
    m, n, _ = sizes
    native.multiply(
        Matrix(a, 0, 1, m), Matrix(b, 0, n, 1), Matrix(out, 0, n, 1), Matrix(b, 0, 0, 1), sizes
    )


def numbers(seed: int, *shape: int) -> Any:
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


SIZES = [(1, 1, 1), (5, 3, 7), (40, 64, 64), (13, 100, 5), (9, 130, 2), (64, 4, 40)]


@pytest.mark.parametrize("sizes", SIZES)
def test_products_with_every_end_are_those_of_numpy(sizes: tuple[int, int, int]) -> None:
    m, n, depth = sizes
    a, b, d = numbers(0, m, depth), numbers(1, depth, n), numbers(2, m, n)
    out = np.full((6, m, n), 7, np.float32)
    every_end(a.ravel(), b.ravel(), d.ravel(), out.ravel(), sizes)
    c = a.astype(float) @ b
    with_bias = c + d[0]
    by_numpy = [c, with_bias, with_bias * (with_bias > 0), c + d, c * (d > 0), np.full((m, n), 7)]
    np.testing.assert_allclose(out, np.stack(by_numpy), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("sizes", SIZES)
def test_the_first_matrix_may_be_transposed(sizes: tuple[int, int, int]) -> None:
    m, n, depth = sizes
    a, b, out = numbers(0, depth, m), numbers(1, depth, n), np.empty((m, n), np.float32)
    transpose_of(a.ravel(), b.ravel(), out.ravel(), sizes)
    np.testing.assert_allclose(out, a.T.astype(float) @ b, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("shape", [(1, 1), (16, 16), (64, 48), (37, 50)])
def test_a_transpose_is_that_of_numpy(shape: tuple[int, int]) -> None:
    a, out = numbers(0, *shape), np.empty(shape[0] * shape[1], np.float32)
    native.transpose(a.ravel(), 0, shape[0], shape[1], out)
    assert (out.reshape(shape[::-1]) == a.T).all()


def test_nan_stays_where_relu_is_applied() -> None:
    out = np.empty(5, np.float32)
    nan = np.full(1, np.nan, np.float32)
    every_end(nan, nan, nan, out, (1, 1, 1))
    assert np.isnan(out).all()
