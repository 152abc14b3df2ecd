"""counterbc demonstrate"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import RenderableType
from tyro.conf import Positional, UseAppendAction

from counterbc.commands.command import COPIES, Command, Json, suggestion
from counterbc.commands.images import first_training
from counterbc.printing import stage


@dataclass(frozen=True)
class Demonstrate(Command):
    """Record synthetic demonstrations in one of the worlds."""

    world: Positional[str]
    """The environment."""
    noise: str | None = None
    """The noise on the expert's actions; by default uniform."""
    sigma: float | None = None
    """The size of the noise, in units in which actions span [-1, 1]; by default 0.5."""
    teacher: str | None = None
    """A model of a human, or a crowd of them, instead of a noise; the quick ones react sooner than
    people can, and the synthetic ones act in the world can only."""
    pairs: int = 400
    """Number of state-action pairs to record."""
    actions_are: str = "asked"
    """What to record: the actions asked for, or those taken, cut at the bounds of the world."""
    also: UseAppendAction[tuple[str, ...]] = ()
    """What to record beside the usual observation, where the world offers it: speed in
    car-racing."""
    seed: int = 0
    """The seed of the starts and of the errors."""
    out: Path | None = None
    """The file to write: robomimic HDF5 (.hdf5), or .npz; by default demos.hdf5 or the next free
    name."""

    @classmethod
    def option_choices(cls) -> dict[str, Iterable[str]]:
        from counterbc.data.censoring import ACTIONS_ARE
        from counterbc.demonstrators import NOISES, TEACHERS
        from counterbc.envs import WORLDS

        return {
            "world": WORLDS, "noise": NOISES, "teacher": TEACHERS, "actions_are": ACTIONS_ARE,
        }  # fmt: skip

    def _also_observed(self) -> dict[str, bool]:
        """Return the options of the world that ask for further observations."""
        from counterbc.envs import find_world
        from counterbc.errors import unknown

        offered = find_world(self.world).optional_obs
        for name in self.also:
            if name not in offered:
                raise unknown("observation", name, offered or (f"none in {self.world}",))
        return dict.fromkeys(self.also, True)

    def run(self) -> tuple[Json, list[RenderableType]]:
        from counterbc.acting.intervals import mean_interval
        from counterbc.demonstrators import NO_ERROR, demonstrate, find_teacher, returns
        from counterbc.files import check_free, check_suffix, next_free

        out = self.out or next_free(Path("demos.hdf5"))
        check_free(out)
        check_suffix(out, COPIES, "file")
        teacher = find_teacher(self.teacher, self.noise, self.sigma, world=self.world)
        actions_are: Any = self.actions_are  # any other word is refused
        observed = self._also_observed()
        with stage(f"recording {self.pairs:,} pairs in {self.world}"):
            demos = demonstrate(
                self.world, teacher, self.pairs, self.seed, actions_are=actions_are, **observed
            )
        with stage("comparing the teacher's returns with the expert's"):
            by_teacher, by_expert = (
                returns(self.world, demonstrator, len(demos), self.seed, actions_are=actions_are)
                for demonstrator in (teacher, NO_ERROR)
            )
        teacher_return, expert = mean_interval(by_teacher), mean_interval(by_expert)
        difference = mean_interval(by_teacher - by_expert)  # paired by start
        demos.save(out)
        operators = len(demos.operators) or 1  # a teacher without a name
        payload: Json = {
            "file": str(out),
            "episodes": len(demos),
            "pairs": demos.pairs,
            "operators": operators,
            "rate": demos.rate,
            "actions_are": demos.actions_are,
            "mean_return": teacher_return.mean,
            "mean_return_se": teacher_return.se,
            "expert_return": expert.mean,
            "expert_return_se": expert.se,
            "difference": difference.mean,
            "difference_se": difference.se,
            "fingerprint": demos.fingerprint(),
            "next": [suggestion("train", out, *first_training(demos, len(demos)))],
        }
        people = "1 operator" if operators == 1 else f"{operators} operators"
        error = f" ± {difference.se:.2f} (standard error over episodes)" if len(demos) > 1 else ""
        text = (
            f"{demos!r}\n\n"
            f"Mean return of whole episodes by {people}: {teacher_return.mean:.2f}. The expert "
            f"without errors earns {expert.mean:.2f}\nfrom the same starts: the difference is "
            f"{difference.mean:+.2f}{error}.\n"
            f"Written to {out}."
        )
        return payload, [text]
