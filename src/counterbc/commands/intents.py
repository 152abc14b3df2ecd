"""counterbc intents"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import RenderableType
from tyro.conf import Positional, UseAppendAction

from counterbc.commands.command import Command, Json, plain_table, streams


@dataclass(frozen=True)
class Intents(Command):
    """Find groups of episodes that pursue different goals."""

    demos: Positional[tuple[Path, ...]]
    """Files or folders of demonstrations; several are merged."""
    obs: UseAppendAction[tuple[str, ...]] = ()
    """Observation keys to read, one --obs each; by default all that are not images."""
    format: str | None = None
    """robomimic, d4rl, npz, csv, lerobot or minari; by default found out."""
    groups: int | None = None
    """How many groups there are; by default decided on episodes held out."""
    most: int = 4
    """Try up to this many groups."""
    angle: UseAppendAction[tuple[str, ...]] = ()
    """Observations that are angles in radians, by name, one --angle each: whole turns do not
    count in them."""
    seed: int = 0
    """Of the folds and of the features."""
    out: Path | None = None
    """Write a copy of the demonstrations with masks intent_0, intent_1, …"""
    condition: bool = False
    """In that copy, also append the group to every observation, as numbers 0 or 1."""

    def run(self) -> tuple[Json, list[RenderableType]]:
        from counterbc.data.merge import merge
        from counterbc.diagnosis.intents import IntentSearch, find_intents
        from counterbc.errors import OptionError
        from counterbc.files import check_free

        if self.out is not None:
            check_free(self.out)
        elif self.condition:
            raise OptionError("--condition changes the copy that --out names; add --out FILE")
        sources = list(streams(self.demos, self.obs, format=self.format))
        left_out = [text for s in sources for text in s.header.left_out]
        demos = merge([s.demonstrations() for s in sources])
        search = IntentSearch(most=self.most)
        found = find_intents(
            demos, self.groups, angles=self.angle, seed=self.seed, search=search
        )  # fmt: skip
        each = zip(found.names, found.group, found.confidence, strict=True)
        said: Json = {
            "groups": found.groups,
            "sizes": found.sizes,
            "episodes": [
                {"name": name, "group": int(group), "confidence": round(float(sure), 6)}
                for name, group, sure in each
            ],
            "held_out": {str(k): float(v.mean()) for k, v in found.held_out.items()},
            "out": None if self.out is None else str(self.out),
            "not_carried_over": [] if self.out is None else left_out,
        }
        shown: list[RenderableType] = [_sentence(found.groups, len(demos)), ""]
        rows = [
            (f"intent_{k}", str(size), f"{found.confidence[found.group == k].mean():.3f}")
            for k, size in enumerate(found.sizes) if size
        ]  # fmt: skip
        shown.append(plain_table(("group", "episodes", "mean confidence"), rows))
        if found.held_out:
            shown += ["", _evidence(found.held_out)]
        if self.out is not None:
            marked = found.mark(demos)
            (found.condition(marked) if self.condition else marked).save(self.out)
            mask = "" if self.condition or found.groups == 1 else " --mask intent_0"
            shown.append(f"\nWritten to {self.out}. Next: counterbc train {self.out}{mask}")
            if left_out:
                shown += ["Not carried over:", *(f"  {text}" for text in left_out)]
        return said, shown


def _sentence(groups: int, episodes: int) -> str:
    if groups == 1:
        return f"One intent: nothing in these {episodes} episodes speaks for different goals."
    return f"{groups} intents in {episodes} episodes."


def _evidence(held_out: Mapping[int, NDArray[Any]]) -> RenderableType:
    """How much likelier unseen episodes are with so many groups than with one."""
    rows = []
    for k, log in held_out.items():
        gain = log - held_out[1]
        rows.append((str(k), f"{gain.mean():+.2f}", f"{gain.std() / np.sqrt(len(gain)):.2f}"))
    return plain_table(("groups tried", "log-likelihood of unseen episodes", "± se"), rows)
