"""Writes docs/environments.md: the worlds, their numbers and how they look.

    python -m reproduction.studies.worlds --out reproduction/results/worlds/numbers.json      # some minutes
    python -m reproduction.studies.methods --out reproduction/results/methods/numbers.json    # an hour on two cores
    python -m reproduction.studies.fixed_radii --out reproduction/results/fixed-radii/numbers.json    # ten minutes
    python -m reproduction.studies.environments                                     # the page, from these

The frames are those of an expert's episode, made anew.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from counterbc.envs import WORLDS, make_vec

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))
from reproduction.studies.fixed_radii import markdown as radii_table  # noqa: E402  # scripts beside this one
from reproduction.studies.methods import markdown  # noqa: E402

RESULTS, DOCS = ROOT / "benchmarks" / "results", ROOT / "docs"
WHO = ("expert", "uniform", "gaussian", "epsilon-greedy", "novice", "typical", "skilled", "crowd")
FRAMES = {"intersection": (1, 8, 19), "cartpole-hard": (1, 25, 60), "air-hockey": (1, 30, 90)}
SEEDS = {"intersection": 3, "cartpole-hard": 1, "air-hockey": 0}


def frames(world: str, at: tuple[int, ...]) -> NDArray[np.uint8]:
    """The expert at these steps, side by side."""
    env: Any = make_vec(world, 1, render_mode="rgb_array")
    expert, key = WORLDS[world].load_expert(), np.array([SEEDS[world]])
    obs, _ = env.reset(seed=key.tolist())
    shown = []
    for t in range(max(at)):
        obs, *_ = env.step(expert(obs, key, t).astype(np.float32))
        if t + 1 in at:
            shown.append(env.render()[0])
    gap = np.full((len(shown[0]), 8, 3), 255, np.uint8)
    return np.concatenate([part for frame in shown for part in (frame, gap)][:-1], axis=1)


def speed_table(speed: dict[str, Any]) -> str:
    lines = ["| world | steps per second | time / Cartpole's | time / gymnasium's CartPole |"]
    lines.append("|---|---|---|---|")
    for name, row in speed.items():
        ratios = [row[k] for k in ("time / Cartpole's", "time / gymnasium's CartPole")]
        cells = [f"{middle:.2f} ({low:.2f} … {high:.2f})" for middle, low, high in ratios]
        lines.append(f"| {name} | {row['steps per second']:,} | {' | '.join(cells)} |")
    return "\n".join(lines)


def return_table(returns: dict[str, Any]) -> str:
    lines = ["| world | " + " | ".join(WHO) + " |", "|---" * (1 + len(WHO)) + "|"]
    for name, rows in returns.items():
        cells = [f"{rows[w]['return']:.1f} ± {rows[w]['error']:.1f}" for w in WHO]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def late(row: dict[str, float]) -> str:
    return f"{row['return']:.1f} ± {row['error']:.1f}"


def measure_table(rows: list[dict[str, Any]]) -> str:
    """What air hockey reports beside hits, with mean actions."""
    mine = [r for r in rows if r["measures"] and r["act"] == "mean"]
    methods = list(dict.fromkeys(r["method"] for r in mine))
    lines = ["| teacher | pairs | measure | " + " | ".join(methods) + " |"]
    lines.append("|---" * (3 + len(methods)) + "|")
    for teacher, pairs in dict.fromkeys((r["teacher"], r["pairs"]) for r in mine):
        for name in ("distance_per_hit", "time_per_hit"):
            found = {
                r["method"]: r["measures"][name]
                for r in mine
                if (r["teacher"], r["pairs"]) == (teacher, pairs)
            }
            cells = [f"{found[m]['mean']:.2f} ± {found[m]['se']:.2f}" for m in methods]
            lines.append(f"| {teacher} | {pairs} | {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    from PIL import Image

    for world, at in FRAMES.items():
        Image.fromarray(frames(world, at)).save(DOCS / "images" / f"{world}.png", optimize=True)
    worlds = json.loads((RESULTS / "worlds.json").read_text())
    methods = json.loads((RESULTS / "methods.json").read_text())
    radii = json.loads((RESULTS / "fixed-radii.json").read_text())
    page = (Path(__file__).parent / "environments.md.in").read_text()
    for name, text in (
        ("speeds", speed_table(worlds["speed"])),
        ("returns", return_table(worlds["returns"])),
        ("spread", str(worlds["spread of the paper's return"])),
        *((f"late{n}", late(worlds["delays"][f"cartpole, 0.{n} s late"])) for n in (1, 2)),
        ("methods", markdown(methods)),
        ("measures", measure_table(methods)),
        ("radii", radii_table(radii)),
        ("hard", f"{worlds['returns']['cartpole-hard']['expert']['return']:.1f}"),
    ):
        page = page.replace(f"{{{name}}}", text)
    (DOCS / "environments.md").write_text(page)


if __name__ == "__main__":
    main()
