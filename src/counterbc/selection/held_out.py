"""Every pair judged by policies that did not see its episode, nor its operator where they can."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch

from counterbc.acting.policies import Acting, Member, Policies
from counterbc.data.demonstrations import Array, Demonstrations
from counterbc.data.scaling import unit_actions
from counterbc.diagnosis.components import Components
from counterbc.diagnosis.scores import split
from counterbc.errors import CounterBCError, InfeasibleActions, OptionError
from counterbc.methods import find_method
from counterbc.selection.folds import Folds
from counterbc.selection.operator_folds import split_judged
from counterbc.settings import Settings
from counterbc.training.plan import Job
from counterbc.training.progress import Progress

_CHUNK = 1 << 16  # pairs judged at once


@dataclass(frozen=True)
class HeldOut:
    """How many policies judge a pair, and how they are made."""

    folds: int = 5
    """Folds that operators or episodes are dealt to; each is judged by policies of the others."""
    repeats: int = 4
    """How often that is done anew, to average over."""
    rounds: int = 3
    """HeldOut of the second and later rounds do not learn from episodes that the round before found
    odd; all rounds but the last take one repeat."""
    steps: int = 3000
    """Gradient steps of each judge; fewer where the training itself has fewer."""
    seed: int = 0

    def __post_init__(self) -> None:
        for name, ok, allowed in (
            ("folds", self.folds >= 2, "2 or more"),
            ("repeats", self.repeats >= 1, "1 or more"),
            ("rounds", self.rounds >= 1, "1 or more"),
            ("steps", self.steps >= 1, "1 or more"),
        ):
            if not ok:
                raise OptionError(f"{name} is {getattr(self, name)}; it must be {allowed}")

    def split(self, demos: Demonstrations) -> list[Folds]:
        """The folds of each repeat; only selected pairs are learned from, all are judged."""
        return [split_judged(demos, self.folds, self.seed + r) for r in range(self.repeats)]


def crossfit(
    demos: Demonstrations,
    judges: HeldOut,
    radius: tuple[float, ...],
    settings: Settings,
    device: torch.device,
    progress: Progress,
) -> Array:
    """The mean action at every pair, in the user's units: (repeats, N, A), NaN where diverged."""
    settings = replace(settings, steps=min(judges.steps, settings.steps))
    how, learned = (radius, settings, device, progress), demos
    for _ in range(judges.rounds - 1):
        believed = _judge(learned, replace(judges, repeats=1), *how)[0]  # (N, A)
        usual = _learnable(demos, believed)
        again, learned = learned, replace(demos, selected=usual)
        if np.array_equal(again.learned, usual):
            break
    return _judge(learned, judges, *how)


def _learnable(demos: Demonstrations, believed: Array) -> Array:
    """The pairs of episodes that are not odd, as indices into all pairs."""
    off = unit_actions(demos, demos.action.astype(np.float64)) - unit_actions(demos, believed)
    usual = Components.of(split(demos, off)).learnable  # (E,)
    of_pair = np.repeat(usual, [len(e) for e in demos.episodes])
    return np.asarray(demos.learned[of_pair[demos.learned]])


def _judge(
    demos: Demonstrations,
    judges: HeldOut,
    radius: tuple[float, ...],
    settings: Settings,
    device: torch.device,
    progress: Progress,
) -> Array:
    """One round: all folds of all repeats are one population of Counter-BC."""
    name, method = find_method("counter-bc")
    whole = replace(demos, selected=None)
    dealt = [(r, k, f) for r, f in enumerate(judges.split(demos)) for k in range(len(f))]
    members = [Member(r * len(f) + k, radius, 0, whole.fingerprint()) for r, k, f in dealt]
    with warnings.catch_warnings():
        # Each pair is learned from by several members; whoever calls counts it once.
        warnings.simplefilter("ignore", InfeasibleActions)
        job = Job([whole], name, settings.apply(method), settings, "judging", None)
        job.assign_lists(members, [f.learned[k] for _, k, f in dealt])
        policies = job.run(device, torch.float32, None, False, progress)
    means = np.full((judges.repeats, len(whole.obs), demos.action_size), np.nan)
    for (r, k, f), policy in zip(dealt, policies, strict=True):
        means[r, f.held_out[k]] = _means(policy, whole.obs[f.held_out[k]])
    if not np.isfinite(means).any(0).all():
        raise CounterBCError(
            "the policies that judge some pairs diverged; lower the learning rate, or raise the "
            "number of repeats"
        )
    return means


def _means(policy: Policies, obs: Array) -> Array:
    """The mean actions of one member, in the user's units: (n, A)."""
    chunks: Sequence[Array] = np.array_split(obs, range(_CHUNK, len(obs), _CHUNK))
    acts = [
        Acting(policy, range(len(c)), "mean", 0).actions(torch.tensor(c)[None])[0] for c in chunks
    ]
    return torch.cat(acts).double().numpy()
