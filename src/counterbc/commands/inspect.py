"""counterbc inspect"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.console import RenderableType
from tyro.conf import UseAppendAction

from counterbc.commands.command import Json, explained_lines, plain_table, suggestion
from counterbc.commands.data_command import DATA_OPTIONS, DataCommand, Demos
from counterbc.commands.images import first_training, image_size, keys_with_cameras
from counterbc.printing import stage

if TYPE_CHECKING:
    from counterbc.data.demonstrations import Demonstrations
    from counterbc.data.inspection_report import InspectionReport, Place, Problem
    from counterbc.selection.shares import Explained

_DIMENSIONS = 40  # dimensions that are printed
_DAMAGES = ("unreadable", "not finite", "shape", "empty")  # without which nothing can be trained
_PLACES = 3  # places of a problem that are printed


@dataclass(frozen=True)
class Inspect(DataCommand):
    """Show what is in demonstrations, and what is wrong with them.

    The exit status is 0, or 1 if they cannot be read, or 3 with --strict if there are problems."""

    demos: Demos
    """Files or folders of demonstrations; several are inspected as one dataset."""
    idle: int | None = None
    """Number of pairs with the same action that counts as idle; default: one second's worth, at
    least 10."""
    strict: bool = False
    """Exit with status 3 if there are problems."""
    ignore: UseAppendAction[tuple[str, ...]] = ()
    """Kind of problem that does not count; for several, list them or repeat it."""

    steps: int | None = None
    """Number of gradient steps of the commands that are printed to paste; by default they choose
    it."""

    @classmethod
    def option_choices(cls) -> dict[str, Iterable[str]]:
        from counterbc.data.inspection_report import PROBLEM_KINDS

        return {**super().option_choices(), "ignore": PROBLEM_KINDS}

    def run(self) -> tuple[Json, list[RenderableType]]:
        from counterbc.acting.world_keys import keys_of_world
        from counterbc.data.episode_sample import EpisodeSample
        from counterbc.data.inspection import Inspection
        from counterbc.data.inspection_report import PROBLEM_KINDS
        from counterbc.errors import OptionError, unknown

        if self.idle is not None and self.idle < 2:
            raise OptionError(f"idle is {self.idle}; give the number of pairs, 2 or more")
        for kind in self.ignore:
            if kind not in PROBLEM_KINDS:
                raise unknown("problem", kind, PROBLEM_KINDS)
        inspection, sample = Inspection(self.idle), EpisodeSample()
        for stream in self.streams(self.demos, self.choice):
            inspection.add(stream.header, sample.watch(stream.raw_episodes))
        model = inspection.model
        keys = () if self.obs else keys_of_world(model.obs_keys, model.env)
        explained = _explained(sample.demonstrations(inspection.headers[0]), keys)
        report = inspection.report().without(self.ignore)
        total = sum(inspection.lengths)
        output = [*_summary(report, inspection.model, total), *_table(report), *_notes(report)]
        output.append(_problems(report.problems))
        if explained is not None:
            output += ["", *explained_lines(explained), *_keys_read(inspection.model, keys)]
            output += _quick_look(explained, total)
        problem = self._problem_of_env(None if keys else inspection.model)
        if problem:
            output.append(f"\nPolicies cannot be tested there: {problem}.")
        is_common = len({header.blind_to for header in inspection.headers}) == 1
        with_cameras = self._with_cameras(inspection.model, keys) if is_common else ""
        if with_cameras:
            output.append(f"\nTo read the cameras as well: {with_cameras}")
        shares = None if explained is None else explained.as_dict()
        payload = report.as_dict() | {
            "explained": shares,
            "env_problem": problem or None,
            "with_cameras": with_cameras or None,
            "next": [self._next(report, inspection.model, can_test=not problem)],
        }
        return payload, output

    def _problem_of_env(self, model: Demonstrations | None) -> str:
        """Return why policies cannot be tested in the environment that was typed; empty where they
        can. `model` has the observations that other commands read, or None where the environment
        chooses them."""
        if self.env is None:
            return ""
        if model is None:
            from counterbc.envs import reason_not_made

            return reason_not_made(self.env, is_typed=True)
        from counterbc.acting.fit import Spaces, reason_not_tested  # this imports torch

        return reason_not_tested(self.env, Spaces.of_data(model), is_typed=True)

    def _with_cameras(self, model: Demonstrations, keys: Sequence[str]) -> str:
        """Return the command that also looks at the cameras that are not read by default; empty
        where there are none, or where observations were chosen."""
        every_key = () if self.obs else keys_with_cameras(model, keys)
        if not every_key:
            return ""
        typed = self.as_typed(*DATA_OPTIONS, "steps", changes={"obs": every_key})
        return suggestion("inspect", *self.demos, *typed)

    def _next(self, report: InspectionReport, model: Demonstrations, *, can_test: bool) -> str:
        """Return the command to paste next: without damaged episodes, or the comparison, which
        measures no returns in an environment in which policies cannot be tested.

        Comparing policies that read images takes hours without a GPU, so one is trained instead,
        and tested on held-out episodes, unless a number of steps was typed. Large images are made
        smaller.
        """
        problems = [p for p in report.problems if p.kind in _DAMAGES]
        names = {str(place.facts()["episode"]): None for p in problems for place in p.places}
        if names:
            changes = {"exclude": (*self.exclude, *names)}
            typed = self.as_typed(*DATA_OPTIONS, "steps", changes=changes)
            return suggestion("inspect", *self.demos, *typed)
        typed = self.as_typed(*DATA_OPTIONS, "steps")
        if model.cameras and self.steps is None:
            options = first_training(model, report.episodes)
            return suggestion("train", *self.demos, *typed, *options)
        if not can_test:
            typed = self.as_typed(*DATA_OPTIONS, "steps", changes={"env": "none"})
        return suggestion("compare", *self.demos, *typed, *image_size(model))

    def status(self, payload: Json) -> int:
        return 3 if self.strict and payload["problems"] else 0


def _quick_look(explained: Explained, pairs: int) -> list[str]:
    """Return how little of a large dataset was looked at, where that was too little to tell."""
    from counterbc.selection.explained import QUICK_PAIRS

    if explained.tells or explained.may_only_repeat or pairs <= 2 * QUICK_PAIRS:
        return []  # policies that learn from more pairs would repeat the previous action, too
    return [
        f"This is a quick look at about {QUICK_PAIRS} of {pairs:,} pairs. counterbc score trains "
        "policies on all of them, which may explain more."
    ]


def _keys_read(model: Demonstrations, keys: Sequence[str]) -> list[str]:
    """Return which observations other commands read, if these are not all."""
    if not keys:
        return []
    return [
        f"This is explained by {' and '.join(keys)}, which the other commands read, as {model.env} "
        "does; --obs chooses other observations."
    ]


def _explained(sample: Demonstrations | None, keys: Sequence[str]) -> Explained | None:
    """Return how much of the actions a quick regression on the observations with these keys, or on
    all of them, explains; None for too few pairs."""
    from counterbc.formats.stream import Stream
    from counterbc.selection.explained import explain_if_possible

    with stage("looking at what can be predicted"):
        if sample is not None and keys:
            sample = Stream.of(sample).choose(keys).demonstrations()
        return None if sample is None else explain_if_possible(sample)


def _summary(report: InspectionReport, model: Demonstrations, total: int) -> list[RenderableType]:
    from counterbc.data.names import cameras_text, shape_text, shorten

    keys = [f"{key} ({width})" for key, width in model.obs_keys]
    low, high = report.episode_length
    rows = [
        ("episodes", f"{report.episodes}, {low} to {high} pairs long"),
        ("pairs", f"{report.pairs}" + (f" selected of {total}" if report.pairs < total else "")),
        ("obs", f"{shape_text(model.obs_shape)}  {shorten(keys)}".rstrip()),
        ("cameras", cameras_text(model.cameras, model.blind_to) or None),
        ("action", f"{model.action_size}  {shorten(model.action_names)}"),
        ("bounds", model.bounds),
        ("recorded", _recorded(report)),
        ("relative", report.relative),
        ("angles", shorten(report.angles) or None),
        ("operators", _counts(report.operators) or "not recorded"),
        ("success", None if report.successes is None else f"{report.successes} episodes"),
        ("return", None if (mean := report.mean_return) is None else f"{mean:.2f} on average"),
        ("env", report.env),
        ("rate", f"{report.rate:g} Hz" if report.rate else "not recorded"),
        ("masks", _counts(report.masks) or None),
        ("not read", shorten(report.left_out) or None),
    ]
    lines = [f"  {name:<11}{text}" for name, text in rows if text is not None]
    return ["\n".join([f"Demonstrations from {report.source}", *lines]), ""]


def _recorded(report: InspectionReport) -> str:
    """Return what the actions are, and how many of them lie on each bound."""
    from counterbc.data.names import shorten

    kind = {
        "asked": "the actions asked for, uncut",
        "taken": "the actions taken, cut at the bounds",
        None: "not declared whether actions asked or taken (--actions-are)",
    }[report.actions_are]
    on_bound = [
        f"{d.name} {d.on_low} low {d.on_high} high"
        for d in report.dimensions
        if d.on_low or d.on_high
    ]
    return f"{kind}; on a bound: {shorten(on_bound)}" if on_bound else kind


def _counts(counts: Mapping[str, int]) -> str:
    from counterbc.data.names import shorten

    return shorten([f"{name} ({count})" for name, count in counts.items()])


def _table(report: InspectionReport) -> list[RenderableType]:
    kinds = [[d for d in report.dimensions if d.kind == k][:_DIMENSIONS] for k in ("obs", "action")]
    rows = [
        (f"{d.kind} {d.name}", *(f"{x:.4g}" for x in (d.min, d.mean, d.max, d.std)))
        for dimensions in kinds
        for d in dimensions
    ]
    output: list[RenderableType] = [plain_table(("dimension", "min", "mean", "max", "std"), rows)]
    if len(report.dimensions) > len(rows):
        output.append(f"… {len(report.dimensions) - len(rows)} more dimensions with --json")
    return output


def _notes(report: InspectionReport) -> list[RenderableType]:
    """Return a sentence on actions that are targets, and one on each trap."""
    from counterbc.data.names import shorten

    notes = []
    size, option = report.action_size, _relative_option(report.suggested_relative)
    advice = f"; train with {option} (docs/relative.md)" if option else ""
    names = [target.obs for target in report.action_targets if target.kind == "target"]
    verb = "is a target" if len(names) == 1 else "are targets"
    subject = f"{len(names)} of {size} actions"
    if len(names) == size:
        subject = "the action" if size == 1 else "the actions"
    if names:
        notes.append(f"{subject} {verb} of {shorten(names)}{advice}")
    notes += [f"{trap.text}; {trap.step}" for trap in report.traps]
    return ["\n".join(["\nNotes", *(f"  {note}" for note in notes)])] if notes else []


def _relative_option(relative: str | None) -> str:
    """Return the option for a shell; a value that begins with a dash needs an equals sign."""
    if relative is None:
        return ""
    return f"--relative{'=' if relative.startswith('-') else ' '}{shlex.quote(relative)}"


def _problems(problems: Iterable[Problem]) -> str:
    lines = []
    for problem in problems:
        lines.append(f"  {problem.kind}: {problem.text}")
        lines += [f"    {_place(place)}" for place in problem.places[:_PLACES]]
        if len(problem.places) > _PLACES:
            lines.append("    … more with --json")
    return "\n".join(["\nProblems", *lines]) if lines else "\nNo problems found."


def _place(place: Place) -> str:
    return ", ".join(f"{key} {value}" for key, value in place.facts().items())
