"""counterbc train"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from rich.console import RenderableType
from tyro.conf import Positional, UseAppendAction

from counterbc.commands.command import Command, Json, read
from counterbc.errors import OptionError

Family = Literal["gaussian-mlp", "gaussian-gru", "mixture", "gaussian-cnn", "gaussian-cnn-gru"]


@dataclass(frozen=True)
class Train(Command):
    """Train policies from demonstrations, all seeds at once."""

    demos: Positional[tuple[Path, ...]]
    """Files or folders of demonstrations; several are merged."""
    method: str = "counter-bc"
    """counter-bc, bc, weighted-bc, bc-rnn, bcnd; ileed, which needs operators; discriminator-bc,
    which needs --expert; or advantage-bc, which needs rewards."""
    radius: UseAppendAction[tuple[float | Literal["auto"], ...]] = ()
    """Δ of the counterfactuals, where actions span [-1, 1]: auto, which cross-validates it, or a
    number, or one per action dimension. By default auto; the presets paper and authors have their
    own, and policies that --start continues keep theirs."""
    obs: UseAppendAction[tuple[str, ...]] = ()
    """Observation keys to read, one --obs each; by default all that are not images, of
    robosuite's files those that robomimic trains on."""
    format: str | None = None
    """robomimic, d4rl, npz, csv, lerobot or minari; by default found out."""
    seeds: int | None = None
    """How many policies are trained, with seeds 0, 1, …; by default one."""
    preset: str = "default"
    """default, paper (the paper's text) or authors (their released code)."""
    out: Path = Path("run")
    """The folder to write."""
    resume: bool = False
    """Finish a training that was stopped; give the same options."""
    start: Path | None = None
    """Continue from the policies in this folder, on these demonstrations."""
    steps: int | None = None
    """Gradient steps."""
    batch: int | None = None
    """Pairs per step; by default a tenth of the pairs."""
    hidden: UseAppendAction[tuple[int, ...]] = ()
    """Units of a hidden layer, one --hidden each."""
    policy: Family | None = None
    """The family of policies, in place of the method's own; a mixture holds several modes, those
    with a CNN are taken by themselves where observations are images."""
    modes: int | None = None
    """How many Gaussians a mixture has; 5 by default."""
    shape: Literal["ball", "box"] | None = None
    """The shape of the counterfactual sets."""
    counterfactuals: int | None = None
    """How many actions are drawn from each set."""
    limited: bool | None = None
    """Limit counterfactuals to the feasible actions, as the paper's text asks."""
    resample: bool = False
    """Draw counterfactuals anew each epoch instead of once."""
    feasible: Literal["keep", "project"] | None = None
    """What to do with recorded actions outside their bounds."""
    learning_rate: float | None = None
    """Of Adam."""
    held_out: float = 0.0
    """Keep this share of the episodes apart and draw the loss on them as a curve."""
    pairs: int | None = None
    """Learn from a random subset of so many pairs (chosen with --pairs-seed)."""
    pairs_seed: int = 0
    """Chooses the subset of --pairs."""
    operator: UseAppendAction[tuple[str, ...]] = ()
    """Learn from these operators only, one --operator each."""
    mask: str | None = None
    """Learn from the episodes that this mask of the file names."""
    expert: UseAppendAction[tuple[str, ...]] = ()
    """Operators that are the expert subset, in place of a mask 'expert' of the file."""
    device: str | None = None
    """cpu or cuda; by default cuda where there is one."""

    def run(self) -> tuple[Json, list[RenderableType]]:
        from counterbc.acting.policies import Policies
        from counterbc.trainer import train

        if not self.resume:
            from counterbc.files import check_free

            check_free(self.out)
        demos = read(self.demos, self.obs, format=self.format)
        if self.operator or self.mask:
            demos = demos.subset(operator=self.operator or None, mask=self.mask)
        if self.expert:
            names = tuple(e.name for e in demos.subset(operator=self.expert).episodes)
            demos = replace(demos, masks={**demos.masks, "expert": names})
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
        shown += [f"  chosen   {c['explanation']}" for c in policies.config["radius_choices"]]
        if self.held_out:
            from counterbc.experiments.plots import loss_figure

            said["held_out_loss"] = _last(policies, "held_out")
            title = f"{policies.method} on {demos.source or 'demonstrations'}"
            assert policies.curve is not None
            files = loss_figure(policies.curve, title, self.out, "loss")
            shown.append(f"  loss     {files[0]}")
        env = " --env ENVIRONMENT" if demos.env is None else ""
        shown.append(f"\nWritten to {self.out}. Next: counterbc evaluate {self.out}{env}")
        return said, shown

    def _changes(self) -> dict[str, Any]:
        """The settings that were given."""
        given = {
            "radius": self._radius(),
            "steps": self.steps,
            "batch": self.batch,
            "hidden": self.hidden or None,
            "policy": self.policy,
            "modes": self.modes,
            "shape": self.shape,
            "counterfactuals": self.counterfactuals,
            "limited": self.limited,
            "feasible": self.feasible,
            "learning_rate": self.learning_rate,
            "resample": self.resample or None,
            "held_out": self.held_out or None,
        }
        return {k: v for k, v in given.items() if v is not None}

    def _radius(self) -> Any:
        if not self.radius:
            return "auto" if self.preset == "default" and self.start is None else None
        if "auto" in self.radius and len(self.radius) > 1:
            raise OptionError("radius is auto and something else; give auto alone, or numbers")
        return self.radius[0] if len(self.radius) == 1 else self.radius


def _last(policies: Any, name: str) -> list[float] | None:
    values = getattr(policies.curve, name)
    return None if values is None else [round(float(x), 6) for x in values[-1]]
