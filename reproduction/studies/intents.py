"""Are different goals separated without labels?

Push-T, two files of people with two goals, mixed and each alone; whole, and with the last quarter
of every episode hidden. Labels serve only for the comparison, with Wilson's 95 % interval.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

import counterbc as cb
from counterbc.acting.intervals import wilson
from counterbc.demonstrators import UniformNoise
from counterbc.errors import OptionError
from reproduction.markdown import markdown_table
from reproduction.options import StudyOptions, option
from reproduction.records import Record, computed_with, read, write

FILES = ("pusht_human_206.hdf5", "pusht_other_goal_151.hdf5")
ANGLE = "state[4]"


@dataclass(frozen=True, kw_only=True)
class IntentsOptions(StudyOptions):
    """Find groups of episodes in files of people and in simulated worlds."""

    data: Path | None = option(None, "folder with both files of Push-T and that of Adroit door")


def run(options: IntentsOptions) -> None:
    """Compute all rows and print the table."""
    if options.data is None:
        raise OptionError("the study needs files of people; name their folder with --data")
    parts = [cb.load(options.data / name, ["state"]) for name in FILES]
    whole, labels = cb.merge(parts), np.repeat([0, 1], [len(p) for p in parts])
    rows: dict[str, Record] = {}
    for text, share in (("", 0.0), (", last quarter hidden", 0.25)):
        rows[f"Push-T, both goals{text}"] = measure(hide(whole, share), labels, angles=[ANGLE])
        for i, part in enumerate(parts):
            rows[f"Push-T, goal {i}{text}"] = measure(hide(part, share), angles=[ANGLE])
    rows["Adroit door"] = measure(cb.load(options.data / "adroit_door_human_25.hdf5"))
    for world, pairs in (("intersection", 1600), ("cartpole", 8000), ("fork", 1600)):
        demos = cb.demonstrate(world, UniformNoise(0.3), pairs, seed=0)
        demos = demos.subset(range(len(demos) - 1))  # the last episode is cut off at `pairs`
        # In fork the side is the label; y half-way through an episode shows it.
        sides = [e.obs[len(e) // 2, 1] > 0 for e in demos.episodes] if world == "fork" else None
        rows[f"{world}, noise"] = measure(demos, sides)
    write({n: row | computed_with("cpu") for n, row in rows.items()}, options.numbers("intents"))
    print(markdown(rows))


def sections(results: Path) -> dict[str, dict[str, str]]:
    """Return the table of docs/intents.md."""
    return {"intents": {"groups": markdown(read(results / "intents" / "numbers.json"))}}


def hide(demos: cb.Demonstrations, share: float) -> cb.Demonstrations:
    """Return the demonstrations without the last share of every episode."""
    ends = [len(e) - int(share * len(e)) for e in demos.episodes]
    episodes = tuple(
        replace(e, obs=e.obs[:n], action=e.action[:n], reward=None)
        for e, n in zip(demos.episodes, ends, strict=True)
    )
    return replace(demos, episodes=episodes)


def measure(demos: cb.Demonstrations, labels: Any = None, **options: Any) -> Record:
    """Return the groups, their gain in likelihood, and how many episodes match the labels."""
    start = time.perf_counter()
    intents = cb.find_intents(demos, **options)
    seconds = time.perf_counter() - start
    gain = {str(k): v - intents.held_out[1] for k, v in intents.held_out.items()}
    row: Record = {
        "episodes": len(demos),
        "groups": intents.groups,
        "sizes": intents.sizes,
        "gain": {k: [float(g.mean()), float(g.std() / np.sqrt(len(g)))] for k, g in gain.items()},
        "seconds": round(seconds, 1),
    }
    if labels is not None and intents.groups == 2:
        matches = int((intents.group == np.asarray(labels)).sum())
        count = max(matches, len(demos) - matches)
        row |= {"right": count, "share": count / len(demos), "wilson": wilson(count, len(demos))}
    return row


def markdown(rows: dict[str, Record]) -> str:
    """Return the groups of every dataset."""
    lines = []
    for name, r in rows.items():
        right = ""
        if "share" in r:
            low, high = r["wilson"]
            right = f"{100 * r['share']:.1f} % [{100 * low:.1f}, {100 * high:.1f}]"
        gains = ("{:+.2f} ± {:.2f}".format(*r["gain"][k]).replace("-", "−") for k in ("2", "3"))
        lines.append([name, str(r["episodes"]), str(r["groups"]), right, *gains])
    head = ("demonstrations", "episodes", "groups found", "in the right group")
    return markdown_table([*head, "gain of 2", "gain of 3"], lines)
