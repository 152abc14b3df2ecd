"""What one member of a population was trained with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from counterbc.acting import checks
from counterbc.data.offsets import NO_OFFSETS, Offsets


def radius_text(radius: tuple[float, ...]) -> str:
    """Return the radius as text: one number if all dimensions agree, otherwise one each."""
    return "/".join(f"{r:g}" for r in (radius[:1] if len(set(radius)) == 1 else radius))


@dataclass(frozen=True)
class Member:
    """One independently trained member of a population."""

    seed: int
    radius: tuple[float, ...]
    """Δ of each action dimension."""
    dataset: int = 0
    """The number of the dataset it learns from."""
    fingerprint: str = ""
    """The hash of that dataset."""
    lag: tuple[float, ...] = (0.0,)
    """Steps by which actions are shown late: one number, or one per operator of the dataset."""
    steps: int | None = None
    """Gradient steps after which this member stops; None stands for all of the training."""
    offsets: Offsets = NO_OFFSETS
    """The offset that is removed from the actions of each operator who has one."""

    @property
    def name(self) -> str:
        lag = f", lag {'/'.join(f'{k:g}' for k in self.lag)}" if any(self.lag) else ""
        steps = "" if self.steps is None else f", {self.steps} steps"
        names = " and ".join(operator for operator, _ in self.offsets)
        offsets = f", without the offset of {names}" if names else ""
        return f"seed {self.seed}, radius {radius_text(self.radius)}{lag}{steps}{offsets}"

    @staticmethod
    def of(fields: dict[str, Any]) -> Member:
        """Return the member that a run folder describes."""
        steps = fields.get("steps")  # the first release had neither steps, lag nor offsets
        return Member(
            checks.read_seed(fields["seed"]),
            tuple(map(float, fields["radius"])),
            int(fields["dataset"]),
            str(fields["fingerprint"]),
            lag=tuple(map(float, fields.get("lag", (0.0,)))),
            steps=None if steps is None else int(steps),
            offsets=tuple((str(o), tuple(map(float, b))) for o, b in fields.get("offsets", ())),
        )
