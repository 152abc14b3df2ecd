"""Are goals told apart without labels? The table of docs/intents.md.

    python -m reproduction.studies.intents --data FOLDER [--out reproduction/results/intents/numbers.json]

Push-T, two files of people with two goals, mixed and each alone; whole, and with the last quarter
of every episode hidden. The labels are only compared with, with Wilson's 95 % interval.
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from counterbc import Demonstrations, load, merge
from counterbc.acting.intervals import wilson
from counterbc.demonstrators import UniformNoise, demonstrate
from counterbc.diagnosis.intents import find_intents

FILES = ("pusht_human_206.hdf5", "pusht_other_goal_151.hdf5")
ANGLE = "state[4]"


def hide(demos: Demonstrations, share: float) -> Demonstrations:
    """The same without the last share of every episode."""
    ends = [len(e) - int(share * len(e)) for e in demos.episodes]
    episodes = tuple(
        replace(e, obs=e.obs[:n], action=e.action[:n], reward=None)
        for e, n in zip(demos.episodes, ends, strict=True)
    )
    return replace(demos, episodes=episodes)


def measure(demos: Demonstrations, wanted: Any = None, **options: Any) -> dict[str, Any]:
    began = time.perf_counter()
    found = find_intents(demos, **options)
    seconds = time.perf_counter() - began
    gain = {str(k): v - found.held_out[1] for k, v in found.held_out.items()}
    row: dict[str, Any] = {
        "episodes": len(demos),
        "groups": found.groups,
        "sizes": found.sizes,
        "gain": {k: [float(g.mean()), float(g.std() / np.sqrt(len(g)))] for k, g in gain.items()},
        "seconds": round(seconds, 1),
    }
    if wanted is not None and found.groups == 2:
        same = int((found.group == np.asarray(wanted)).sum())
        right = max(same, len(demos) - same)
        row |= {"right": right, "share": right / len(demos), "wilson": wilson(right, len(demos))}
    return row


def markdown(rows: dict[str, dict[str, Any]]) -> str:
    lines = [
        "| demonstrations | episodes | groups found | in the right group | gain of 2 | gain of 3 |",
        "|---|" + 5 * "---|",
    ]
    for name, r in rows.items():
        right = ""
        if "share" in r:
            low, high = r["wilson"]
            right = f"{100 * r['share']:.1f} % [{100 * low:.1f}, {100 * high:.1f}]"
        gains = " | ".join("{:+.2f} ± {:.2f}".format(*r["gain"][k]) for k in ("2", "3"))
        lines.append(f"| {name} | {r['episodes']} | {r['groups']} | {right} | {gains} |")
    return "\n".join(lines).replace("| -", "| −")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument(
        "--out", type=Path, default=Path("reproduction/results/intents/numbers.json")
    )
    parser.add_argument("--data", type=Path, required=True, help="with both files of Push-T")
    options = parser.parse_args()
    folder = options.data
    parts = [load(folder / name, ["state"]) for name in FILES]
    whole, wanted = merge(parts), np.repeat([0, 1], [len(p) for p in parts])
    rows: dict[str, dict[str, Any]] = {}
    for text, share in (("", 0.0), (", last quarter hidden", 0.25)):
        rows[f"Push-T, both goals{text}"] = measure(hide(whole, share), wanted, angles=[ANGLE])
        for i, part in enumerate(parts):
            rows[f"Push-T, goal {i}{text}"] = measure(hide(part, share), angles=[ANGLE])
    rows["Adroit door"] = measure(load(folder / "adroit_door_human_25.hdf5"))
    for world, pairs in (("intersection", 1600), ("cartpole", 8000), ("fork", 1600)):
        demos = demonstrate(world, UniformNoise(0.3), pairs, seed=0)
        demos = demos.subset(range(len(demos) - 1))  # the last episode is cut off at `pairs`
        # In fork the side is what was wanted; half-way y tells it.
        sides = [e.obs[len(e) // 2, 1] > 0 for e in demos.episodes] if world == "fork" else None
        rows[f"{world}, noise"] = measure(demos, sides)
    options.out.write_text(json.dumps(rows, indent=1) + "\n")
    print(markdown(rows))


if __name__ == "__main__":
    main()
