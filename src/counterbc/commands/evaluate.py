"""counterbc evaluate"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from rich.console import RenderableType
from tyro.conf import Positional

from counterbc.commands.command import Command, Json, plain_table

if TYPE_CHECKING:
    from counterbc.acting.evaluation import Evaluation
    from counterbc.acting.policies import Policies


@dataclass(frozen=True)
class Evaluate(Command):
    """Roll trained policies out in an environment; several runs are compared pair by pair."""

    runs: Positional[tuple[Path, ...]]
    """Folders that counterbc train wrote."""
    env: str | None = None
    """A world, as intersection, or any gymnasium id; by default the demonstrations' own."""
    episodes: int = 100
    """Episodes per policy, from starts that all runs share."""
    act: Literal["mean", "sample"] = "mean"
    """Take the policy's mean action, or sample it as the paper's code does."""
    seed: int = 0
    """Chooses the starts."""
    video: Path | None = None
    """Film the first policy of the first run: a .gif, or .mp4 with the video extra."""

    def run(self) -> tuple[Json, list[RenderableType]]:
        from counterbc.acting.evaluation import evaluate
        from counterbc.acting.policies import Policies
        from counterbc.acting.video import check_video, film
        from counterbc.errors import OptionError

        if not self.runs:
            raise OptionError("no runs were given; name one folder or more")
        if self.video is not None:
            check_video(self.video)
        runs = [Policies.load(folder) for folder in self.runs]
        seeds = [[m.seed for m in p.members] for p in runs]
        for folder, own in zip(self.runs, seeds, strict=True):
            if own != seeds[0]:
                raise OptionError(
                    f"{self.runs[0]} has policies of seeds {seeds[0]}, {folder} of {own}; runs are "
                    "compared pair by pair, so give runs with the same seeds"
                )
        results = [
            evaluate(p, self.env, episodes=self.episodes, act=self.act, seed=self.seed)
            for p in runs
        ]
        compared = [
            self._entry(*run, results[0]) for run in zip(self.runs, runs, results, strict=True)
        ]
        said: Json = {"env": results[0].env, "act": self.act, "seed": self.seed}
        said["runs"] = [entry for entry, _ in compared]
        measured = [name.replace("_", " ") for name in results[0].measures]
        columns = ["run", "method", "policies", "return [95 %]", *measured]
        columns += ["above the first run", "p (Bonferroni)"] if len(runs) > 1 else []
        title = f"{results[0].env}, act={self.act}, {self.episodes} episodes per policy"
        shown: list[RenderableType] = [title, plain_table(columns, [row for _, row in compared])]
        if self.video is not None:
            film(runs[0], results[0].env, self.video, self.act, self.seed)
            said["video"] = str(self.video)
            shown.append(f"Film: {self.video}")
        return said, shown

    def _entry(
        self, folder: Path, policies: Policies, result: Evaluation, first: Evaluation
    ) -> tuple[Json, list[str]]:
        """A run for machines, and its row for people."""
        from counterbc.acting.evaluation import compare

        entry: Json = {
            "folder": str(folder),
            "method": policies.method,
            "interval": asdict(result.interval),
            "returns": result.returns.tolist(),
            "lengths": result.lengths.tolist(),
            "measures": {
                name: {"interval": asdict(interval), "values": result.measures[name].tolist()}
                for name, interval in result.measure_intervals.items()
            },
        }
        healthy = len(policies) - int(policies.diverged.sum())
        count = str(healthy) if healthy == len(policies) else f"{healthy} of {len(policies)}"
        row = [str(folder), policies.method, count, str(result.interval)]
        row += [str(interval) for interval in result.measure_intervals.values()]
        others = len(self.runs) - 1
        if others and result is not first:
            difference = compare(result, first)
            known = math.isfinite(difference.p)
            p = min(1.0, difference.p * others) if known else math.nan
            entry["above_first"] = asdict(difference.interval) | {"p_bonferroni": p}
            row += [str(difference.interval), f"{p:.2g}" if known else "–"]
        elif others:
            row += ["", ""]
        return entry, row
