"""counterbc train"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from rich.console import RenderableType
from tyro.conf import Positional

from counterbc.commands.command import Command, Json, read


@dataclass(frozen=True)
class Train(Command):
    """Train policies from demonstrations, all seeds at once."""

    demos: Positional[tuple[Path, ...]]
    """Files of demonstrations; several are merged."""
    method: str = "counter-bc"
    """counter-bc, bc, weighted-bc, bc-rnn or bcnd."""
    radius: tuple[float, ...] | None = None
    """Δ of the counterfactuals, where actions span [-1, 1]: one number, or one per action
    dimension. By default the preset's: 0.4."""
    seeds: int = 1
    """How many policies are trained, with seeds 0, 1, …"""
    preset: str = "default"
    """default, paper (the paper's text) or authors (their released code)."""
    out: Path = Path("run")
    """The folder to write."""
    resume: bool = False
    """Finish a training that was stopped; give the same options."""
    start: Path | None = None
    """Continue from the policies in this folder, on these demonstrations."""
    steps: int | None = None
    """Gradient steps; by default 10,000."""
    batch: int | None = None
    """Pairs per step; by default a tenth of the pairs, at most 256."""
    hidden: tuple[int, ...] | None = None
    """Units of each hidden layer; by default 64 64."""
    shape: Literal["ball", "box"] | None = None
    """The shape of the counterfactual sets."""
    counterfactuals: int | None = None
    """How many actions are drawn from each set; by default 50."""
    resample: bool = False
    """Draw counterfactuals anew each epoch instead of once."""
    feasible: Literal["keep", "project"] | None = None
    """What to do with recorded actions outside their bounds."""
    learning_rate: float | None = None
    held_out: float = 0.0
    """Keep this share of the episodes apart and draw the loss on them as a curve."""
    pairs: int | None = None
    """Learn from a random subset of so many pairs (chosen with --pairs-seed)."""
    pairs_seed: int = 0
    operator: tuple[str, ...] | None = None
    """Learn from these operators only."""
    mask: str | None = None
    """Learn from the episodes that this mask of the file names."""
    device: str | None = None
    """cpu or cuda; by default cuda where there is one."""

    def run(self) -> tuple[Json, list[RenderableType]]:
        from counterbc.trained import Policies
        from counterbc.training import train

        if not self.resume:
            from counterbc.files import check_free

            check_free(self.out)
        demos = read(self.demos)
        if self.operator or self.mask:
            demos = demos.subset(operator=self.operator, mask=self.mask)
        if self.pairs is not None:
            demos = demos.sample_pairs(self.pairs, self.pairs_seed)
        policies = train(
            demos, self.method, seeds=self.seeds, preset=self.preset, device=self.device,
            out=self.out, resume=self.resume,
            start=None if self.start is None else Policies.load(self.start),
            **self._changes(),
        )  # fmt: skip
        said: Json = {"folder": str(self.out), **policies.config}
        said["diverged"] = policies.names(policies.diverged)
        said["final_loss"] = _last(policies, "loss")
        shown: list[RenderableType] = [repr(policies)]
        if self.held_out:
            from counterbc.studies.plots import loss_figure

            said["held_out_loss"] = _last(policies, "held_out")
            title = f"{policies.method} on {demos.source or 'demonstrations'}"
            assert policies.curve is not None
            files = loss_figure(policies.curve, title, self.out, "loss")
            shown.append(f"  loss     {files[0]}")
        env = f" --env {demos.env}" if demos.env is None else ""
        shown.append(f"\nWritten to {self.out}. Next: counterbc evaluate {self.out}{env}")
        return said, shown

    def _changes(self) -> dict[str, Any]:
        """The settings that were given."""
        radius: float | tuple[float, ...] | None = self.radius
        if self.radius is not None and len(self.radius) == 1:
            radius = self.radius[0]
        given = {
            "radius": radius,
            "steps": self.steps,
            "batch": self.batch,
            "hidden": self.hidden,
            "shape": self.shape,
            "counterfactuals": self.counterfactuals,
            "feasible": self.feasible,
            "learning_rate": self.learning_rate,
            "resample": self.resample or None,
            "held_out": self.held_out or None,
        }
        return {k: v for k, v in given.items() if v is not None}


def _last(policies: Any, name: str) -> list[float] | None:
    values = getattr(policies.curve, name)
    return None if values is None else [round(float(x), 6) for x in values[-1]]
