"""Actions that flows sample at the states of episodes that they did not learn from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from counterbc.acting.actor import Acting
from counterbc.acting.member import Member
from counterbc.acting.policies import Policies
from counterbc.data.action_scale import scaled_actions, user_actions
from counterbc.data.arrays import Array
from counterbc.data.demonstrations import Demonstrations
from counterbc.data.lags import undo_lag
from counterbc.diagnosis.clamp_to_support import share_of_radius
from counterbc.errors import CounterBCError, DataError, OptionError
from counterbc.methods import Method
from counterbc.policies import POLICIES, Flow, Policy
from counterbc.selection.held_out import HeldOut, Training
from counterbc.training.plan import plan_training
from counterbc.training.snapshots import run_snapshots

SAMPLES = 16
"""Actions that each held-out flow samples at a state."""
FLOW_HELD_OUT = HeldOut(repeats=1, rounds=1, steps=5000)
"""How held-out flows are trained by default."""
_BLOCK = 1 << 13  # pairs whose actions are sampled at once


def is_flow(policy: str | None) -> bool:
    """Return whether the policy of this name is a flow."""
    return issubclass(POLICIES.get(policy or "", Policy), Flow)


def check_flow(radius: Any, held_out: HeldOut) -> None:
    """Refuse what held-out flows cannot do."""
    if radius is None or isinstance(radius, str):
        raise OptionError(
            "radius is auto, but the error of a held-out flow does not depend on Δ, so it cannot "
            "be chosen from the data; give the size of the errors, such as 0.2 (each action "
            "dimension spans [-1, 1])"
        )
    if held_out.rounds > 1:
        raise OptionError(
            f"rounds is {held_out.rounds}, but held-out flows are trained in one; give 1"
        )


def flow_samples(
    demos: Demonstrations,
    method: Method,
    held_out: HeldOut,
    training: Training,
    lag: tuple[float, ...],
) -> Array:
    """Return actions that held-out flows sample at every pair, in the user's units: (M, N, A).

    With a lag of k the flows learn to answer s_t with a_(t+k). `method` has a flow as its policy;
    `training` says how it is trained.
    """
    repeats = held_out.split(demos)
    if any(split.kind == "blocks" for split in repeats):
        raise DataError(
            f"a flow learns chunks of actions, so whole episodes are held out, but there are "
            f"{len(demos)} for {held_out.folds} folds; give as many episodes as folds or more"
        )
    settings, progress = training.settings, training.progress
    settings = replace(settings, steps=min(held_out.steps, settings.step_count))
    lists = [pairs for split in repeats for pairs in split.learned]
    members = _members(demos, held_out.seed, lag, lists)
    plan = plan_training([demos], method, settings, members, name=training.name, lists=lists)
    (flows,) = run_snapshots(plan, [settings.step_count], device=training.device, progress=progress)
    samples = np.full((len(repeats), SAMPLES, len(demos.obs), demos.action_size), np.nan)
    jobs = [(r, pairs) for r, split in enumerate(repeats) for pairs in split.held_out]
    progress.start(0, len(repeats) * len(demos.obs), "samples")
    try:
        done = 0
        for flow, (repeat, held_out_pairs) in zip(flows, jobs, strict=True):
            for pairs, actions in _sample(flow.to(training.device), demos, held_out_pairs):
                samples[repeat][:, pairs] = actions
                done += len(pairs)
                progress.update(done, torch.empty(0))
    finally:
        progress.stop()
    if not np.isfinite(samples).all():
        raise CounterBCError("the flows that predict some pairs diverged; lower the learning rate")
    return samples.reshape(-1, *samples.shape[2:])


def mean_within(
    demos: Demonstrations, samples: Array, radius: Sequence[float], shape: str, lag: Sequence[float]
) -> Array:
    """Return the mean of the samples (M, N, A) inside C(s, a): (N, A).

    This is the mean action of the policy restricted to C(s, a), eq. M3, by samples. Where none of
    them is inside, it is the nearest one, which lies outside.
    """
    action = scaled_actions(demos, undo_lag(demos, lag)[0].astype(np.float64))
    flat = scaled_actions(demos, samples.reshape(-1, demos.action_size))
    gap = flat.reshape(samples.shape) - action  # (M, N, A)
    distance = np.stack([share_of_radius(g, np.array(radius), shape) for g in gap])  # (M, N)
    inside = (distance <= 1)[..., None]
    mean = (gap * inside).sum(0) / np.maximum(inside.sum(0), 1)
    nearest = np.take_along_axis(gap, distance.argmin(0)[None, :, None], 0)[0]
    return user_actions(demos, action + np.where(inside.any(0), mean, nearest))


def _members(
    demos: Demonstrations, seed: int, lag: tuple[float, ...], lists: Sequence[Array]
) -> list[Member]:
    name, no_radius = demos.fingerprint(), (0.0,) * demos.action_size
    return [Member(seed + i, no_radius, 0, name, lag) for i in range(len(lists))]


def _sample(flow: Policies, demos: Demonstrations, pairs: Array) -> Iterator[tuple[Array, Array]]:
    """Yield pairs (n,) and the actions that a flow samples at each of them: (M, n, A)."""
    for block in np.array_split(pairs, range(_BLOCK, len(pairs), _BLOCK)):
        window, obs = flow.windows(demos, block)
        acting = [Acting(flow, block.tolist(), "sample", s) for s in range(SAMPLES)]
        yield block, np.stack([a.predict(window, obs)[0].double().cpu().numpy() for a in acting])
