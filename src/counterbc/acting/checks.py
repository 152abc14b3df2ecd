"""Checks of a run folder's content, which may be damaged or come from anybody.

They raise a `ValueError`; the loader adds the folder's name. Nothing is allocated by what a
configuration claims: layers are compared with the tensors in the file first.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from counterbc.acting.run_config import RunConfig
from counterbc.data.scaling import TENSORS, Scaling
from counterbc.errors import FormatError, unknown
from counterbc.policies import POLICIES, Params, Policy

MAX_HISTORY = 1000
"""Observations that a policy from a file may read; each environment keeps that many in memory."""
_OLD_FIELDS = {"averages": "average_chunks"}
"""Names that fields of a policy had in runs of earlier development versions."""
_RANKS_COUNTERFACTUALS = ("counter-bc", "posterior")
"""Methods that are BC where C(s, a) holds the demonstrated action alone."""
_FACTORIES = (torch.rand, torch.zeros, torch.full, torch.linspace, torch.randperm)
Shapes = dict[str, tuple[int, ...]]
_SLACK = 8  # numbers created for each one that is stored


def read_seed(value: Any) -> int:
    """Return a seed, which must fit in 64 bits."""
    if not -(2**63) <= (seed := int(value)) < 2**63:
        raise ValueError("a seed has more than 64 bits")
    return seed


def read_policy(spec: dict[str, Any], params: Params) -> Policy:
    """Return the policy that a configuration describes."""
    fields: dict[str, Any] = {
        _OLD_FIELDS.get(k, k): tuple(v) if isinstance(v, list) else v for k, v in spec.items()
    }
    kind = fields.pop("kind")
    if not isinstance(kind, str) or kind not in POLICIES:
        raise unknown("policy", kind, POLICIES)
    stored = sum(v.numel() for v in params.values())
    kinds = {f.name: f.type for f in dataclasses.fields(POLICIES[kind])}
    for name, value in fields.items():
        if kinds.get(name) in ("bool", "float"):
            if type(value).__name__ != kinds[name]:
                raise ValueError(f"{name} of the policy is {value!r:.60}")
            continue
        for number in value if isinstance(value, tuple) else (value,):
            if not isinstance(number, int) or isinstance(number, bool):
                raise ValueError(f"{name} of the policy is {value!r:.60}")
            if name != "history" and number > stored:
                raise ValueError("the parameters do not fit the policy")
    policy = POLICIES[kind](**fields)
    if len(policy.hidden) > len(params):
        raise ValueError(f"{len(policy.hidden)} hidden layers for {len(params)} parameters")
    if policy.history > MAX_HISTORY:
        raise ValueError(
            f"the policy reads {policy.history} observations; at most {MAX_HISTORY} are allowed"
        )
    return policy


def read_scales(spec: dict[str, Any], tensors: Params) -> Scaling:
    """Return the scales that a configuration and its tensors describe.

    Runs of earlier versions predict single actions, and have no tensors of targets.
    """
    rows: dict[str, Any] = {n: tensors.get(n) for n in TENSORS}
    for name in TENSORS[:4]:
        if rows[name] is None:
            raise ValueError(f"{name} of the normalization is missing")
    lists = {name: spec.get(name, []) for name in ("relative", "angles")}
    for name, numbers in lists.items():
        if not isinstance(numbers, list) or not all(type(i) is int for i in numbers):
            raise ValueError(f"{name} of the normalization is {numbers!r:.60}")
    tuples = {name: tuple(numbers) for name, numbers in lists.items()}
    return Scaling(**rows, **{**spec, **tuples})


def check_scales(scales: Scaling, members: int) -> None:
    """Refuse a normalization of another shape, and one with which no action can be computed."""
    if len(scales.obs_mean) != members:
        raise ValueError(f"{len(scales.obs_mean)} normalizations for {members} members")
    tensors = {name: getattr(scales, name) for name in TENSORS}
    shapes = [tuple(t.shape) for t in tensors.values()]
    if any(len(shape) != 2 for shape in shapes) or shapes[::2] != shapes[1::2]:
        raise ValueError(f"the normalization has shapes {shapes}")
    size, width = shapes[2][1], shapes[4][1]
    if not size or not width or width % size or shapes[4][0] != members:
        raise ValueError(f"the normalization has shapes {shapes}")
    if scales.relative and (
        len(scales.relative) != size or not set(scales.relative) <= set(range(-1, shapes[0][1]))
    ):
        raise ValueError(f"relative of the normalization is {scales.relative!r:.60}")
    if not set(scales.angles) <= set(range(shapes[0][1])):
        raise ValueError(f"angles of the normalization are {scales.angles!r:.60}")
    for name, tensor in tensors.items():
        if tensor.dtype != torch.float32 or not bool(tensor.isfinite().all()):
            raise ValueError(f"{name} of the normalization is not finite")
    if not bool((tensors["target_scale"] > 0).all()):
        raise ValueError("the normalization has scales that are not positive")
    if not bool((scales.obs_scale > 0).all() and (scales.action_low <= scales.action_high).all()):
        raise ValueError("the normalization has scales that are not positive")
    if scales.action_set not in ("box", "ball") or not isinstance(scales.scale_actions, bool):
        raise ValueError(f"the normalization is {scales.action_set!r:.40}")


def check_params(
    policy: Policy, params: Params, scales: Scaling, networks: int, diverged: Sequence[int] | None
) -> None:
    """Refuse parameters of other shapes, and those that are not finite.

    `diverged` are the networks that may have such parameters, because their training diverged;
    None: all may.
    """
    if scales.horizon != policy.horizon:
        raise ValueError(f"the normalization is of {scales.horizon} actions, not {policy.horizon}")
    obs_size, action_size = scales.inputs, scales.horizon * scales.action_low.shape[1]
    stored = sum(v.numel() for v in params.values()) // networks
    with _AtMost(_SLACK * stored):
        fresh = policy.init(torch.Generator(), obs_size, action_size)
    required = {k: (networks, *v.shape) for k, v in fresh.items()}
    stored_shapes = {k: tuple(v.shape) for k, v in params.items()}
    if required != stored_shapes:
        _refuse_unpooled(policy, required, stored_shapes)
        raise ValueError("the parameters do not fit the policy")
    if {v.dtype for v in params.values()} != {torch.float32}:
        raise ValueError("the parameters are not all of type float32")
    finite = torch.stack([v.flatten(1).isfinite().all(1) for v in params.values()]).all(0)
    bad = set(torch.nonzero(~finite).flatten().tolist())
    if diverged is not None and (others := sorted(bad - set(diverged))):
        raise ValueError(f"the parameters of network {others[0]} are not finite")


def _refuse_unpooled(policy: Policy, required: Shapes, stored: Shapes) -> None:
    """Refuse networks of earlier versions, whose dense layers read whole maps of large images."""
    if not policy.images or required.keys() != stored.keys():
        return
    others = {name for name, shape in required.items() if shape != stored[name]}
    if others and all(
        name.endswith(".layer0.weight") and stored[name] > required[name] for name in others
    ):
        raise FormatError(
            "these networks for large images were trained by an earlier version of counterbc, "
            "which did not average what their dense layers read; train again, or act with the "
            "version that trained them"
        )


class _AtMost(TorchFunctionMode):
    """A context in which tensors of more than `count` numbers in all are not created."""

    def __init__(self, count: int) -> None:
        super().__init__()
        self.count = count

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func in _FACTORIES:
            sizes = args[0] if args and isinstance(args[0], tuple) else args
            self.count -= prod(size for size in sizes if isinstance(size, int))
            if self.count < 0:
                raise ValueError("the parameters do not fit the policy")
        return func(*args, **(kwargs or {}))


def check_stacked(tensors: Mapping[str, Tensor], networks: int, members: int) -> None:
    """Refuse parameters of a weighting, or a curve, that are not those of all members."""
    for name, tensor in tensors.items():
        kind, _, key = name.partition("/")
        if kind == "weighting" and (not tensor.ndim or len(tensor) != networks):
            raise ValueError(f"{name} has shape {tuple(tensor.shape)} for {networks} networks")
        if kind == "curve":
            rows = len(tensors["curve/steps"])
            shape = (rows,) if key == "steps" else (rows, members)
            if tuple(tensor.shape) != shape:
                raise ValueError(f"{name} has shape {tuple(tensor.shape)}; expected {shape}")


def check_config(
    contents: Any, method: Any, radii: Sequence[Sequence[float]], actions: int
) -> None:
    """Refuse a configuration whose fields have other types than those that are written."""
    config = RunConfig.from_dict(contents)
    if not isinstance(method, str):
        raise ValueError(f"method is {method!r:.60}; expected a text")
    for radius in radii:
        if len(radius) != actions:
            raise ValueError(f"a radius of {len(radius)} numbers for {actions} action dimensions")
    names = config.action_names
    if len(names) not in (0, actions) or not set(config.two_valued) <= set(names):
        raise ValueError(f"the names {names!r:.60} do not fit {actions} action dimensions")


def read_names(method: str, contents: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return the method that was trained, and the configuration with its name.

    Runs of earlier versions name the method that was asked for, even if there were no
    counterfactuals, which is BC.
    """
    if method in _RANKS_COUNTERFACTUALS and contents.get("radius_from") == "not used":
        return "bc", contents | {"method": "bc"}
    return method, contents
