"""The next steps, as commands to paste."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from counterbc.data.names import shorten
from counterbc.formats import writable_formats
from counterbc.formats.lerobot.episode_list import episodes_option
from counterbc.report.findings import Findings
from counterbc.selection.held_out import HeldOut
from counterbc.settings import Settings

_MISTAKES = ("duplicate", "short", "idle", "constant action")  # problems that may be mistakes


@dataclass(frozen=True)
class Inputs:
    """The arguments that the demonstrations were read with; other commands repeat them."""

    paths: tuple[Path, ...]
    formats: tuple[str, ...]
    """The format of each path."""
    typed: tuple[str, ...] = ()
    """The options that chose what is read, as they were typed."""
    is_all: bool = True
    """Whether all episodes were read."""

    def command(self, name: str, *options: str) -> str:
        """Return a line that runs a command on the same data."""
        return shlex.join(["counterbc", name, *map(str, self.paths), *self.typed, *options])

    def beside(self, suffix: str) -> str:
        """Return a new name in the current folder with the ending of the first path."""
        first = self.paths[0]
        return f"{first.stem}-{suffix}{first.suffix}"


@dataclass(frozen=True)
class Step:
    """One thing to do, why, and how."""

    title: str
    why: str
    commands: tuple[str, ...] = ()


def advice(findings: Findings, inputs: Inputs) -> list[Step]:
    """Return the steps worth taking, in order."""
    one_goal = _goals(findings) == 1
    return [
        *_check_problems(findings, inputs),
        *_explain_more(findings, inputs),
        *_separate_goals(findings, inputs),
        *_exclude_outliers(findings, inputs),
        *(_train(findings, inputs) if one_goal else ()),
        *(_clean(findings, inputs) if one_goal else ()),
    ]


def last_commands(steps: list[Step]) -> list[str]:
    """Return the command to run after having read the page: one that trains, if any.

    Only the first command of a step runs by itself; the others need what it writes.
    """
    commands = [step.commands[0] for step in steps if step.commands]
    return ([c for c in commands if c.startswith("counterbc train ")] or commands)[:1]


def _goals(findings: Findings) -> int:
    return 1 if findings.intents is None else findings.intents.groups


def _check_problems(findings: Findings, inputs: Inputs) -> Iterator[Step]:
    kinds = [p.kind for p in findings.inspection.problems if p.kind in _MISTAKES]
    if kinds:
        yield Step(
            "Look at the problems",
            f"Found: {', '.join(kinds)}. This page names the first places; the command lists more.",
            (inputs.command("inspect", "--json"),),
        )


def _explain_more(findings: Findings, inputs: Inputs) -> Iterator[Step]:
    """Yield what to do where the actions cannot be predicted."""
    explained = findings.explained
    if explained is None or explained.tells:
        return
    commands = (inputs.command("inspect"),)
    if explained.history == 1 and explained.history_tells:
        commands = (inputs.command("score", "--history", "auto"),)
    title = "Make the actions predictable"
    if explained.may_only_repeat:  # they are predictable already
        title = "Record what demonstrators respond to"
    yield Step(
        title,
        f"{explained.remedy}. The command says whether that is enough; if it is, make this page "
        "again: it will then rank episodes and choose Δ.",
        commands,
    )


def _separate_goals(findings: Findings, inputs: Inputs) -> Iterator[Step]:
    if _goals(findings) < 2:
        return
    copy = f"{inputs.paths[0].stem}-goals.hdf5"
    yield Step(
        "Keep the goals apart",
        f"One policy would average {_goals(findings)} goals. This writes a copy in which each "
        "observation also holds the goal of its episode, and trains on it. Scores are more precise "
        "if the goals are known, so make a report of the copy.",
        (
            inputs.command("intents", "--condition", "--out", copy),
            shlex.join(["counterbc", "train", copy, "--seeds", "10"]),
            shlex.join(["counterbc", "report", copy]),
        ),
    )


def _exclude_outliers(findings: Findings, inputs: Inputs) -> Iterator[Step]:
    outliers = findings.outliers
    if not outliers:
        return
    names = [findings.demos.episodes[i].name for i in outliers]
    words = [word for name in names for word in ("--exclude", name)]
    commands = [inputs.command("train", *words, *_given_radius(findings))]
    if inputs.formats == ("robomimic",):
        mask = ("--write-mask", "good", "--out", inputs.beside("good"))
        commands.append('# robomimic: config.train.hdf5_filter_key = "good", in the copy of')
        commands.append(inputs.command("score", *_score_options(findings), *mask))
    commands += _lerobot(findings, inputs)
    differ = "episode differs" if len(outliers) == 1 else "episodes differ"
    yield Step(
        "Exclude outliers",
        f"{len(outliers)} {differ} clearly from what the others agree on: "
        f"{_outlier_names(findings)}. Look at them first; a rare but correct way of doing the task "
        "looks like this, too.",
        tuple(commands),
    )


def _outliers_by_source(findings: Findings) -> list[list[int]]:
    """Return the outliers of each source, numbered within it."""
    numbers, first = [], 0
    for source in findings.sources:
        end = first + len(source.episodes)
        numbers.append([i - first for i in findings.outliers if first <= i < end])
        first = end
    return numbers


def _outlier_names(findings: Findings) -> str:
    """Return the outliers by the names that they have in their files."""
    texts = []
    for source, numbers in zip(findings.sources, _outliers_by_source(findings), strict=True):
        if numbers:
            episodes = shorten([source.episodes[i] for i in numbers], 12)
            file = f" of {Path(source.path).name}" if len(findings.sources) > 1 else ""
            texts.append(f"{episodes}{file}")
    return "; ".join(texts)


def _lerobot(findings: Findings, inputs: Inputs) -> Iterator[str]:
    if not inputs.is_all:  # the numbers are not those of the files
        return
    outliers = _outliers_by_source(findings)
    for path, source, numbers in zip(inputs.paths, findings.sources, outliers, strict=True):
        if numbers:
            suffix = f" for {path.name}" if len(inputs.paths) > 1 else ""
            yield f"# LeRobot, an option of lerobot-train{suffix}:"
            yield episodes_option(len(source.episodes), numbers)


def _train(findings: Findings, inputs: Inputs) -> Iterator[Step]:
    if findings.radius is None or findings.is_radius_a_guess:
        return
    policy = () if findings.several_modes is None else ("--policy", "mixture")
    run = (*policy, "--seeds", "10")
    if set(findings.radius) == {0.0} or (findings.choice is not None and findings.choice.is_flat):
        yield Step(
            "Train",
            "Counterfactuals do not help with these data, so plain BC is as good.",
            (inputs.command("train", "--method", "bc", *run),),
        )
        return
    yield Step(
        "Train",
        "This trains ten Counter-BC policies at once with the radius of this page"
        + (", as mixtures of several modes." if policy else "."),
        (inputs.command("train", *_radius(findings), *run),),
    )


def _clean(findings: Findings, inputs: Inputs) -> Iterator[Step]:
    if findings.meaning is None or set(findings.meaning.radius) == {0.0}:
        return
    if len(inputs.paths) > 1 or inputs.formats[0] not in writable_formats():
        return
    yield Step(
        "Or use another trainer",
        "This writes a copy in which every action is an estimate of the one that was meant, within "
        "Δ of the demonstrated action if that was feasible. Policies trained on it are not always "
        "better (docs/clean.md); the command prints others that test both.",
        (inputs.command("clean", *_score_options(findings)),),
    )


def _given_radius(findings: Findings) -> list[str]:
    """Return the option of a radius that was typed and not chosen from the data."""
    return _radius(findings) if findings.choice is None else []


def _radius(findings: Findings) -> list[str]:
    radius = findings.radius or ()
    numbers = radius[:1] if len(set(radius)) == 1 else radius
    return [word for r in numbers for word in ("--radius", f"{r:g}")]


def _score_options(findings: Findings) -> list[str]:
    """Return the options with which other commands compute the same scores."""
    defaults = asdict(HeldOut())
    options = {n: v for n, v in asdict(findings.options.held_out).items() if v != defaults[n]}
    if findings.options.kernel != Settings.kernel:
        options["kernel"] = findings.options.kernel
    words = [word for n, v in options.items() for word in (f"--{n}", str(v))]
    return [*_radius(findings), *words, *(["--force"] if findings.options.force else [])]
