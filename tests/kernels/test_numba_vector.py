"""Vectors of numba against numpy."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import numpy as np
import pytest

numba = pytest.importorskip("numba", reason="it compiles")
native = pytest.importorskip("counterbc.kernels.numba_vector", reason="it compiles")
LANES = native.LANES


@numba.njit(error_model="numpy")
def functions(x: Any, out: Any) -> None:
    count = len(x)
    for i in range(0, count, LANES):
        value = native.load(x, i, count - i)
        native.store(out[0], i, count - i, native.exp(value))
        native.store(out[1], i, count - i, native.tanh(value))
        native.store(out[2], i, count - i, native.sigmoid(value))


@numba.njit(error_model="numpy")
def reductions(x: Any, count: int) -> Any:
    value = native.load(x, 0, count)
    low = native.keep_first(value, count, native.splat(np.float32(-9)))
    return native.total(value), native.largest(low)


@numba.njit(error_model="numpy")
def copies(x: Any, begin: int, out: Any, begin_out: int, count: int) -> None:
    native.copy(x, begin, out, begin_out, count)


def test_functions_are_those_of_numpy_and_nan_stays() -> None:
    x = np.linspace(-80, 80, 1003).astype(np.float32)
    x[7] = np.nan
    out = np.empty((3, len(x)), np.float32)
    functions(x, out)
    exact = x.astype(float)
    np.testing.assert_allclose(out[0], np.exp(exact), rtol=1e-5)  # 4e-6 without FMA
    np.testing.assert_allclose(out[1], np.tanh(exact), rtol=0, atol=2e-7)
    np.testing.assert_allclose(out[2], 1 / (1 + np.exp(-exact)), rtol=1e-5)
    assert np.isnan(out[:, 7]).all()


@pytest.mark.parametrize("count", [1, LANES - 1, LANES, LANES + 3])
def test_lanes_beyond_the_count_are_not_written(count: int) -> None:
    out = np.full((3, 3 * LANES), 7, np.float32)
    functions(np.zeros(count, np.float32), out)
    assert (out[0, :count] == 1).all()
    assert (out[:, count:] == 7).all()


def test_reductions_read_the_lanes_below_the_count() -> None:
    x = -np.arange(1, LANES + 1, dtype=np.float32)
    assert reductions(x, 3) == (-6, -1)


@pytest.mark.parametrize("count", [0, 1, LANES, 2 * LANES + 3])
def test_a_copy_writes_its_numbers_and_no_others(count: int) -> None:
    x, out = np.arange(4 * LANES, dtype=np.float32), np.full(4 * LANES, 7, np.float32)
    copies(x, 2, out, 3, count)
    target = np.full(4 * LANES, 7, np.float32)
    target[3 : 3 + count] = x[2 : 2 + count]
    np.testing.assert_array_equal(out, target)


def test_no_native_code_copies_by_slices() -> None:
    """numba compiles the sentence of an error for shapes that differ: strings, for seconds."""
    copying = []
    for file in sorted(Path(native.__file__).parent.glob("numba_*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Assign) and all(map(_is_slice, [*node.targets, node.value])):
                copying.append(f"{file.name}:{node.lineno}")
    assert copying == []


def _is_slice(node: ast.expr) -> bool:
    return isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice)
