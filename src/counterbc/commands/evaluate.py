"""counterbc evaluate"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import RenderableType
from tyro.conf import Positional

from counterbc.acting.act import Act
from counterbc.commands.acting_command import ActingCommand
from counterbc.commands.command import Json, plain_table, suggestion
from counterbc.printing import stage

if TYPE_CHECKING:
    from counterbc.acting.evaluation import Evaluation
    from counterbc.acting.policies import Policies


@dataclass(frozen=True)
class EvaluateCommand(ActingCommand):
    """Roll out trained policies in an environment; several runs are compared seed by seed."""

    runs: Positional[tuple[Path, ...]]
    """Folders that counterbc train wrote."""
    env: str | None = None
    """The environment: one of these, or any gymnasium id; by default that of the
    demonstrations."""
    episodes: int = 100
    """Episodes per policy; all runs share the same starts."""
    act: Act = "mean"
    """Act as deployed, which is deterministic except for a flow with a temperature above 0, or
    sample as the paper's code does."""
    seed: int = 0
    """The seed of the starts."""
    video: Path | None = None
    """Film the first policy of the first run to a .gif file, or .mp4 with the video extra."""

    @classmethod
    def option_choices(cls) -> dict[str, Iterable[str]]:
        from counterbc.envs import WORLDS

        return {"env": (*WORLDS, "ID")}

    def run(self) -> tuple[Json, list[RenderableType]]:
        from counterbc.acting.evaluation import evaluate
        from counterbc.acting.video import check_video, film
        from counterbc.envs import recorded_env
        from counterbc.errors import OptionError

        if not self.runs:
            raise OptionError("no runs were given; name one folder or more")
        if self.video is not None:
            check_video(self.video)
        runs = [self.load(folder) for folder in self.runs]
        self._check_seeds(runs)
        env = self.env or recorded_env(runs[0].run_config.env, "the run")
        if self.video is not None and env is not None:  # before the work, which it may not cost
            with stage(f"filming {runs[0].method} in {env}"):
                film(runs[0], env, self.video, self.act, self.seed)
        results = [
            evaluate(p, self.env, episodes=self.episodes, act=self.act, seed=self.seed)
            for p in runs
        ]
        entries = [
            self._entry(*run, results[0]) for run in zip(self.runs, runs, results, strict=True)
        ]
        payload: Json = {"env": results[0].env, "act": self.act, "seed": self.seed, **self.changes}
        payload["runs"] = [entry for entry, _ in entries]
        measures = [name.replace("_", " ") for name in results[0].measures]
        columns = ["run", "method", "policies", "return [95 %]", *measures]
        columns += ["above the first run", "p (Bonferroni)"] if len(runs) > 1 else []
        numbers = [f"{name} {value:g}" for name, value in self.changes.items()]
        episodes = f"{self.episodes} episode{'' if self.episodes == 1 else 's'} per policy"
        title = ", ".join([results[0].env, f"act={self.act}", *numbers, episodes])
        output: list[RenderableType] = [title, plain_table(columns, [row for _, row in entries])]
        payload["next"] = [self._export(results)]
        if self.video is not None:
            payload["video"] = str(self.video)
            output.append(f"Film: {self.video}")
        return payload, output

    def _export(self, results: list[Evaluation]) -> str:
        """Return the command that exports the run with the highest mean return."""
        means = [result.interval.mean for result in results]
        best = max(range(len(means)), key=lambda i: (math.isfinite(means[i]), means[i]))
        typed = self.as_typed("execute", "temperature", "euler", "act")
        return suggestion("export", self.runs[best], *typed)

    def _check_seeds(self, runs: list[Policies]) -> None:
        from counterbc.errors import OptionError

        seeds = [[m.seed for m in policies.members] for policies in runs]
        for folder, run_seeds in zip(self.runs, seeds, strict=True):
            if run_seeds != seeds[0]:
                raise OptionError(
                    f"{self.runs[0]} has policies with seeds {seeds[0]}, {folder} with "
                    f"{run_seeds}; runs are compared seed by seed, so give runs with the same seeds"
                )

    def _entry(
        self, folder: Path, policies: Policies, result: Evaluation, first: Evaluation
    ) -> tuple[Json, list[str]]:
        """Return the JSON object of a run, and its row of the table."""
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
        comparisons = len(self.runs) - 1
        if comparisons and result is not first:
            difference = compare(result, first)
            has_p = math.isfinite(difference.p)
            p = min(1.0, difference.p * comparisons) if has_p else math.nan
            entry["above_first"] = asdict(difference.interval) | {"p_bonferroni": p}
            row += [str(difference.interval), f"{p:.2g}" if has_p else "–"]
        elif comparisons:
            row += ["", ""]
        return entry, row
