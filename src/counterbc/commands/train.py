"""counterbc train"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import RenderableType
from tyro.conf import UseAppendAction

from counterbc.commands.command import Json, suggestion
from counterbc.commands.data_command import DATA_OPTIONS
from counterbc.commands.method_command import MethodCommand

if TYPE_CHECKING:
    from counterbc.acting.policies import Policies
    from counterbc.data.demonstrations import Demonstrations


@dataclass(frozen=True, kw_only=True)
class Train(MethodCommand):
    """Train policies from demonstrations, all seeds at once."""

    seeds: int | None = None
    """Number of policies to train, with seeds 0, 1, …; by default 1."""
    out: Path = Path("run")
    """The folder to write."""
    resume: bool = False
    """Resume a training that was interrupted; repeat its options."""
    start: Path | None = None
    """Continue from the policies in this folder, with the given demonstrations."""
    pairs: int | None = None
    """Learn from a random subset of this many pairs."""
    pairs_seed: int = 0
    """The seed that chooses the subset of --pairs."""
    expert: UseAppendAction[tuple[str, ...]] = ()
    """Operator in the expert subset, instead of a mask 'expert' of the file; repeat it for
    several."""

    @classmethod
    def option_notes(cls) -> dict[str, str]:
        from counterbc.data.needs import need_text
        from counterbc.methods import METHODS

        needs = {name: method.weighting.needs for name, method in METHODS.items()}
        notes = [f"{m} needs {' and '.join(map(need_text, n))}" for m, n in needs.items() if n]
        return {**super().option_notes(), "method": "; ".join(notes) + "."}

    def run(self) -> tuple[Json, list[RenderableType]]:
        from counterbc.acting.policies import Policies
        from counterbc.files import check_free
        from counterbc.trainer import train

        if not self.resume:
            check_free(self.out)
        settings = self.checked_settings()
        start = None if self.start is None else Policies.load(self.start)
        demos = self._demonstrations()
        policies = train(
            demos, self.method, seeds=self.seeds, preset=self.preset, device=self.device,
            out=self.out, resume=self.resume, start=start, **settings,
        )  # fmt: skip
        payload: Json = {"folder": str(self.out), **policies.config}
        payload["diverged"] = policies.names(policies.diverged)
        payload["final_loss"] = _final(policies, "loss")
        output: list[RenderableType] = [repr(policies)]
        if policies.method != self.method:
            kind = type(policies.policy).__name__
            output.append(
                f"  method   {policies.method}, not {self.method}: without --radius, a {kind} has "
                "no counterfactuals"
            )
        output += [f"  chosen   {text}" for text in _chosen(policies)]
        if settings.get("held_out"):
            from counterbc.experiments.plots import loss_figure

            payload["held_out_error"] = _final(policies, "held_out")
            title = f"{policies.method} on {demos.source or 'demonstrations'}"
            assert policies.curve is not None
            files = loss_figure(policies.curve, title, self.out, "loss")
            output.append(f"  loss     {files[0]}")
        step = suggestion("evaluate", self.out)
        if demos.env is None:
            step = suggestion("export", self.out, self.out.with_suffix(".onnx"))
            step += f"\nIn an environment of yours: {suggestion('evaluate', self.out)} --env NAME"
        if policies.diverged.all():
            step = suggestion("inspect", *self.demos, *self.as_typed(*DATA_OPTIONS))
            step += "; every member diverged"
        output.append(f"\nWritten to {self.out}. Next: {step}")
        return payload, output

    def status(self, payload: Json) -> int:
        """Return 1 if every member diverged: the run is written, but no policy can act."""
        return int(len(payload["diverged"]) == len(payload["members"]))

    def _demonstrations(self) -> Demonstrations:
        """Return the pairs to learn from."""
        demos = self.read(self.demos)
        if self.expert:
            names = tuple(e.name for e in demos.subset(operator=self.expert).episodes)
            demos = replace(demos, masks={**demos.masks, "expert": names})
        return demos if self.pairs is None else demos.sample_pairs(self.pairs, self.pairs_seed)


def _chosen(policies: Policies) -> list[str]:
    """Return what was chosen from the data, in sentences."""
    choices = policies.run_config.choices
    return [text for c in choices for text in c.get("sentences", [c.get("explanation")])]


def _final(policies: Policies, name: str) -> list[float] | None:
    values = getattr(policies.curve, name)
    return None if values is None else [round(float(x), 6) for x in values[-1]]
