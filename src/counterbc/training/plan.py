"""What to train: the members of a population, their pairs and scales, the method and settings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from counterbc.acting.member import Member
from counterbc.acting.policies import Policies
from counterbc.data.demonstrations import Array, Demonstrations
from counterbc.data.needs import operator_names
from counterbc.data.offsets import remove_offsets
from counterbc.data.radii import Radius, radius_of
from counterbc.data.scaling import Scaling
from counterbc.errors import OptionError
from counterbc.methods import Method
from counterbc.settings import Settings
from counterbc.training.censoring import censored_method, is_censored


class Choice(Protocol):
    """A number that was chosen from the data, with its evidence."""

    def as_dict(self) -> dict[str, Any]: ...


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
    """The episodes of each dataset that only the held-out loss curve sees."""
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
        method = censored_method(method)
    if lists is None:
        lists = [datasets[m.dataset].learned for m in members]
    if start is None:
        keys = [(m.dataset, m.offsets) for m in members]
        scalings = {
            key: Scaling.fit(
                remove_offsets(datasets[key[0]], key[1]), settings.scale_obs, settings.scale_actions
            )
            for key in dict.fromkeys(keys)
        }
        scales = Scaling.stack([scalings[key] for key in keys])
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
