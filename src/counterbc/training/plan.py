"""What to train: the members of a population, their pairs and scales, the method and settings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from counterbc.acting.member import Member
from counterbc.acting.policies import Policies
from counterbc.data.angles import angle_dims
from counterbc.data.chunks import fit_targets
from counterbc.data.demonstrations import Array, Demonstrations
from counterbc.data.lags import NONE
from counterbc.data.needs import operator_names
from counterbc.data.offsets import remove_offsets
from counterbc.data.radii import Radius, radius_of
from counterbc.data.relative import relative_dims
from counterbc.data.scaling import Scaling
from counterbc.errors import OptionError
from counterbc.methods import Method
from counterbc.policies import Policy
from counterbc.settings import Settings
from counterbc.training.censoring import is_censored, wide_method


class Choice(Protocol):
    """A number that was chosen from the data, with its evidence."""

    def as_dict(self) -> dict[str, Any]: ...


@dataclass(frozen=True)
class RecordedChoice:
    """A choice as the configuration of a run has it."""

    contents: dict[str, Any]

    def as_dict(self) -> dict[str, Any]:
        return self.contents


@dataclass(frozen=True, eq=False, kw_only=True)
class TrainingPlan:
    """Everything that decides a training, except device and precision; P members."""

    name: str
    """The method's name."""
    method: Method
    """The method with the settings applied."""
    settings: Settings
    datasets: tuple[Demonstrations, ...]
    members: tuple[Member, ...]
    lists: tuple[Array, ...]
    """The actions that each member learns from, as indices of pairs of its dataset."""
    scales: Scaling
    """One row per member: (P, …)."""
    held_out: tuple[Demonstrations, ...] = ()
    """The episodes of each dataset that only the curve of the held-out error sees."""
    start: Policies | None = None
    """Trained policies to continue from."""
    preset: str | None = None
    """The preset that the settings come from, or None. Nothing is computed from it: it is kept for
    the configuration of the run, where people look for the name."""
    censored: bool = False
    """Whether an action on a bound stands for all actions beyond it."""
    choices: tuple[Choice, ...] = ()
    """What was chosen from each dataset, in the order of the choices."""

    @property
    def operators(self) -> tuple[str, ...]:
        """The names of operators 0, 1, …"""
        return operator_names(self.datasets + self.held_out)


def plan_training(
    datasets: Sequence[Demonstrations],
    method: Method,
    settings: Settings,
    members: Sequence[Member],
    *,
    name: str = "custom",
    lists: Sequence[Array] | None = None,
    start: Policies | None = None,
    **facts: Any,
) -> TrainingPlan:
    """Build a plan; members learn from all pairs of their dataset unless `lists` says otherwise.

    `method` has the settings applied. Members that continue from `start` keep its scales. `facts`
    are further fields of `TrainingPlan`.
    """
    censored = is_censored(datasets, method, settings)
    if censored and any(m.offsets for m in members):
        raise OptionError(
            "offsets cannot be removed from censored actions, whose bounds do not move with them; "
            "give censored=False, or offsets none"
        )
    if start is not None:
        method = replace(method, policy=start.policy)  # its mean may reach beyond the bounds
    elif censored:
        method = wide_method(method)
    elif settings.relative != "none" and not method.policy.standardizes:
        relative = any(relative_dims(data, settings.relative) for data in datasets)
        method = wide_method(method) if relative else method  # differences of two actions in A
    if lists is None:
        learned = [data.learned for data in datasets]
        lists = [learned[m.dataset] for m in members]
    if start is None:
        scales = _scales(datasets, method.policy, settings, members, lists)
    else:
        scales = start.scales
    return TrainingPlan(
        name=name,
        method=method,
        settings=settings,
        datasets=tuple(datasets),
        members=tuple(members),
        lists=tuple(lists),
        scales=scales,
        start=start,
        censored=censored,
        **facts,
    )


def _scales(
    datasets: Sequence[Demonstrations],
    policy: Policy,
    settings: Settings,
    members: Sequence[Member],
    lists: Sequence[Array],
) -> Scaling:
    """Return the scales of the members, from their data without offsets.

    Only standardized actions depend on a member's lag and list: others have the scale of bounds.
    """
    found = {d for data in datasets for d in angle_dims(data, settings.angles, policy.reads_angles)}
    keys, scalings = [], {}
    for m, pairs in zip(members, lists, strict=True):
        lag, list_id = (m.lag, id(pairs)) if policy.standardizes else (NONE, 0)
        keys.append(key := (m.dataset, m.offsets, lag, list_id))
        if key in scalings:
            continue
        data = remove_offsets(datasets[m.dataset], m.offsets)
        scales = Scaling.fit(data, settings.scale_obs, settings.scale_actions)
        scales = replace(
            scales,
            relative=relative_dims(data, settings.relative),
            angles=tuple(sorted(found)),
        )
        scalings[key] = fit_targets(scales, data, pairs, lag, policy.horizon, policy.standardizes)
    return Scaling.stack([scalings[key] for key in keys])


def seed_members(
    datasets: Sequence[Demonstrations],
    seeds: Sequence[int],
    radii: Sequence[Sequence[Radius | str]],
) -> list[Member]:
    """Return radii × seeds members; seed i learns from dataset i, or from the only one.

    Each entry of `radii` holds one radius for every dataset.
    """
    rows = [[radius_of(r, datasets) for r in row] for row in radii]
    prints, count = [d.fingerprint() for d in datasets], len(datasets)
    return [
        Member(seed, row[i % count], i % count, prints[i % count])
        for row in rows
        for i, seed in enumerate(seeds)
    ]
