"""What to do next, as commands to paste."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from counterbc.data.names import shorten
from counterbc.report import words
from counterbc.report.findings import Findings
from counterbc.selection.held_out import HeldOut

_WORTH = ("duplicate", "short", "idle", "constant action")  # problems that may be mistakes


@dataclass(frozen=True)
class Given:
    """What was typed to read the demonstrations, which other commands need again."""

    paths: tuple[Path, ...]
    formats: tuple[str, ...]
    """The format of each path."""
    obs: tuple[str, ...] = ()

    def command(self, name: str, *options: str) -> str:
        """A line that runs a command on the same data."""
        keys = [part for key in self.obs for part in ("--obs", key)]
        return shlex.join(["counterbc", name, *map(str, self.paths), *keys, *options])

    def beside(self, suffix: str) -> str:
        """A new name in the current folder with the ending of the first path."""
        first = self.paths[0]
        return f"{first.stem}-{suffix}{first.suffix}"


@dataclass(frozen=True)
class Step:
    """One thing to do, why, and how."""

    title: str
    why: str
    commands: tuple[str, ...] = ()


def advice(found: Findings, given: Given) -> list[Step]:
    """The steps worth taking, what comes first first."""
    return [
        *_look(found, given),
        *_intents(found, given),
        *_exclude(found, given),
        *([] if _goals(found) > 1 else [*_train(found, given), *_clean(found, given)]),
    ]


def _goals(found: Findings) -> int:
    return 1 if found.intents is None else found.intents.groups


def _look(found: Findings, given: Given) -> Iterator[Step]:
    kinds = [p.kind for p in found.inspection.problems if p.kind in _WORTH]
    if kinds:
        yield Step(
            "Look at the problems",
            f"Found: {', '.join(kinds)}. The page names the first places; this lists more.",
            (given.command("inspect", "--json"),),
        )


def _intents(found: Findings, given: Given) -> Iterator[Step]:
    if _goals(found) < 2:
        return
    again = "counterbc report told.hdf5 --out report-told.html"
    angles = [part for name in found.options.angles for part in ("--angle", name)]
    yield Step(
        "Keep the goals apart",
        f"One policy would average {_goals(found)} goals. This writes a copy whose "
        "observations end with the goal of the episode, and trains on it. Scores are sharper with "
        "the goals known, so make a report of the copy.",
        (
            given.command("intents", *angles, "--condition", "--out", "told.hdf5"),
            "counterbc train told.hdf5 --seeds 10 --out run-told",
            again,
        ),
    )


def _exclude(found: Findings, given: Given) -> Iterator[Step]:
    worst = found.outstanding
    if not worst:
        return
    commands = []
    if given.formats == ("robomimic",):
        marked = given.beside("good")
        commands.append(
            given.command("score", *_judged(found), "--exclude", str(len(worst)),
                          "--write-mask", "good", "--out", marked)
        )  # fmt: skip
        commands.append(f"counterbc train {shlex.quote(marked)} --mask good --out run-good")
        commands.append('# robomimic: config.train.hdf5_filter_key = "good"')
    commands += _lerobot(found, given)
    yield Step(
        "Leave out what stands out",
        f"{words.some(len(worst), 'episode')} further from what is believed than the others' "
        f"spread explains: {_named(found)}. Look before you do; a rare but right way "
        "looks like this too.",
        tuple(commands),
    )


def _own(found: Findings) -> list[list[int]]:
    """The episodes that stand out, numbered as each dataset numbers its own."""
    each, first = [], 0
    for _, names in found.parts:
        each.append([i - first for i in found.outstanding if first <= i < first + len(names)])
        first += len(names)
    return each


def _named(found: Findings) -> str:
    """The same by the names that they have in their files."""
    several = len(found.parts) > 1
    said = []
    for (source, names), own in zip(found.parts, _own(found), strict=True):
        if own:
            listed = shorten([names[i] for i in own], 12)
            said.append(f"{listed} of {Path(source).name}" if several else listed)
    return "; ".join(said)


def _lerobot(found: Findings, given: Given) -> Iterator[str]:
    for path, own in zip(given.paths, _own(found), strict=True):
        if own:
            where = f" for {path.name}" if len(given.paths) > 1 else ""
            yield f"# LeRobot, an option of lerobot-train{where}:"
            yield f"--dataset.exclude_episodes='{own}'"


def _train(found: Findings, given: Given) -> Iterator[Step]:
    if found.radius is None:
        return
    policy = () if found.peaks is None else ("--policy", "mixture")
    if set(found.radius) == {0.0}:
        yield Step(
            "Train",
            "The data do not ask for counterfactuals, so plain BC is as good.",
            (given.command("train", "--method", "bc", *policy, "--seeds", "10", "--out", "run"),),
        )
        return
    yield Step(
        "Train",
        "Ten Counter-BC policies at once, with the radius found here"
        + (", and several modes." if policy else "."),
        (given.command("train", *_radius(found), *policy, "--seeds", "10", "--out", "run"),),
    )


def _clean(found: Findings, given: Given) -> Iterator[Step]:
    if found.meaning is None or set(found.meaning.radius) == {0.0}:
        return
    if len(given.paths) > 1 or given.formats[0] not in ("robomimic", "lerobot", "minari", "npz"):
        return
    yield Step(
        "Or train with a trainer of your own",
        "This writes a copy in which every action is the meant one, within Δ of what was "
        "shown where that was feasible.",
        (given.command("clean", *_judged(found), "--out", given.beside("meant")),),
    )


def _radius(found: Findings) -> list[str]:
    each = found.radius or ()
    shown = each[:1] if len(set(each)) == 1 else each
    return [part for r in shown for part in ("--radius", f"{r:g}")]


def _judged(found: Findings) -> list[str]:
    """What makes other commands judge as it was done here."""
    usual, judges = HeldOut(), found.options.judges
    own = {n: getattr(judges, n) for n in ("folds", "repeats", "rounds", "steps", "seed")}
    changed = {n: v for n, v in own.items() if v != getattr(usual, n)}
    return [*_radius(found), *(p for n, v in changed.items() for p in (f"--{n}", str(v)))]
