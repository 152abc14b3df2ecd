"""export(): one member as one ONNX file that needs neither counterbc nor torch."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from counterbc.acting.act import ACTS, AVERAGING, Act
from counterbc.acting.encoder import Parts
from counterbc.acting.forward import Forward, decides_by_chunk, fits
from counterbc.acting.networks import NETWORKS
from counterbc.acting.onnx_graph import Graph, GraphValue
from counterbc.acting.ops import Value
from counterbc.acting.parity import Parity, check_parity
from counterbc.acting.policies import Policies
from counterbc.acting.run_config import RunConfig
from counterbc.data.version import __version__
from counterbc.errors import FormatError, MissingExtra, OptionError, unknown
from counterbc.files import aside, check_free
from counterbc.policies import Flow

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
    _check_policy(policies, act)
    if policies[member].diverged[0]:
        raise OptionError(
            f"member {member} diverged, its parameters are not finite; choose another, or train "
            "again with a smaller learning rate"
        )
    return policies[member]


def _check_policy(policies: Policies, act: str) -> None:
    """Refuse a policy that has no form without torch."""
    policy, name = policies.policy, type(policies.policy).__name__
    if not fits(policy):
        raise OptionError(
            f"a {name} cannot be exported, only {', '.join(k.__name__ for k in NETWORKS)}; "
            "act with policies[0].actor()"
        )
    if act == "sample" and not NETWORKS[type(policy)].samples:
        raise OptionError(
            f"samples of a {name} cannot be exported; export its deterministic action, act=mean"
        )
    is_zero_filled = decides_by_chunk(policy) and not policy.repeats_first
    if is_zero_filled and policy.history > 1 and policies.scales.angles:
        raise OptionError(
            f"a {name} with a history that reads angles cannot be exported if it predicts several "
            "actions: no angle stands for a missing observation; choose the policy chunk or flow, "
            "or a history of 1"
        )


def to_onnx(policies: Policies, act: Act) -> ModelProto:
    """Return `Forward` as a model.

    Policies that predict one action: obs (window, noise) in, action (window) out. Those that
    predict chunks: obs of a whole window (noise) in, actions out.
    """
    from onnx import helper

    graph, is_chunk = Graph(), decides_by_chunk(policies.policy)
    inputs, outputs = (_chunk_interface if is_chunk else _step_interface)(policies, act)
    values = {i.name: GraphValue(graph, i.name) for i in inputs}
    forward = Forward(policies, graph, act)
    graph.array_names = {id(array): name for name, array in forward.network.weights.items()}
    results: tuple[Value, ...]
    if is_chunk:
        images = tuple(values[name] for name in policies.observed.camera_inputs)
        vector = values["obs"] if policies.policy.reads_vector else None
        results = (forward.chunk(Parts(images, vector), values.get("noise")),)
    else:
        results = forward.step(values["obs"], values.get("window"), values.get("noise"))
    for result, output in zip(results, outputs, strict=False):  # no window without history
        graph.nodes.append(helper.make_node("Identity", [result.name], [output.name]))
    body = helper.make_graph(graph.nodes, "policy", inputs, outputs, graph.initializers())
    model = helper.make_model(
        body, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION,
        producer_name="counterbc", producer_version=__version__,
    )  # fmt: skip
    helper.set_model_props(model, metadata(policies, act))
    return model


def _declare(name: str, *shape: int, bytes_: bool = False) -> Any:
    from onnx import TensorProto, helper

    kind = TensorProto.UINT8 if bytes_ else TensorProto.FLOAT
    return helper.make_tensor_value_info(name, kind, ["batch", *shape])


def _step_interface(p: Policies, act: Act) -> tuple[list[Any], list[Any]]:
    is_image = len(p.obs_shape) > 1
    inputs = [_declare("obs", *p.obs_shape, bytes_=is_image)]
    outputs = [_declare("action", p.action_size)]
    if p.policy.history > 1:
        window = p.policy.history, *(p.obs_shape if is_image else (p.scales.inputs,))
        inputs.append(_declare("window", *window, bytes_=is_image))
        outputs.append(_declare("next_window", *window, bytes_=is_image))
    return inputs + _noise(p, act), outputs


def _chunk_interface(p: Policies, act: Act) -> tuple[list[Any], list[Any]]:
    history, observed = p.policy.history, p.observed
    inputs = [
        _declare(name, history, *shape, bytes_=True)
        for name, shape in zip(observed.camera_inputs, observed.images, strict=True)
    ]
    if p.policy.reads_vector:
        inputs.append(_declare("obs", history, observed.size))
    count = p.policy.horizon if p.policy.average_chunks else p.policy.execute
    return inputs + _noise(p, act), [_declare("actions", count, p.action_size)]


def _noise(p: Policies, act: Act) -> list[Any]:
    """Return the input of noise, if the policy needs one."""
    size = p.policy.act_numbers(p.policy.horizon * p.action_size, act == "sample")
    return [_declare("noise", *((p.shards,) if p.shards > 1 else ()), size)] if size else []


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
        "lag": list(member.lag),
        "env": config.env or "",
        "data": member.fingerprint,
        "counterbc": __version__,
    }
    if (rate := _rate(config)) is not None:
        facts["rate"] = rate
    if decides_by_chunk(p.policy):
        facts |= _chunk_facts(p, act)
    elif p.policy.history > 1:
        facts["window"] = "zeros when an episode starts, then next_window of the step before"
    if p.policy.images:
        facts["cameras"] = list(p.observed.camera_inputs)
        facts["pixels"] = "bytes, 0 to 255: height, width, channels"
    if act == "sample" and p.policy.has_density:
        facts["noise"] = "independent standard normal numbers, new at every step"
    names = facts["obs_names"]
    if scales.relative:
        pairs = zip(facts["action_names"], scales.relative, strict=True)
        origins = [f"{action} to {names[i]}" for action, i in pairs if i >= 0]
        facts["relative"] = f"predicted relative to the last obs, and added: {', '.join(origins)}"
    if scales.angles:
        angles = ", ".join(names[i] for i in scales.angles)
        facts["angles"] = f"read in radians, as cosine and sine: {angles}"
    return {k: v if isinstance(v, str) else json.dumps(v) for k, v in facts.items()}


def _rate(config: RunConfig) -> float | None:
    """Return the demonstrations' pairs per second, or else the rate of their world, if known."""
    from counterbc.envs.registry import WORLDS, find_id

    if config.rate is not None or config.env is None:
        return config.rate
    return {world.id: world.rate for world in WORLDS.values()}.get(find_id(config.env))


