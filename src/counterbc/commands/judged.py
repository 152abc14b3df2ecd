"""What commands that judge demonstrations have in common."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tyro.conf import UseAppendAction

from counterbc.commands.command import Command, read

if TYPE_CHECKING:
    from counterbc.meant import Meaning


@dataclass(frozen=True, kw_only=True)
class Judged(Command):
    """Options of how pairs are judged; the numbers' defaults are those of `counterbc.meaning`."""

    radius: UseAppendAction[tuple[float, ...]] = ()
    """Δ of the counterfactuals, where actions span [-1, 1]; give it once, or once per action
    dimension. By default the preset's."""
    folds: int | None = None
    """Into how many parts the episodes are dealt; each is judged by policies of the others."""
    repeats: int | None = None
    """How often that is done anew, to average over."""
    seed: int | None = None
    """Deals the episodes and begins the networks."""
    steps: int | None = None
    """Gradient steps."""
    obs: UseAppendAction[tuple[str, ...]] = ()
    """Observation keys to read, one --obs each; by default all that are not images."""
    format: str | None = None
    """robomimic, d4rl, npz, csv, lerobot or minari; by default found out."""
    device: str | None = None
    """cpu or cuda; by default cuda where there is one."""

    def judge(self, paths: tuple[Path, ...]) -> Meaning:
        from counterbc.meant import meaning

        return meaning(read(paths, self.obs, format=self.format), **self.given())

    def given(self) -> dict[str, Any]:
        """The options that were given, for `counterbc.meaning`."""
        options = {
            "radius": self.radius[0] if len(self.radius) == 1 else self.radius or None,
            "folds": self.folds,
            "repeats": self.repeats,
            "seed": self.seed,
            "steps": self.steps,
            "device": self.device,
        }
        return {k: v for k, v in options.items() if v is not None}
