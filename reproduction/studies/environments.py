"""The tables and pictures of docs/environments.md, from `worlds`, `methods` and `fixed-radii`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from counterbc.demonstrators import HUMAN_TEACHERS, NOISES
from counterbc.envs import WORLDS, make_vec
from reproduction.markdown import markdown_table
from reproduction.options import DOCS, StudyOptions, option
from reproduction.records import Record, read
from reproduction.studies import fixed_radii, methods

SPEED = DOCS.parent / "benchmarks" / "results" / "worlds-speed.json"
DEMONSTRATORS = ("expert", *NOISES, *HUMAN_TEACHERS)
FRAMES = {"intersection": (1, 8, 19), "cartpole-hard": (1, 25, 60), "air-hockey": (1, 30, 90)}
SEEDS = {"intersection": 3, "cartpole-hard": 1, "air-hockey": 0}


@dataclass(frozen=True, kw_only=True)
class EnvironmentsOptions(StudyOptions):
    """Draw frames of an expert's episode in three worlds."""

    figures: Path = option(DOCS / "images", "folder of the pictures")


def run(options: EnvironmentsOptions) -> None:
    """Draw the frames."""
    from PIL import Image

    for world, steps in FRAMES.items():
        path = options.figures / f"{world}.png"
        Image.fromarray(frames(world, steps)).save(path, optimize=True)
        print(path)


def sections(results: Path) -> dict[str, dict[str, str]]:
    """Return the tables and single numbers of docs/environments.md."""
    worlds, method_rows, radii = (
        read(results / study / "numbers.json") for study in ("worlds", "methods", "fixed-radii")
    )
    delays = {f"late {n}": mean_text(worlds["delays"][f"cartpole, 0.{n} s late"]) for n in (1, 2)}
    expert = worlds["returns"]["cartpole-hard"]["expert"]["return"]
    return {
        "environments": {
            "speeds": speed_table(read(SPEED)),
            "returns": return_table(worlds["returns"]),
            "spread": str(worlds["spread of the paper's return"]),
            **delays,
            "methods": methods.markdown(method_rows),
            "measures": measure_table(method_rows),
            "radii": fixed_radii.markdown(radii),
            "expert of cartpole-hard": f"{expert:.1f}",
        }
    }


def frames(world: str, steps: tuple[int, ...]) -> NDArray[np.uint8]:
    """Return the frames of the expert at these steps, side by side."""
    env: Any = make_vec(world, 1, render_mode="rgb_array")
    expert, key = WORLDS[world].load_expert(), np.array([SEEDS[world]])
    obs, _ = env.reset(seed=key.tolist())
    pictures = []
    for t in range(max(steps)):
        obs, *_ = env.step(expert(obs, key, t).astype(np.float32))
        if t + 1 in steps:
            pictures.append(env.render()[0])
    gap = np.full((len(pictures[0]), 8, 3), 255, np.uint8)
    return np.concatenate([part for frame in pictures for part in (frame, gap)][:-1], axis=1)


def speed_table(speed: Record) -> str:
    """Return the speeds that `benchmarks/worlds.py` measured."""
    ratios, lines = ("time / Cartpole's", "time / gymnasium's CartPole"), []
    for name, row in speed.items():
        numbers = [row[ratio] for ratio in ratios]
        cells = [f"{middle:.2f} ({low:.2f} … {high:.2f})" for middle, low, high in numbers]
        lines.append([name, f"{row['steps per second']:,}", *cells])
    return markdown_table(["world", "steps per second", *ratios], lines)


def return_table(returns: Record) -> str:
    """Return the mean returns of all demonstrators."""
    lines = [
        [name, *(mean_text(rows[demonstrator]) for demonstrator in DEMONSTRATORS)]
        for name, rows in returns.items()
    ]
    return markdown_table(["world", *DEMONSTRATORS], lines)


def mean_text(row: dict[str, float]) -> str:
    """Return a mean with its standard error."""
    return f"{row['return']:.1f} ± {row['error']:.1f}"


def measure_table(rows: list[Record]) -> str:
    """Return what air hockey reports beside hits, with mean actions."""
    hockey = [r for r in rows if r["measures"] and r["act"] == "mean"]
    methods = list(dict.fromkeys(r["method"] for r in hockey))
    lines = []
    for teacher, pairs in dict.fromkeys((r["teacher"], r["pairs"]) for r in hockey):
        for name in ("distance_per_hit", "time_per_hit"):
            by_method = {
                r["method"]: r["measures"][name]
                for r in hockey
                if (r["teacher"], r["pairs"]) == (teacher, pairs)
            }
            cells = [f"{by_method[m]['mean']:.2f} ± {by_method[m]['se']:.2f}" for m in methods]
            lines.append([teacher, str(pairs), name, *cells])
    return markdown_table(["teacher", "pairs", "measure", *methods], lines)
