"""counterbc inspect"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import RenderableType
from tyro.conf import Positional, UseAppendAction

from counterbc.commands.command import Command, Json, plain_table, streams

if TYPE_CHECKING:
    from counterbc.data.inspection import Inspection

_MOST = 40  # dimensions shown to people
_PLACES = 3  # places of a problem shown to people


@dataclass(frozen=True)
class Inspect(Command):
    """Show what is in demonstrations, and what is wrong with them.

    The status is 0, 1 where they cannot be read, and with --strict 3 where problems are found."""

    demos: Positional[tuple[Path, ...]]
    """Files or folders of demonstrations; several are looked at as one."""
    obs: UseAppendAction[tuple[str, ...]] = ()
    """Observation keys to read, one --obs each; by default all that are not images."""
    mask: str | None = None
    """Look only at the episodes that this mask of the file names."""
    format: str | None = None
    """robomimic, d4rl, npz, csv, lerobot or minari; by default found out."""
    idle: int | None = None
    """So many pairs with one action count as idle; by default those of a second, 10 at least."""
    strict: bool = False
    """Exit with status 3 where a problem is found."""
    ignore: UseAppendAction[tuple[str, ...]] = ()
    """Problems that do not count, one --ignore each: idle, short, saturated, …"""

    def run(self) -> tuple[Json, list[RenderableType]]:
        from counterbc.data.inspection import Inspection
        from counterbc.data.problems import KINDS
        from counterbc.errors import OptionError, unknown

        if self.idle is not None and self.idle < 2:
            raise OptionError(f"idle is {self.idle}; give the number of pairs, 2 or more")
        for kind in self.ignore:
            if kind not in KINDS:
                raise unknown("problem", kind, KINDS)
        inspection = Inspection(self.idle)
        for stream in streams(self.demos, self.obs, self.mask, self.format):
            inspection.add(stream.header, stream.raw_episodes)
        said = inspection.report()
        said["problems"] = [p for p in said["problems"] if p["kind"] not in self.ignore]
        return said, [*_summary(inspection, said), *_table(said), *_problems(said)]

    def status(self, said: Json) -> int:
        return 3 if self.strict and said["problems"] else 0


def _summary(inspection: Inspection, said: Json) -> list[RenderableType]:
    from counterbc.data.summary import bounds, shorten

    m, length, total = inspection.model, said["episode_length"], sum(inspection.lengths)
    keys = [f"{key} ({width})" for key, width in m.obs_keys]
    operators = [f"{name} ({count})" for name, count in said["operators"].items()]
    masks = [f"{name} ({count})" for name, count in said["masks"].items()]
    env = " ".join(filter(None, [said["env"], said["rate"] and f"at {said['rate']:g} Hz"]))
    rows = [
        ("episodes", f"{said['episodes']}, {length['min']} to {length['max']} pairs long"),
        ("pairs", f"{said['pairs']}" + (f" selected of {total}" if said["pairs"] < total else "")),
        ("obs", f"{'×'.join(map(str, m.obs_shape))}  {shorten(keys)}".rstrip()),
        ("action", f"{m.action_size}  {shorten(m.action_names)}"),
        ("bounds", bounds(m)),
        ("operators", shorten(operators) or "not recorded"),
        ("success", None if said["successes"] is None else f"{said['successes']} episodes"),
        ("return", None if (mean := said["mean_return"]) is None else f"{mean:.2f} on average"),
        ("env", env or None),
        ("masks", shorten(masks) or None),
        ("not read", shorten(said["left_out"]) or None),
    ]
    lines = [f"  {name:<11}{text}" for name, text in rows if text is not None]
    return ["\n".join([f"Demonstrations from {said['source']}", *lines]), ""]


def _table(said: Json) -> list[RenderableType]:
    kinds = [[d for d in said["dimensions"] if d["kind"] == k][:_MOST] for k in ("obs", "action")]
    rows = [
        (f"{d['kind']} {d['name']}", *(f"{d[k]:.4g}" for k in ("min", "mean", "max", "std")))
        for dimensions in kinds
        for d in dimensions
    ]
    shown: list[RenderableType] = [plain_table(("dimension", "min", "mean", "max", "std"), rows)]
    if len(said["dimensions"]) > len(rows):
        shown.append(f"… {len(said['dimensions']) - len(rows)} more dimensions with --json")
    return shown


def _problems(said: Json) -> list[RenderableType]:
    if not said["problems"]:
        return ["\nNo problems found."]
    lines = ["\nProblems"]
    for problem in said["problems"]:
        lines.append(f"  {problem['kind']}: {problem['text']}")
        lines += [f"    {_place(place)}" for place in problem["places"][:_PLACES]]
        if len(problem["places"]) > _PLACES:
            lines.append("    … more with --json")
    return ["\n".join(lines)]


def _place(place: dict[str, Any]) -> str:
    return ", ".join(f"{key.replace('_', ' ')} {value}" for key, value in place.items())
