"""The result of an inspection: what is in a dataset, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, NamedTuple

PROBLEM_KINDS = (
    "unreadable", "not finite", "shape", "empty", "duplicate", "short", "idle", "outside",
    "saturated", "dominated obs", "dominated action", "constant obs", "constant action",
)  # fmt: skip
"""The kinds of problems, the most serious first."""


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where a problem is; each kind of problem has its own facts."""

    def facts(self) -> dict[str, Any]:
        """Return the facts by the words to print."""
        return {name.replace("_", " "): value for name, value in asdict(self).items()}


@dataclass(frozen=True, kw_only=True)
class EpisodePlace(Place):
    """An episode, such as an empty one."""

    episode: str


@dataclass(frozen=True, kw_only=True)
class UnreadablePlace(EpisodePlace):
    """An episode that cannot be read, and why."""

    reason: str


@dataclass(frozen=True, kw_only=True)
class ShapePlace(EpisodePlace):
    """An array of another shape."""

    array: str
    shape: tuple[int, ...]
    expected: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class NotFinitePlace(EpisodePlace):
    """Values of one dimension that are NaN or infinite: the first row, and how many."""

    dimension: str
    row: int
    values: int


@dataclass(frozen=True, kw_only=True)
class IdlePlace(EpisodePlace):
    """An idle stretch: its first row and its length."""

    row: int
    pairs: int
    action_is_zero: bool


@dataclass(frozen=True, kw_only=True)
class DuplicatePlace(EpisodePlace):
    """An episode and the earlier one that it repeats."""

    same_as: str


@dataclass(frozen=True, kw_only=True)
class ShortPlace(EpisodePlace):
    """An episode and its length."""

    pairs: int


@dataclass(frozen=True, kw_only=True)
class OutsidePlace(Place):
    """A dimension, its pairs outside the bounds, and the first episode with one."""

    dimension: str
    pairs: int
    episode: str


@dataclass(frozen=True, kw_only=True)
class ConstantPlace(Place):
    """A dimension and its only value."""

    dimension: str
    value: float


@dataclass(frozen=True, kw_only=True)
class DominatedPlace(Place):
    """A dimension, its extremes and its standard deviation."""

    dimension: str
    low: float
    high: float
    std: float


@dataclass(frozen=True, kw_only=True)
class SaturatedPlace(Place):
    """A dimension, and how many pairs are at its lower and at its upper end."""

    dimension: str
    low: int
    high: int


@dataclass(frozen=True, kw_only=True)
class Problem:
    """One kind of problem, and where it is."""

    kind: str
    """One of `PROBLEM_KINDS`."""
    count: int
    text: str
    places: tuple[Place, ...] = ()
    """The first few places."""


@dataclass(frozen=True, kw_only=True)
class Dimension:
    """The range of one dimension of the observations or actions."""

    kind: Literal["obs", "action"]
    name: str
    min: float
    mean: float
    max: float
    std: float
    on_low: int | None = None
    """Pairs whose action lies on its declared lower bound."""
    on_high: int | None = None


@dataclass(frozen=True, kw_only=True)
class ActionTarget:
    """An action dimension that is the target of an observed quantity, or its next value."""

    kind: Literal["target", "next observation"]
    action: str
    action_dim: int
    obs: str
    obs_dim: int
    nearness: float
    """Rms distance between action and observation, in standard deviations of the action."""
    correlation: float
    """Between that distance and the movement of the observation until the next step."""


@dataclass(frozen=True, kw_only=True)
class Trap:
    """A fact that misleads whoever learns from a recording."""

    kind: str
    dimensions: tuple[str, ...]
    text: str
    """What it is and what it means."""
    step: str
    """What to do about it."""


class Lengths(NamedTuple):
    """Pairs in the shortest and in the longest episode."""

    min: int
    max: int


@dataclass(frozen=True)
class Bounds:
    """The declared bounds of each action dimension."""

    low: tuple[float, ...]
    high: tuple[float, ...]


@dataclass(frozen=True, kw_only=True)
class InspectionReport:
    """What is in one or several datasets that were inspected as one."""

    source: str
    episodes: int
    pairs: int
    """Pairs that are learned from."""
    episode_length: Lengths
    obs_shape: tuple[int, ...]
    obs_keys: Mapping[str, int]
    """The width of each part of a vector observation."""
    action_size: int
    bounds: Bounds | None
    action_set: str
    actions_outside_bounds: int
    actions_are: str | None
    """Whether actions are those asked or taken; None where unknown, or where datasets differ."""
    relative: str | None
    """What the data declare their actions to be relative to; None where they declare nothing, or
    where datasets differ."""
    angles: tuple[str, ...]
    """Observation dimensions that the data declare to be angles."""
    operators: Mapping[str, int]
    """Episodes of each operator, and 0 for one that a file only names."""
    successes: int | None
    mean_return: float | None
    """Mean over episodes; None unless all of them have rewards."""
    env: str | None
    rate: float | None
    """Pairs per second; None where unknown, or where datasets differ."""
    masks: Mapping[str, int]
    """Episodes in each mask."""
    left_out: tuple[str, ...]
    """What the files hold and was not read."""
    dimensions: tuple[Dimension, ...]
    action_targets: tuple[ActionTarget, ...]
    """The action dimensions that are targets of an observed quantity, or its next value."""
    suggested_relative: str | None
    """What to make the actions relative to, where they are targets and nothing is declared."""
    wrapped_angles: tuple[str, ...]
    """Observation dimensions that are angles which jump by a full turn."""
    traps: tuple[Trap, ...]
    """Facts that mislead whoever learns from these data."""
    idle_after: int
    """Number of pairs with the same action that counts as idle."""
    problems: tuple[Problem, ...]
    fingerprint: str | None
    """The fingerprint these data have once loaded, or None if they cannot be loaded."""

    def without(self, kinds: Container[str]) -> InspectionReport:
        """Return the report without problems of these kinds."""
        return replace(self, problems=tuple(p for p in self.problems if p.kind not in kinds))

    def as_dict(self) -> dict[str, Any]:
        """Return the report as JSON has it."""
        return asdict(self) | {"episode_length": self.episode_length._asdict()}
