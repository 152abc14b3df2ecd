"""counterbc train"""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import RenderableType
from tyro.conf import UseAppendAction

from counterbc.commands.command import Json, suggestion
from counterbc.commands.data_command import DATA_OPTIONS
from counterbc.commands.images import keys_with_cameras
from counterbc.commands.method_command import MethodCommand

if TYPE_CHECKING:
    from counterbc.acting.policies import Policies
    from counterbc.data.demonstrations import Demonstrations
    from counterbc.methods import Method
    from counterbc.settings import Settings


_FILES: tuple[str, ...] = (".csv", ".h5", ".hdf5", ".html", ".json", ".log", ".mp4", ".npz")
_FILES += (".onnx", ".parquet", ".pkl", ".png", ".pt", ".pth", ".safetensors", ".toml", ".txt")
_FILES += (".yaml", ".zip")
_QUICK, _QUICK_STEPS = 600.0, (5000, 2000, 1000, 500, 200)
"""Seconds of a quick training, and the steps that it may have."""


@dataclass(frozen=True, kw_only=True)
class Train(MethodCommand):
    """Train policies from demonstrations, all seeds at once."""

    seeds: int | None = None
    """Number of policies to train, with seeds 0, 1, …; by default 1."""
    out: Path | None = None
    """The folder to write; by default run or the next free name, such as run-2. With --resume the
    last of these."""
    resume: bool = False
    """Resume a training that was interrupted; repeat its options. If there is none, a new one
    starts, so that a job may be repeated until it is done."""
    start: Path | None = None
    """Continue from the policies in this folder, with the given demonstrations."""
    pairs: int | None = None
    """Learn from a random subset of this many pairs."""
    pairs_seed: int = 0
    """The seed that chooses the subset of --pairs."""
    expert: UseAppendAction[tuple[str, ...]] = ()
    """Operator in the expert subset, instead of a mask 'expert' of the file; for several,
    list them or repeat it."""

    def advise(self, step_seconds: float) -> str:
        """Return what would take less time: no search, and fewer steps. A training that would still
        be too long is not suggested."""
        from counterbc.methods import find_method
        from counterbc.printing import duration
        from counterbc.settings import settings_for
        from counterbc.training.session import LIMIT

        settings = settings_for(self.preset, **self.given_options("settings"))
        method = settings.apply(find_method(self.method)[1])
        step_seconds *= (self.seeds or 1) * method.shards * method.rounds
        search = self._without_search(settings, method)
        counts: tuple[int, ...] = _QUICK_STEPS
        is_searched = settings.steps == "auto" or bool(search)
        if settings.steps != "auto":  # without a search they may be quick enough themselves
            fewer = [n for n in counts if n < settings.step_count]
            counts = (*([settings.step_count] if search else []), *fewer)
        bounds = (_QUICK, LIMIT)
        steps = next((n for b in bounds for n in counts if n * step_seconds < b), None)
        if steps is None:
            return "fewer --steps or --seeds, or a machine with a GPU"
        options = " ".join([*search, "--steps", str(steps)])
        purpose = ", which searches nothing" if is_searched else ""
        seconds = duration(steps * step_seconds)
        return f"{options}{purpose} ({seconds}), or a machine with a GPU"

    def _without_search(self, settings: Settings, method: Method) -> list[str]:
        """Return the options beside the steps that leave nothing to be searched by training."""
        from counterbc.supports import Demonstrated

        if self.start is not None:
            return []  # what was chosen before is kept
        has_radius = settings.radius == "auto" and not isinstance(method.support, Demonstrated)
        return ["--radius 0"] * has_radius + ["--lag 0"] * (settings.lag == "auto")

    @classmethod
    def option_notes(cls) -> dict[str, str]:
        from counterbc.data.needs import need_text
        from counterbc.methods import METHODS

        needs = {name: method.weighting.needs for name, method in METHODS.items()}
        notes = [f"{m} needs {' and '.join(map(need_text, n))}" for m, n in needs.items() if n]
        return {**super().option_notes(), "method": "; ".join(notes) + "."}

    def run(self) -> tuple[Json, list[RenderableType]]:
        from counterbc.acting.policies import Policies
        from counterbc.data.radii import radius_of
        from counterbc.trainer import train

        out = self._folder()
        settings = self.checked_settings()
        start = None if self.start is None else Policies.load(self.start)
        demos = self._demonstrations()
        problem = self._problem_of_env(demos)
        if isinstance(radius := settings.get("radius"), tuple):
            radius_of(radius, [demos])  # or refuse the number of radii, before anything is searched
        policies = train(
            demos, self.method, seeds=self.seeds, preset=self.preset, device=self.device,
            out=out, resume=self.resume, start=start, **settings,
        )  # fmt: skip
        payload: Json = {"folder": str(out), **policies.config}
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
        payload["held_out_beside_bc"] = _beside_bc(policies)
        output += _beside_bc_text(payload["held_out_beside_bc"])
        output += self._unread(demos)
        if settings.get("held_out"):
            from counterbc.experiments.plots import loss_figure

            payload |= _held_out(policies)
            output += _held_out_text(payload)
            title = f"{policies.method} on {demos.source or 'demonstrations'}"
            assert policies.curve is not None
            files = loss_figure(policies.curve, title, out, "loss")
            output.append(f"  loss     {files[0]}")
        output.append(f"\nWritten to {out}.")
        notes, step = self._next(policies, demos.env, problem, out)
        payload["next"] = [step]
        return payload, [*output, *notes]

    def status(self, payload: Json) -> int:
        """Return 1 if every member diverged: the run is written, but no policy can act."""
        return int(len(payload["diverged"]) == len(payload["members"]))

    def _folder(self) -> Path:
        """Return the folder to write; refuse one that is taken, or that is named like a file."""
        from counterbc.errors import OptionError
        from counterbc.files import check_free, last_name, next_free

        choose = last_name if self.resume else next_free
        out = self.out or choose(Path("run"))
        if not self.resume:
            check_free(out)
        elif not out.exists():
            print(f"There is no {out} to resume, so a new training starts.", file=sys.stderr)
        if out.suffix.lower() in _FILES:
            raise OptionError(
                f"{out} is named like a file, but a run is a folder; use --out {out.stem}, and "
                "later counterbc export for a file"
            )
        return out

    def _problem_of_env(self, demos: Demonstrations) -> str:
        """Return why policies cannot be tested in the environment; empty where they can, or where
        there is none. A note before the work says so."""
        from counterbc.acting.fit import Spaces, reason_not_tested
        from counterbc.printing import sentence

        if demos.env is None:
            return ""
        spaces = Spaces.of_data(demos)
        problem = reason_not_tested(demos.env, spaces, is_typed=self.env is not None)
        if problem:
            print(sentence(f"The policies cannot be tested here: {problem}."), file=sys.stderr)
        return problem

    def _next(
        self, policies: Policies, env: str | None, problem: str, out: Path
    ) -> tuple[list[str], str]:
        """Return notes, and the command to paste next: it tests policies where that is possible."""
        if policies.diverged.all():
            step = suggestion("inspect", *self.demos, *self.as_typed(*DATA_OPTIONS))
            return ["Every member diverged; look at the data."], step
        export = suggestion("export", out)
        if env is None:
            return ["To see them act, name an environment with --env."], export
        if problem:
            return [f"They cannot be tested here: {problem}."], export
        return [], suggestion("evaluate", out, *self.as_typed("env"))

    def _unread(self, demos: Demonstrations) -> list[str]:
        """Return how to read the cameras that were not read, if there are any.

        Of several files not all may have them, which inspect knows.
        """
        keys = keys_with_cameras(demos)
        if not keys:
            return []
        changes = {"obs": keys if len(self.demos) == 1 else ()}
        typed = self.as_typed(*DATA_OPTIONS, changes=changes)
        return [f"  cameras  to read them as well: {suggestion('inspect', *self.demos, *typed)}"]

    def _demonstrations(self) -> Demonstrations:
        """Return the pairs to learn from."""
        demos = self.read(self.demos)
        if self.expert:
            names = tuple(e.name for e in demos.subset(operator=self.expert).episodes)
            demos = replace(demos, masks={**demos.masks, "expert": names})
        return demos if self.pairs is None else demos.sample_pairs(self.pairs, self.pairs_seed)


