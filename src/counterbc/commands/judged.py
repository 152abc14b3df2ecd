"""What commands that judge demonstrations have in common."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from tyro.conf import UseAppendAction

from counterbc.commands.command import Command, read

if TYPE_CHECKING:
    from counterbc.diagnosis.meaning import Meaning
    from counterbc.selection.held_out import HeldOut
    from counterbc.selection.radius import RadiusSearch


@dataclass(frozen=True, kw_only=True)
class Judged(Command):
    """Options of how pairs are judged."""

    radius: UseAppendAction[tuple[float | Literal["auto"], ...]] = ()
    """Δ of the counterfactuals, where actions span [-1, 1]: auto, which cross-validates it, or a
    number, or one per action dimension. By default auto."""
    folds: int | None = None
    """Into how many parts the episodes, or with three operators and more the operators, are dealt;
    each is judged by policies of the others; by default 5."""
    repeats: int | None = None
    """How often that is done anew, to average over; by default 4."""
    seed: int | None = None
    """Deals them; by default 0."""
    rounds: int | None = None
    """After each but the last, episodes that it found odd are no longer learned from; by default
    3."""
    steps: int | None = None
    """Gradient steps of each policy; by default 3000, and while the radius is chosen those of
    `counterbc radius`."""
    obs: UseAppendAction[tuple[str, ...]] = ()
    """Observation keys to read, one --obs each; by default all that are not images."""
    format: str | None = None
    """robomimic, d4rl, npz, csv, lerobot or minari; by default found out."""
    device: str | None = None
    """cpu or cuda; by default cuda where there is one."""

    def judge(self, paths: tuple[Path, ...]) -> Meaning:
        from counterbc.diagnosis.meaning import meaning

        return meaning(
            read(paths, self.obs, format=self.format), radius=self.delta, judges=self.judges,
            search=self.search, device=self.device,
        )  # fmt: skip

    @property
    def delta(self) -> float | tuple[float, ...] | None:
        """The radius asked for; None: from the data."""
        from counterbc.errors import OptionError

        numbers = tuple(r for r in self.radius if not isinstance(r, str))
        if len(self.radius) > 1 and len(numbers) < len(self.radius):
            raise OptionError("radius is auto and something else; give auto alone, or numbers")
        return None if not numbers else numbers[0] if len(numbers) == 1 else numbers

    @property
    def search(self) -> RadiusSearch | None:
        """How Δ is looked for, as `counterbc radius` does with the same steps."""
        from counterbc.selection.radius import RadiusSearch

        return None if self.steps is None else RadiusSearch(steps=self.steps)

    @property
    def judges(self) -> HeldOut:
        from counterbc.selection.held_out import HeldOut

        names = ("folds", "repeats", "rounds", "steps", "seed")
        asked = {name: getattr(self, name) for name in names}
        return HeldOut(**{k: v for k, v in asked.items() if v is not None})
