"""counterbc intents"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import RenderableType

from counterbc.commands.command import COPIES, Json, explained_lines, plain_table, suggestion
from counterbc.commands.data_command import DATA_OPTIONS, DataCommand, Demos
from counterbc.commands.images import first_training
from counterbc.commands.options import Group
from counterbc.printing import stage

if TYPE_CHECKING:
    from counterbc.data.demonstrations import Demonstrations
    from counterbc.diagnosis.intents import Intents
    from counterbc.selection.shares import Explained


@dataclass(frozen=True)
class IntentsCommand(DataCommand):
    """Find groups of episodes that pursue different goals."""

    demos: Demos
    """Files or folders of demonstrations; several are merged."""
    groups: int | None = None
    """Number of groups; by default the number that best explains held-out episodes."""
    seed: int = 0
    """The seed of the folds and of the random features."""
    out: Path | None = None
    """Write a copy of the demonstrations with masks intent_0, intent_1, …"""
    condition: bool = False
    """In that copy, also append the group to every observation, one number 0 or 1 per group."""

    @classmethod
    def option_groups(cls) -> Mapping[str, Group]:
        from counterbc.diagnosis.intents import IntentSearch

        return {"search": Group(kind=IntentSearch)}

    def run(self) -> tuple[Json, list[RenderableType]]:
        from counterbc.diagnosis.intents import IntentSearch, find_intents
        from counterbc.errors import OptionError
        from counterbc.files import check_free, check_suffix
        from counterbc.selection.explained import explain_if_possible

        if self.out is not None:
            check_free(self.out)
            check_suffix(self.out, COPIES, "copy")
        elif self.condition:
            raise OptionError("--condition changes the copy that --out names; add --out FILE")
        not_read = [text for s in self.streams(self.demos) for text in s.header.left_out]
        demos = self.read(self.demos)
        search = IntentSearch(**self.given_options("search"))
        with stage("looking for goals"):
            intents = find_intents(demos, self.groups, seed=self.seed, search=search)
        with stage("looking at what can be predicted"):
            explained = explain_if_possible(demos)
        output, next_steps = _tables(intents), [self._next(intents, explained, demos)]
        if explained is not None:
            output = [*explained_lines(explained), *output]
        if intents.groups > 1 and explained is not None and not explained.tells:
            output.append("Actions tell little here, so groups differ in where episodes end.")
        if self.out is not None:
            copy = intents.mark(demos)
            (intents.condition(copy) if self.condition else copy).save(self.out)
            is_whole = self.condition or intents.groups == 1
            episodes = len(demos) if is_whole else int((intents.group == 0).sum())
            mask = [] if is_whole else ["--mask", "intent_0"]
            typed = (*mask, *self.as_typed("env", "trusted"), *first_training(demos, episodes))
            next_steps = [suggestion("train", self.out, *typed)]
            output.append(f"\nWritten to {self.out}.")
            if not_read:
                output += ["Not carried over:", *(f"  {text}" for text in not_read)]
        payload = _payload(intents) | {
            "explained": None if explained is None else explained.as_dict(),
            "out": None if self.out is None else str(self.out),
            "next": next_steps,
            "not_carried_over": [] if self.out is None else not_read,
        }
        return payload, output

    def _next(self, intents: Intents, explained: Explained | None, demos: Demonstrations) -> str:
        """Return the command that separates the goals; where there is one, the command that trains,
        or that looks at the data again if nothing can be predicted."""
        if intents.groups == 1:
            can_tell = explained is None or explained.tells
            typed = self.as_typed(*DATA_OPTIONS)
            if not can_tell:
                return suggestion("inspect", *self.demos, *typed)
            return suggestion("train", *self.demos, *typed, *first_training(demos, len(demos)))
        typed = self.as_typed(*DATA_OPTIONS, "groups", "seed", "search")
        copy = f"{self.demos[0].stem}-goals.hdf5"
        return suggestion("intents", *self.demos, *typed, "--condition", "--out", copy)


def _payload(intents: Intents) -> Json:
    episodes = zip(intents.names, intents.group, intents.confidence, strict=True)
    return {
        "groups": intents.groups,
        "sizes": intents.sizes,
        "episodes": [
            {"name": name, "group": int(group), "confidence": round(float(confidence), 6)}
            for name, group, confidence in episodes
        ],
        "verdict": intents.verdict,
        "angles": list(intents.angles),
        "held_out": {str(k): float(v.mean()) for k, v in intents.held_out.items()},
        "end_held_out": {str(k): float(v.mean()) for k, v in intents.end_held_out.items()},
    }


def _tables(intents: Intents) -> list[RenderableType]:
    rows = [
        (f"intent_{k}", str(size), f"{intents.confidence[intents.group == k].mean():.3f}")
        for k, size in enumerate(intents.sizes)
        if size
    ]
    table = plain_table(("group", "episodes", "mean confidence"), rows)
    output: list[RenderableType] = [_sentence(intents), "", table]
    if intents.angles:
        output += ["", f"Read as angles: {', '.join(intents.angles)}."]
    return [*output, "", _evidence(intents)] if intents.held_out else output


def _sentence(intents: Intents) -> str:
    episodes = len(intents.names)
    if intents.groups > 1:
        return f"{intents.groups} intents in {episodes} episodes."
    if intents.verdict == "too few episodes":
        return (
            f"Too few episodes to tell: {episodes} would not show different goals, even if they "
            "were far apart. Record more, or give --groups."
        )
    return f"One intent: no evidence of different goals in these {episodes} episodes."


def _evidence(intents: Intents) -> RenderableType:
    """Return how much likelier held-out episodes are with each number of groups than with one."""
    rows = []
    for k in intents.held_out:
        cells = []
        for held_out in (intents.held_out, intents.end_held_out):
            gain = held_out[k] - held_out[1]
            cells += [f"{gain.mean():+.2f}", f"{gain.std() / len(gain) ** 0.5:.2f}"]
        rows.append((str(k), *cells))
    head = (
        "groups tried",
        "log-likelihood of held-out episodes",
        "± se",
        "of final states",
        "± se",
    )
    return plain_table(head, rows)
