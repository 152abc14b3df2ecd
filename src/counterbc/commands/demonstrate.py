"""counterbc demonstrate"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from rich.console import RenderableType
from tyro.conf import Positional

from counterbc.commands.command import Command, Json


@dataclass(frozen=True)
class Demonstrate(Command):
    """Record synthetic demonstrations in one of the worlds."""

    world: Positional[str]
    """intersection"""
    noise: str = "uniform"
    """How the teacher errs: uniform, gaussian or epsilon-greedy."""
    sigma: float = 0.5
    """How much the teacher errs, where actions span [-1, 1]."""
    pairs: int = 400
    """How many state-action pairs are shown."""
    seed: int = 0
    out: Path = Path("demos.hdf5")
    """The file to write, in robomimic's layout."""

    def run(self) -> tuple[Json, list[RenderableType]]:
        from counterbc.demonstrators import NOISES, demonstrate, expert_return
        from counterbc.errors import unknown
        from counterbc.files import check_free

        check_free(self.out)
        if self.noise not in NOISES:
            raise unknown("noise", self.noise, NOISES)
        demos = demonstrate(self.world, NOISES[self.noise](self.sigma), self.pairs, self.seed)
        expert = expert_return(self.world, 1000, 0)
        demos.save(self.out)
        said: Json = {
            "file": str(self.out),
            "episodes": len(demos),
            "pairs": demos.pairs,
            "mean_return": demos.mean_return,
            "expert_return": expert,
            "fingerprint": demos.fingerprint(),
        }
        text = (
            f"{demos!r}\n  expert     {expert:.2f} on average, without errors\n\n"
            f"Written to {self.out}. Next: counterbc train {self.out}"
        )
        return said, [text]
