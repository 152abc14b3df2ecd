"""What `print(policies)` and the commands say of trained policies."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from counterbc.acting.member import Member, radius_text
from counterbc.acting.run_config import RunConfig
from counterbc.data.names import shape_text, shorten
from counterbc.data.scaling import Scaling
from counterbc.policies import Policy


class Trained(Protocol):
    """What a summary reads of `Policies`, whose module imports this one."""

    @property
    def method(self) -> str: ...
    @property
    def policy(self) -> Policy: ...
    @property
    def members(self) -> tuple[Member, ...]: ...
    @property
    def shards(self) -> int: ...
    @property
    def scales(self) -> Scaling: ...
    @property
    def run_config(self) -> RunConfig: ...
    @property
    def obs_shape(self) -> tuple[int, ...]: ...
    @property
    def action_size(self) -> int: ...
    @property
    def diverged(self) -> NDArray[np.bool_]: ...
    def names(self, indices: NDArray[np.bool_]) -> list[str]: ...


def summarize(policies: Trained) -> str:
    """Return a line each about members, radius, network and actions."""
    shards = f" of {policies.shards} networks each" if policies.shards > 1 else ""
    policy = policies.policy
    kind = f"{type(policy).__name__}{policy.hidden}"
    sizes = f"{_observed(policies)} → {policies.action_size}"
    lines = [
        f"Policies trained with {policies.method}",
        f"  members  {len(policies.members)}{shards}, seeds {_ranges(policies.members)}",
        f"  radius   {_radius(policies)}",
        f"  policy   {kind}: {sizes}{acting_text(policy)}",
    ]
    if blind_to := policies.run_config.blind_to:
        lines.append(f"  blind    to {shorten(blind_to)}: not read")
    if policy.ema_share:
        lines.append(
            f"  weights  moving average, with a share of {policy.ema_share:g} of each step"
        )
    lines.append(f"  actions  {_bounds(policies)}")
    if policies.scales.relative:
        lines.append(f"  relative {_relative(policies)}")
    if policies.diverged.any():
        lines.append(f"  diverged {', '.join(policies.names(policies.diverged))}")
    return "\n".join(lines)


def _observed(policies: Trained) -> str:
    """Return the sizes of what is read: those of each image, and the numbers of a vector."""
    images = [shape_text(shape) for shape in policies.policy.images]
    if not images or policies.policy.reads_vector:
        images.append(shape_text(policies.obs_shape))
    return " + ".join(images)


def acting_text(policy: Policy) -> str:
    """Return how a policy reads and acts, where that is not one observation and one action."""
    text = f", reading {policy.history} observations" if policy.history > 1 else ""
    if policy.horizon == 1:
        return text
    how = f"and executes {policy.execute}"
    if policy.average_chunks:
        how = "at every step and averages the overlapping chunks"
    return f"{text}; it predicts {policy.horizon} actions {how}"


def _radius(policies: Trained) -> str:
    origin = policies.run_config.radius_from
    if origin == "not used":
        return origin
    radii = sorted({m.radius for m in policies.members})
    return f"{', '.join(map(radius_text, radii))} ({origin}){_switches(policies)}"


def _switches(policies: Trained) -> str:
    """Name the dimensions whose radius is 0 because their actions take two values only."""
    names = policies.run_config.action_names
    widest = np.max([m.radius for m in policies.members], 0)  # (A,)
    switches = [n for n in policies.run_config.two_valued if widest[names.index(n)] == 0]
    return f"; 0 for {', '.join(switches)}, which takes two values only" if switches else ""


def _bounds(policies: Trained) -> str:
    scales = policies.scales
    low, high = scales.action_low[0].tolist(), scales.action_high[0].tolist()
    bounds = [f"[{a:.4g}, {b:.4g}]" for a, b in zip(low, high, strict=True)]
    is_same = len(bounds) > 1 and len(set(bounds)) == 1
    text = f"{bounds[0]} each" if is_same else " ".join(bounds)
    if scales.action_set == "ball":
        text += ", within the ball"
    if scales.bounds_from != "declared":
        text += ": the data's 1–99 % range, as no bounds are declared; actions stay within it"
    return text


def _relative(policies: Trained) -> str:
    """Name what each action dimension is relative to."""
    config, parts = policies.run_config, []
    for j, i in enumerate(policies.scales.relative):
        action = config.action_names[j] if config.action_names else f"action {j}"
        place = config.obs_names[i] if config.obs_names else f"observation {i}"
        parts.append(f"{action} absolute" if i < 0 else f"{action} to {place}")
    return ", ".join(parts)


def _ranges(members: tuple[Member, ...]) -> str:
    """Return consecutive seeds as 0 … 9, others as a list."""
    seeds = list(dict.fromkeys(m.seed for m in members))
    if len(seeds) > 2 and seeds == list(range(seeds[0], seeds[0] + len(seeds))):
        return f"{seeds[0]} … {seeds[-1]}"
    return ", ".join(map(str, seeds))