def _chunk_facts(p: Policies, act: Act) -> dict[str, Any]:
    """Return how to call a file that predicts several actions."""
    policy = p.policy
    facts: dict[str, Any] = {"horizon": policy.horizon, "execute": policy.execute}
    black = " and black images" if policy.images and policy.reads_vector else ""
    first = "repeat its first one" if policy.repeats_first else f"fill with obs_before_start{black}"
    facts["obs"] = f"the last {policy.history} observations, oldest first" + (
        f"; before an episode has that many, {first}" if policy.history > 1 else ""
    )
    if not policy.repeats_first:
        facts["obs_before_start"] = p.scales.obs_mean[0].tolist() if policy.reads_vector else 0
    facts["actions"] = (
        f"the next {policy.horizon} actions; call at every step, and average what the last "
        f"{policy.horizon} calls say about it, with weights exp(-{AVERAGING} i), i = 0 for the "
        "oldest call"
        if policy.average_chunks
        else f"execute these {policy.execute} actions in order, one per step, then call again"
    )
    if isinstance(policy, Flow):
        temperature = 1.0 if act == "sample" else policy.temperature
        facts |= {"temperature": temperature, "euler": policy.euler}
        if temperature:
            facts["noise"] = (
                "independent standard normal numbers, new at every call; the file multiplies "
                "them by the temperature"
            )
    return facts