def _chosen(policies: Policies) -> list[str]:
    """Return what was chosen from the data, or the lag that was given, in sentences."""
    from counterbc.data.lags import lag_text

    choices, lags = policies.run_config.choices, {m.lag for m in policies.members}
    if not choices and any(map(any, lags)):
        return [f"Lag {lag_text(lag)}, as given" for lag in sorted(lags)]
    return [text for c in choices for text in c.get("sentences", [c.get("explanation")])]


def _beside_bc(policies: Policies) -> dict[str, Json] | None:
    """Return the held-out errors of the search: of what was chosen, and of plain BC at its best.

    None where nothing was searched, or where the method with Δ 0 is not plain BC.
    """
    from counterbc.methods import METHODS

    name = policies.method
    if name not in METHODS or METHODS[name].at_zero_radius() != METHODS["bc"]:
        return None
    for choice in policies.run_config.choices:
        trials = choice.get("trials") or []
        plain = [t["error"] for t in trials if t["radius"] == 0]
        same = [t["error"] for t in trials if not t["above"]["value"] and not t["above"]["se"]]
        if plain and same:
            return {name: same[0], "bc": min(plain, key=lambda error: float(error["value"]))}
    return None


def _beside_bc_text(errors: dict[str, Json] | None) -> list[str]:
    if errors is None:
        return []
    texts = [f"{name} {e['value']:.4f} ± {e['se']:.4f}" for name, e in errors.items()]
    return [f"  held out squared error of {', '.join(texts)}"]


def _held_out(policies: Policies) -> Json:
    """Return the errors at the last step on held-out episodes, and those of the mean action."""
    from counterbc.training.session import current_session

    errors = [round(error, 6) for error in current_session().mean_action_errors]
    return {"held_out_error": _final(policies, "held_out"), "mean_action_error": errors or None}


def _held_out_text(payload: Json) -> list[str]:
    """Return how much better policies predict held-out actions than the mean action does."""
    from statistics import fmean

    errors, trivial = payload["held_out_error"], payload["mean_action_error"]
    if not errors or not trivial:
        return []
    error, mean = fmean(errors), fmean(trivial)
    is_better = error < mean
    verdict = f"{1 - error / mean:.0%} less" if is_better else "no less; see the curve of the loss"
    return [
        f"  held out squared error {error:.4f} after the last step; always taking the mean action "
        f"has {mean:.4f} ({verdict})"
    ]


def _final(policies: Policies, name: str) -> list[float] | None:
    values = getattr(policies.curve, name)
    return None if values is None else [round(float(x), 6) for x in values[-1]]
