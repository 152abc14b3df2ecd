"""Operations that a graph records: the values that numpy computes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import onnxruntime
import pytest
from onnx import TensorProto, helper

from counterbc.acting.onnx import IR_VERSION, OPSET
from counterbc.acting.onnx_graph import Graph, GraphValue
from counterbc.acting.ops import Numpy

X = np.random.default_rng(0).normal(0, 3, (5, 8)).astype(np.float32)
WINDOW = X.reshape(5, 4, 2)
FRAMES = X.reshape(1, 5, 4, 2)
KERNEL = X.flatten()[:24].reshape(8, 3)
CASES: dict[str, tuple[Callable[[Any, Any], Any], Any]] = {
    "arithmetic": (lambda ops, x: X[0] - (x * 2 + x / 3) - x @ (X.T @ X), X),
    "activations": (lambda ops, x: ops.relu(x) + ops.tanh(x) + ops.sigmoid(x), X),
    "exp and clip": (lambda ops, x: ops.clip(ops.exp(x), 0.1, 5), X),
    "gelu": (lambda ops, x: ops.gelu(x), X),
    "layer norms": (lambda ops, x: ops.layer_norm(ops.layer_norm(x, 8) * x, 8), X),
    "angles": (lambda ops, x: ops.join(ops.cos(x), ops.sin(x)), X),
    "large angles": (lambda ops, x: ops.join(ops.cos(x), ops.sin(x)), 1e5 * X),
    "columns": (lambda ops, x: ops.pick(ops.columns(x, 2, 7), np.array([4, 0])), X),
    "where": (lambda ops, x: ops.where(x > ops.columns(x, 0, 1), x, 7.0), X),
    "length": (lambda ops, x: ops.length(x), X),
    "steps": (lambda ops, x: ops.first(ops.steps(x, 4), 3), X),
    "window": (lambda ops, x: ops.flat(ops.push(x, ops.at(x, 1))), WINDOW),
    "shards": (lambda ops, x: ops.average(ops.shards_first(x), 4), WINDOW),
    "stack": (lambda ops, x: ops.stack([x, x * 2]), X),
    "frames": (lambda ops, x: ops.channels(x, 2, (2, 2, 1)), X),
    "convolution": (lambda ops, x: ops.convolve(x, KERNEL, X[0, :3], 2, 1), FRAMES),
    "pooling": (lambda ops, x: ops.pool(x, X[:2, :5], X[:3, :4]), FRAMES),
}


@pytest.mark.parametrize("name", CASES)
def test_a_graph_computes_what_numpy_does(name: str) -> None:
    function, x = CASES[name]
    x = x.astype(np.float32)
    graph = Graph()
    result = function(graph, GraphValue(graph, "x"))
    graph_input = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", *x.shape[1:]])
    output = helper.make_tensor_value_info(result.name, TensorProto.FLOAT, None)
    body = helper.make_graph(graph.nodes, "test", [graph_input], [output], graph.initializers())
    opsets = [helper.make_opsetid("", OPSET)]
    model = helper.make_model(body, opset_imports=opsets, ir_version=IR_VERSION)
    session = onnxruntime.InferenceSession(model.SerializeToString())
    (values,) = session.run(None, {"x": x})
    assert values == pytest.approx(function(Numpy(), x), rel=1e-5, abs=2e-6)


def test_an_array_that_is_used_twice_is_stored_once() -> None:
    graph = Graph()
    graph.array_names[id(X)] = "weights"
    x = GraphValue(graph, "x")
    _ = (x + X) * X
    assert [tensor.name for tensor in graph.initializers()] == ["weights"]
