"""counterbc demonstrate"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro
from rich.console import RenderableType
from tyro.conf import Positional

from counterbc.commands.command import Command, Json
from counterbc.envs import WORLDS


@dataclass(frozen=True)
class Demonstrate(Command):
    """Record synthetic demonstrations in one of the worlds."""

    world: Annotated[Positional[str], tyro.conf.arg(help=", ".join(WORLDS))]
    noise: str | None = None
    """How the teacher errs: uniform (the default), gaussian or epsilon-greedy."""
    sigma: float | None = None
    """How much the teacher errs, where actions span [-1, 1]; by default 0.5."""
    teacher: str | None = None
    """Instead of a noise, a model of a human: novice, typical, skilled, or a crowd."""
    pairs: int = 400
    """How many state-action pairs are shown."""
    seed: int = 0
    out: Path = Path("demos.hdf5")
    """The file to write, in robomimic's layout."""

    def run(self) -> tuple[Json, list[RenderableType]]:
        from counterbc.acting.intervals import mean_interval
        from counterbc.demonstrators import Chain, demonstrate, find_teacher, returns
        from counterbc.files import check_free

        check_free(self.out)
        teacher = find_teacher(self.teacher, self.noise, self.sigma)
        demos = demonstrate(self.world, teacher, self.pairs, self.seed)
        earned, expert = (
            mean_interval(returns(self.world, who, len(demos), self.seed))
            for who in (teacher, Chain(()))
        )
        demos.save(self.out)
        operators = len(demos.operators) or 1  # a teacher without a name
        people = "1 operator" if operators == 1 else f"{operators} operators"
        said: Json = {
            "file": str(self.out),
            "episodes": len(demos),
            "pairs": demos.pairs,
            "operators": operators,
            "mean_return": earned.mean,
            "mean_return_se": earned.se,
            "expert_return": expert.mean,
            "expert_return_se": expert.se,
            "fingerprint": demos.fingerprint(),
        }
        text = (
            f"{demos!r}\n\nShown by {people}, "
            f"return {earned.mean:.2f} ± {earned.se:.2f} in whole episodes; "
            f"the expert's, without errors from the same starts: {expert.mean:.2f} "
            f"± {expert.se:.2f}.\n"
            f"Written to {self.out}. Next: counterbc train {self.out}"
        )
        return said, [text]
