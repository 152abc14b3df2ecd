"""Checks of what `train` is given, before any work; and its warnings."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np

from counterbc.acting.policies import Policies
from counterbc.data.demonstrations import Demonstrations
from counterbc.data.moments import Moments
from counterbc.data.names import cameras_text, shorten
from counterbc.errors import DataError, Diverged, DominatedValues, InfeasibleActions, OptionError
from counterbc.methods import Method
from counterbc.settings import Settings

_KEPT = ("reach", "execute", "average_chunks", "temperature", "euler")
"""Fields that a policy keeps when its training continues."""


def as_datasets(demos: Demonstrations | Sequence[Demonstrations]) -> list[Demonstrations]:
    """Return the datasets as a list, or refuse datasets that cannot be trained together."""
    datasets = [demos] if isinstance(demos, Demonstrations) else list(demos)
    for data in datasets:
        if not isinstance(data, Demonstrations):
            raise DataError(
                f"demonstrations are given as {type(data).__name__}; load them first: "
                "counterbc.load(path)"
            )
    if not datasets:
        raise DataError("no demonstrations were given; give one dataset, or one per seed")
    first = datasets[0]
    for dataset in datasets[1:]:
        if dataset.cameras != first.cameras:
            raise DataError(
                f"datasets differ in their cameras: {cameras_text(first.cameras) or 'none'} "
                f"against {cameras_text(dataset.cameras) or 'none'}; train them separately"
            )
        if (dataset.obs_shape, dataset.action_size) != (first.obs_shape, first.action_size):
            raise DataError(
                f"datasets differ: {first.obs_shape} → {first.action_size} dimensions against "
                f"{dataset.obs_shape} → {dataset.action_size}; train them separately"
            )
        if dataset.action_set != first.action_set:
            raise DataError("datasets differ in their action set; train them separately")
        if dataset.backend != first.backend:
            raise DataError(
                f"datasets come from different simulators, {first.backend} and {dataset.backend}; "
                "train them separately"
            )
    return datasets


def check_reads(data: Demonstrations, method: Method) -> None:
    """Refuse a policy that cannot read observations of this shape, or all cameras."""
    policy, cameras = method.policy, tuple(data.cameras.values())
    if cameras and not policy.images:
        vectors = " ".join(key for key, _ in data.obs_keys) if data.images else ""
        raise DataError(
            f"policies read vectors alone here, but these data have {cameras_text(data.cameras)}; "
            + (f"use --obs {vectors}" if vectors else "choose vectors with --obs, if there are any")
        )
    if data.images and policy.images != cameras:
        raise DataError(
            f"a {type(policy).__name__} reads {len(policy.images)} cameras; these data "
            f"have {cameras_text(data.cameras)}; choose another policy, or other observations"
        )
    reads = policy.obs_shape(data.obs_shape[0])
    if reads != data.obs_shape:
        raise DataError(
            f"a {type(policy).__name__} reads observations of shape {reads}; these data "
            f"have {data.obs_shape}; choose another policy"
        )


def check_start(
    start: Policies, count: int, method: Method, data: Demonstrations, auto: bool
) -> None:
    """Refuse to continue from policies that do not fit the members, the method or the data."""
    if auto:
        raise OptionError(
            "radius is 'auto', but policies that training continues from keep their radius; "
            "leave it out, or give a number"
        )
    if count != len(start):
        raise OptionError(f"start has {len(start)} members; {count} were asked for")
    names = [f.name for f in fields(start.policy) if f.name in _KEPT]
    names += ["hidden"] if method.policy.steps is not None else []  # it was sized for other data
    kept: dict[str, Any] = {n: getattr(start.policy, n) for n in names}
    same_kind = type(start.policy) is type(method.policy)
    if (
        not same_kind
        or start.policy != replace(method.policy, **kept)
        or start.shards != method.shards
    ):
        raise OptionError("start was trained with another policy; use the same method")
    start_sizes, data_sizes = (
        (start.obs_shape, start.action_size),
        (data.obs_shape, data.action_size),
    )
    if start_sizes != data_sizes:
        raise DataError(
            f"start reads {start_sizes[0]} and gives {start_sizes[1]} dimensions; these data have "
            f"{data_sizes[0]} and {data_sizes[1]}"
        )


def warn_values(datasets: Sequence[Demonstrations], settings: Settings) -> None:
    """Warn of values that do not stop a training, but that a person should know about."""
    _warn_dominated(datasets)
    warn_infeasible(datasets, settings)


def warn_infeasible(datasets: Sequence[Demonstrations], settings: Settings) -> None:
    """Warn of actions outside their bounds, or outside what an unscaled policy can reach."""
    reach = max(float(np.abs(d.action[d.learned]).max()) for d in datasets)
    if not settings.scale_actions and reach > 2:
        warnings.warn(
            f"actions reach {reach:.4g}, but unscaled a policy's mean reaches 1; use a preset that "
            "scales actions (default or paper)",
            InfeasibleActions,
            stacklevel=3,
        )
    outside = sum(int(d.infeasible[d.learned].sum()) for d in datasets)
    if outside:
        total = sum(d.pairs for d in datasets)
        action = "kept as they are" if settings.feasible == "keep" else "moved to the nearest bound"
        warnings.warn(
            f"{outside} of {total} actions lie outside the declared bounds; they are {action} "
            "(feasible=project or keep decides)",
            InfeasibleActions,
            stacklevel=3,
        )


def _warn_dominated(datasets: Sequence[Demonstrations]) -> None:
    """Warn of dimensions in which one value or an offset hides all others."""
    names: dict[str, None] = {}
    for data in datasets:
        columns = [(data.action_names, data.action)]
        columns += [(data.obs_names, data.obs)] if len(data.obs_shape) == 1 else []
        for labels, values in columns:
            moments = Moments(values.shape[1])
            moments.add(values[data.learned])
            names |= {labels[i]: None for i in np.flatnonzero(moments.dominated).tolist()}
    if names:
        warnings.warn(
            f"in {shorten(list(names))} one value or an offset is so large that the others hardly "
            "differ; remove outliers, or subtract the offset (counterbc inspect shows both)",
            DominatedValues,
            stacklevel=3,
        )


def warn_diverged(policies: Policies, bad_since: dict[int, int]) -> None:
    """Name the members that diverged, with the first step at which a loss was not finite."""
    if not policies.diverged.any():
        return
    first: dict[int, int] = {}
    for net, step in bad_since.items():
        member = net // policies.shards
        first[member] = min(step, first.get(member, step))
    names = "; ".join(
        f"member {i} ({m.name})" + (f" by step {first[i]}" if i in first else "")
        for i, m in enumerate(policies.members)
        if policies.diverged[i]
    )
    warnings.warn(f"diverged, the others are not affected: {names}", Diverged, stacklevel=4)
