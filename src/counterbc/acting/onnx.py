"""export(): one member as one ONNX file that needs neither counterbc nor torch."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from counterbc.acting.act import ACTS, Act
from counterbc.acting.forward import BODIES, Forward, Value, fits
from counterbc.acting.parity import Parity, check_parity
from counterbc.acting.policies import Policies
from counterbc.data.version import __version__
from counterbc.errors import FormatError, MissingExtra, OptionError, unknown
from counterbc.files import aside, check_free

if TYPE_CHECKING:
    from onnx import ModelProto

OPSET, IR_VERSION = 17, 8  # old enough for the runtimes that robots carry


def export(policies: Policies, path: str | Path, member: int = 0, act: Act = "mean") -> Parity:
    """Write one member to an .onnx file, with scales and feasible set, and check it."""
    path = Path(path)
    single = _exportable(policies, path, member, act)
    try:
        import onnx
        import onnxruntime  # noqa: F401  # checked before any work
    except ImportError as error:
        raise MissingExtra(error.name or "onnx", "export", "exporting policies") from None
    model = to_onnx(single, act)
    onnx.checker.check_model(model, full_check=True)
    with aside(path) as temporary:
        temporary.write_bytes(model.SerializeToString())
        parity = check_parity(temporary, single, act)
        if not parity.agrees:
            raise FormatError(
                f"{path} was not written, because it would not act as the policy does: on "
                f"{parity.inputs} inputs actions differ by up to {parity.difference:.2g}, "
                f"{parity.undecided} could not be compared; "
                "install the onnx and onnxruntime that constraints.txt names"
            )
    return parity


def _exportable(policies: Policies, path: Path, member: int, act: str) -> Policies:
    """Return the member to export, or raise the reason why it cannot be."""
    check_free(path)
    if path.suffix.lower() != ".onnx":
        raise FormatError(f"{path} ends in {path.suffix!r}; name the file .onnx")
    if act not in ACTS:
        raise unknown("way of acting", act, ACTS)
    if not 0 <= member < len(policies):
        raise OptionError(f"member {member} does not exist; there are 0 … {len(policies) - 1}")
    if not fits(policies.policy, policies.scales):
        raise OptionError(
            f"a {type(policies.policy).__name__} cannot be exported, only policies that read "
            f"vectors: {', '.join(kind.__name__ for kind in BODIES)}; act with policies[0].actor()"
        )
    if policies[member].diverged[0]:
        raise OptionError(
            f"member {member} diverged, its parameters are not finite; choose another, or train "
            "again with a smaller learning rate"
        )
    return policies[member]


def to_onnx(policies: Policies, act: Act) -> ModelProto:
    """Return the step of `Forward` as a model: obs (window, noise) in, action (window) out."""
    from onnx import TensorProto, helper

    def declare(name: str, *shape: int) -> Any:
        return helper.make_tensor_value_info(name, TensorProto.FLOAT, ["batch", *shape])

    p, history = policies, policies.policy.history
    inputs, outputs = [declare("obs", p.obs_size)], [declare("action", p.action_size)]
    if history > 1:
        inputs.append(declare("window", history, p.obs_size))
        outputs.append(declare("next_window", history, p.obs_size))
    if act == "sample":
        inputs.append(declare("noise", *((p.shards,) if p.shards > 1 else ()), p.action_size))
    graph = Graph()
    graph_inputs = {i.name: GraphValue(graph, i.name) for i in inputs}
    forward = Forward(policies, graph)
    graph.array_names = {id(array): name for name, array in forward.weights.items()}
    results = forward.step(
        graph_inputs["obs"], graph_inputs.get("window"), graph_inputs.get("noise")
    )
    for result, output in zip(results, outputs, strict=False):  # no window without history
        graph.nodes.append(helper.make_node("Identity", [result.name], [output.name]))
    body = helper.make_graph(graph.nodes, "policy", inputs, outputs, graph.initializers())
    model = helper.make_model(
        body, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION,
        producer_name="counterbc", producer_version=__version__,
    )  # fmt: skip
    helper.set_model_props(model, metadata(policies, act))
    return model


def _numbered(name: str, shape: tuple[int, ...]) -> list[str]:
    """Return names of the numbers of a vector; those of an image have none."""
    return [f"{name}[{i}]" for i in range(shape[0])] if len(shape) == 1 else []


def metadata(policies: Policies, act: Act) -> dict[str, str]:
    """Return facts about the policy for users of the file, as text or JSON."""
    p, (member,), scales = policies, policies.members, policies.scales
    config = p.run_config
    facts: dict[str, Any] = {
        "obs_names": list(config.obs_names) or _numbered("obs", p.obs_shape),
        "action_names": list(config.action_names) or _numbered("action", (p.action_size,)),
        "action_low": scales.action_low[0].tolist(),
        "action_high": scales.action_high[0].tolist(),
        "action_set": scales.action_set,
        "bounds_from": scales.bounds_from,
        "act": act,
        "history": p.policy.history,
        "parts": p.shards,
        "method": p.method,
        "policy": f"{type(p.policy).__name__}{p.policy.hidden}",
        "seed": member.seed,
        "radius": "not used" if config.radius_from == "not used" else list(member.radius),
        "env": config.env or "",
        "data": member.fingerprint,
        "counterbc": __version__,
    }
    if p.policy.history > 1:
        facts["window"] = "zeros when an episode starts, then next_window of the step before"
    if act == "sample":
        facts["noise"] = "independent standard normal numbers, new at every step"
    return {k: v if isinstance(v, str) else json.dumps(v) for k, v in facts.items()}


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

    def __matmul__(self, operand: Value) -> GraphValue:
        return self.graph.node("MatMul", self, operand)


class Graph:
    """A graph that records the operations of `Forward`; implements `Ops`."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.array_names: dict[int, str] = {}
        """Names of arrays by their id."""
        self._constants: dict[int, tuple[str, Any]] = {}

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

    def clip(self, x: Value, low: float, high: float) -> Value:
        return self.node("Clip", x, low, high)

    def length(self, x: Value) -> Value:
        return self.node("ReduceL2", x, axes=[-1])

    def columns(self, x: Value, begin: int, end: int) -> Value:
        return self.node("Slice", x, _ints(begin), _ints(end), _ints(-1))

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


def _ints(*numbers: int) -> NDArray[np.int64]:
    return np.array(numbers, np.int64)
