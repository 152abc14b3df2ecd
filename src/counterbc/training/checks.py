"""What `train` is given, checked and made uniform before any work; and what it warns of."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from counterbc.acting.policies import Policies
from counterbc.data.demonstrations import Demonstrations
from counterbc.errors import DataError, Diverged, InfeasibleActions, OptionError
from counterbc.methods import Method
from counterbc.policies import Params
from counterbc.settings import Settings

Radius = float | Sequence[float]
FEW = 20  # pairs, among which any dimension may take two values by chance
NEEDS = {
    "operators": "operators (one named for every episode)",
    "rewards": "rewards (one for every pair)",
    "expert": "an expert subset (a mask named 'expert', or operators given by --expert)",
}


def as_datasets(demos: Demonstrations | Sequence[Demonstrations]) -> list[Demonstrations]:
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
    for other in datasets[1:]:
        if (other.obs_shape, other.action_size) != (first.obs_shape, first.action_size):
            raise DataError(
                f"datasets differ: {first.obs_shape} → {first.action_size} dimensions against "
                f"{other.obs_shape} → {other.action_size}; train them apart"
            )
        if other.action_set != first.action_set:
            raise DataError("datasets differ in their action set; train them apart")
        if other.backend != first.backend:
            raise DataError(
                f"datasets come from different simulators, {first.backend} and {other.backend}; "
                "train them apart"
            )
    return datasets


def check_reads(data: Demonstrations, method: Method) -> None:
    """Vectors for policies of vectors, images for those of images."""
    reads = method.policy.obs_shape(data.obs_shape[0])
    if reads != data.obs_shape:
        raise DataError(
            f"a {type(method.policy).__name__} reads observations of shape {reads}; these data "
            f"have {data.obs_shape}; choose another policy"
        )


def fingerprint(params: Params) -> str:
    digest = hashlib.sha256()
    for name, value in sorted(params.items()):
        digest.update(name.encode() + value.contiguous().numpy().tobytes())
    return digest.hexdigest()[:16]


def two_valued(datasets: Sequence[Demonstrations]) -> NDArray[np.bool_]:
    """Which action dimensions take two values only, such as a gripper's open and closed: (A,).

    Between them lies nothing that anyone could have meant, so their radius is 0 unless it is given
    for each dimension.
    """
    action = np.concatenate([d.action[d.learned] for d in datasets])
    if len(action) < FEW:
        return np.zeros(action.shape[1], bool)
    low, high = action.min(0), action.max(0)
    both: NDArray[np.bool_] = ((action == low) | (action == high)).all(0) & (low < high)
    return both


def radius_of(
    radius: Radius, size: int, fixed: NDArray[np.bool_] | None = None
) -> tuple[float, ...]:
    """The radius of each dimension; one for all leaves out the dimensions that are `fixed`."""
    try:
        given = tuple(np.asarray(radius, dtype=float).reshape(-1).tolist())
    except ValueError:
        raise OptionError(
            f"radius is {radius!r}; it must be a number, or one per action dimension"
        ) from None
    values = given * size if np.ndim(radius) == 0 else given
    if np.ndim(radius) == 0 and fixed is not None and given[0] > 0:
        values = tuple(0.0 if f else v for f, v in zip(fixed, values, strict=True))
    if len(values) != size:
        raise OptionError(f"{len(values)} radii for {size} action dimensions; give 1 or {size}")
    if not all(np.isfinite(v) and v >= 0 for v in values):
        raise OptionError(f"radius is {radius}; it must be 0 or more (0 is plain behavior cloning)")
    return values


def check_needs(datasets: list[Demonstrations], method: Method) -> None:
    """Refuse a method that asks for more than the data record."""
    has = {
        "operators": all(e.operator is not None for d in datasets for e in d.episodes),
        "rewards": all(e.reward is not None for d in datasets for e in d.episodes),
        "expert": all(expert_pairs(d).any() for d in datasets),
    }
    missing = [NEEDS.get(n, n) for n in method.weighting.needs if not has.get(n, False)]
    if missing:
        raise DataError(
            f"this method needs {' and '.join(missing)}, which these data do not record; "
            "add them, or choose another method"
        )


def expert_pairs(demos: Demonstrations) -> NDArray[np.bool_]:
    """Whether each pair that is learned from lies in the mask 'expert': (pairs,)."""
    names = set(demos.masks.get("expert", ()))
    flags = np.concatenate([np.full(len(e), e.name in names) for e in demos.episodes])
    chosen: NDArray[np.bool_] = flags[demos.learned]
    return chosen


def labels(datasets: list[Demonstrations], method: Method) -> dict[str, Any]:
    """What a weighting knows beside the pairs, as far as the data's fingerprint leaves it open."""
    said: dict[str, Any] = {}
    if "operators" in method.weighting.needs:
        said["operators"] = list(operator_names(datasets))
    if "expert" in method.weighting.needs:
        flags = [expert_pairs(d) for d in datasets]
        prints = [hashlib.sha256(f.tobytes()).hexdigest()[:16] for f in flags]
        said["expert"] = [
            {"pairs": int(f.sum()), "fingerprint": p} for f, p in zip(flags, prints, strict=True)
        ]
    return said


def operator_names(datasets: list[Demonstrations]) -> tuple[str, ...]:
    """The operators 0, 1, … of a population, in order of first appearance."""
    return tuple(dict.fromkeys(o for d in datasets for o in d.operators))


def warn_infeasible(datasets: list[Demonstrations], settings: Settings) -> None:
    """Say how many actions lie outside their bounds, or outside what a policy can reach."""
    reach = max(float(np.abs(d.action[d.learned]).max()) for d in datasets)
    if not settings.scale_actions and reach > 2:
        warnings.warn(
            f"actions reach {reach:.4g}, but unscaled a policy's mean reaches 1; use a preset that "
            "scales actions (default or paper)",
            InfeasibleActions,
            stacklevel=4,
        )
    outside = sum(int(d.infeasible[d.learned].sum()) for d in datasets)
    if outside:
        total = sum(d.pairs for d in datasets)
        done = "kept as they are" if settings.feasible == "keep" else "moved to the nearest bound"
        warnings.warn(
            f"{outside} of {total} actions lie outside the declared bounds; they are {done} "
            "(feasible=project or keep decides)",
            InfeasibleActions,
            stacklevel=4,
        )


def warn_diverged(policies: Policies, bad_since: dict[int, int]) -> None:
    if not policies.diverged.any():
        return
    first: dict[int, int] = {}
    for net, step in bad_since.items():
        member = net // policies.shards
        first[member] = min(step, first.get(member, step))
    told = "; ".join(
        f"member {i} ({m.name})" + (f" by step {first[i]}" if i in first else "")
        for i, m in enumerate(policies.members)
        if policies.diverged[i]
    )
    warnings.warn(f"diverged, the others are not affected: {told}", Diverged, stacklevel=4)
