"""counterbc evaluate"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from rich.console import RenderableType
from tyro.conf import Positional

from counterbc.commands.command import Command, Json, plain_table


@dataclass(frozen=True)
class Evaluate(Command):
    """Roll trained policies out in an environment; several runs are compared pair by pair."""

    runs: Positional[tuple[Path, ...]]
    """Folders that counterbc train wrote."""
    env: str | None = None
    """intersection, or any gymnasium id; by default the demonstrations' own environment."""
    episodes: int = 100
    """Episodes per policy, from starts that all runs share."""
    act: Literal["mean", "sample"] = "mean"
    """Take the policy's mean action, or sample it as the paper's code does."""
    seed: int = 0
    """Chooses the starts."""
    video: Path | None = None
    """Film the first policy of the first run: a .gif, or .mp4 with the video extra."""

    def run(self) -> tuple[Json, list[RenderableType]]:
        from counterbc.errors import OptionError
        from counterbc.evaluation import compare, evaluate
        from counterbc.files import check_free
        from counterbc.trained import Policies

        if not self.runs:
            raise OptionError("no runs were given; name one folder or more")
        if self.video is not None:
            check_free(self.video)
        runs = [Policies.load(folder) for folder in self.runs]
        results = [
            evaluate(p, self.env, episodes=self.episodes, act=self.act, seed=self.seed)
            for p in runs
        ]
        said: Json = {"env": results[0].env, "act": self.act, "seed": self.seed, "runs": []}
        rows = []
        others = len(results) - 1
        for folder, policies, result in zip(self.runs, runs, results, strict=True):
            entry: dict[str, Any] = {
                "folder": str(folder),
                "method": policies.method,
                "interval": asdict(result.interval),
                "returns": result.returns.tolist(),
                "lengths": result.lengths.tolist(),
            }
            row = [str(folder), policies.method, str(len(policies)), str(result.interval)]
            if others and result is not results[0]:
                difference = compare(result, results[0])
                p = min(1.0, difference.p * others)
                entry["above_first"] = asdict(difference.interval) | {"p_bonferroni": p}
                row += [str(difference.interval), f"{p:.2g}"]
            elif others:
                row += ["", ""]
            said["runs"].append(entry)
            rows.append(row)
        columns = ["run", "method", "policies", "return [95 %]"]
        columns += ["above the first run", "p (Bonferroni)"] if others else []
        title = f"{results[0].env}, act={self.act}, {self.episodes} episodes per policy"
        shown: list[RenderableType] = [plain_table(columns, rows, title)]
        if self.video is not None:
            from counterbc.video import film

            film(runs[0], results[0].env, self.video, self.act, self.seed)
            said["video"] = str(self.video)
            shown.append(f"Film: {self.video}")
        return said, shown
