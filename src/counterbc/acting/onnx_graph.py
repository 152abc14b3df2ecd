"""ONNX graphs that record the operations of a forward pass."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from counterbc.acting.ops import NORM_EPSILON, Value

_ROOT_2 = math.sqrt(2)


class GraphValue:
    """A value of the graph; arithmetic with it adds nodes."""

    __array_ufunc__ = None  # numpy leaves `array + value` to us

    def __init__(self, graph: Graph, name: str) -> None:
        self.graph, self.name = graph, name

    def __add__(self, operand: Value) -> GraphValue:
        return self.graph.node("Add", self, operand)

    def __sub__(self, operand: Value) -> GraphValue:
        return self.graph.node("Sub", self, operand)

    def __rsub__(self, operand: Value) -> GraphValue:
        return self.graph.node("Sub", operand, self)

    def __mul__(self, operand: Value) -> GraphValue:
        return self.graph.node("Mul", self, operand)

    def __truediv__(self, operand: Value) -> GraphValue:
        return self.graph.node("Div", self, operand)

    def __gt__(self, operand: Value) -> GraphValue:
        return self.graph.node("Greater", self, operand)

    def __matmul__(self, operand: Value) -> GraphValue:
        return self.graph.node("MatMul", self, operand)


class Graph:
    """A graph that records the operations of `Forward`; implements `Ops`."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.array_names: dict[int, str] = {}
        """Names of arrays by their id."""
        self._constants: dict[int, tuple[str, Any]] = {}
        self._ones: dict[int, NDArray[np.float32]] = {}

    def node(self, op: str, *inputs: Value, **attributes: Any) -> GraphValue:
        from onnx import helper

        name = f"{op.lower()}_{len(self.nodes)}"
        names = [self._name(x) for x in inputs]
        self.nodes.append(helper.make_node(op, names, [name], name=name, **attributes))
        return GraphValue(self, name)

    def _name(self, x: Value) -> str:
        if isinstance(x, GraphValue):
            return x.name
        if id(x) not in self._constants:  # kept, so that the id stays this array's
            name = self.array_names.get(id(x), f"constant_{len(self._constants)}")
            self._constants[id(x)] = name, x
        return self._constants[id(x)][0]

    def initializers(self) -> list[Any]:
        from onnx import numpy_helper

        return [
            numpy_helper.from_array(x if isinstance(x, np.ndarray) else np.array(x, "f4"), name)
            for name, x in self._constants.values()
        ]

    def relu(self, x: Value) -> Value:
        return self.node("Relu", x)

    def tanh(self, x: Value) -> Value:
        return self.node("Tanh", x)

    def sigmoid(self, x: Value) -> Value:
        return self.node("Sigmoid", x)

    def exp(self, x: Value) -> Value:
        return self.node("Exp", x)

    def sin(self, x: Value) -> Value:
        return self.node("Sin", x)

    def cos(self, x: Value) -> Value:
        return self.node("Cos", x)

    def gelu(self, x: Value) -> Value:
        return x * (self.node("Erf", x / _ROOT_2) + 1.0) * 0.5

    def layer_norm(self, x: Value, width: int) -> Value:
        scale = self._ones.setdefault(width, np.ones(width, np.float32))
        return self.node("LayerNormalization", x, scale, axis=-1, epsilon=NORM_EPSILON)

    def clip(self, x: Value, low: float, high: float) -> Value:
        return self.node("Clip", x, low, high)

    def length(self, x: Value) -> Value:
        return self.node("ReduceL2", x, axes=[-1])

    def columns(self, x: Value, begin: int, end: int) -> Value:
        return self.node("Slice", x, _ints(begin), _ints(end), _ints(-1))

    def pick(self, x: Value, index: NDArray[np.int64]) -> Value:
        return self.node("Gather", x, index, axis=-1)

    def join(self, *rows: Value) -> Value:
        return self.node("Concat", *rows, axis=-1)

    def where(self, condition: Value, x: Value, y: Value) -> Value:
        return self.node("Where", condition, x, y)

    def average(self, x: Value, shards: int) -> Value:
        return self.node("ReduceMean", x, axes=[0], keepdims=0)

    def shards_first(self, x: Value) -> Value:
        return self.node("Transpose", x, perm=[1, 0, 2])

    def push(self, window: Value, scaled_obs: Value) -> Value:
        recent = self.node("Slice", window, _ints(1), _ints(1 << 30), _ints(1))
        return self.node("Concat", recent, self.node("Unsqueeze", scaled_obs, _ints(1)), axis=1)

    def at(self, window: Value, t: int) -> Value:
        return self.node("Gather", window, np.array(t), axis=1)

    def flat(self, window: Value) -> Value:
        return self.node("Flatten", window)

    def steps(self, x: Value, count: int) -> Value:
        return self.node("Reshape", x, _ints(0, count, -1))

    def first(self, x: Value, count: int) -> Value:
        return self.node("Slice", x, _ints(0), _ints(count), _ints(1))

    def channels(self, x: Value, frames: int, image: tuple[int, int, int]) -> Value:
        from onnx import TensorProto

        height, width, channels = image
        x = self.node(
            "Cast", self.node("Reshape", x, _ints(0, frames, *image)), to=TensorProto.FLOAT
        )
        x = self.node("Transpose", x, perm=[0, 2, 3, 1, 4])
        return self.node("Reshape", x, _ints(0, height, width, frames * channels))

    def convolve(
        self, x: Value, weight: NDArray[np.float32], bias: Value, side: int, stride: int
    ) -> Value:
        kernel = weight.reshape(side, side, -1, weight.shape[1]).transpose(3, 2, 0, 1)
        x = self.node("Transpose", x, perm=[0, 3, 1, 2])
        x = self.node("Conv", x, np.ascontiguousarray(kernel), bias, strides=[stride, stride])
        return self.node("Transpose", x, perm=[0, 2, 3, 1])

    def pool(self, x: Value, rows: NDArray[np.float32], columns: NDArray[np.float32]) -> Value:
        x = self.node("MatMul", rows, self.node("Reshape", x, _ints(0, rows.shape[1], -1)))
        x = self.node("Reshape", x, _ints(0, len(rows), columns.shape[1], -1))
        return self.node("MatMul", columns, x)

    def stack(self, values: Sequence[Value]) -> Value:
        rows = [self.node("Unsqueeze", value, _ints(0)) for value in values]
        return self.node("Concat", *rows, axis=0)


def _ints(*numbers: int) -> NDArray[np.int64]:
    return np.array(numbers, np.int64)
