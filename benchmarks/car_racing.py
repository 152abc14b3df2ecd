"""Car Racing from pixels: the study of the five methods, the expert's return, and speeds.

    python benchmarks/car_racing.py study --device cuda      # minutes on a GPU; goes on if stopped
    python benchmarks/car_racing.py table                    # from the rows of the study
    python benchmarks/car_racing.py expert                   # in both simulators
    python benchmarks/car_racing.py speed                    # both simulators, side by side
    python benchmarks/car_racing.py picture                  # the expert's frames

Each seed records 8000 pairs of its own and learns from 400 or 1600 of them, drawn at random; Δ is
0.4. All methods of a seed see the same pairs and drive on the same ten tracks. Rows behind
docs/car-racing.md are in results/car-racing.
"""

from __future__ import annotations

import argparse
import json
import time
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import torch

from counterbc.demonstrations import Demonstrations, Episode
from counterbc.demonstrators import NOISES
from counterbc.envs import WORLDS, make_vec
from counterbc.evaluation import evaluate
from counterbc.files import aside
from counterbc.intervals import mean_interval, paired_difference
from counterbc.studies.page import between
from counterbc.studies.population import Population
from counterbc.studies.study import Study
from counterbc.training import train

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs/car-racing.md"
METHODS = ("bc", "weighted-bc", "bc-rnn", "bcnd", "counter-bc")
TEACHERS = ("uniform", "typical")
PAIRS = (400, 1600)
BACKENDS = ("envpool", "gymnasium")
SHOWN = (0, 60, 140, 220)
PAPER = {"bc": 2370, "weighted-bc": 1179, "bc-rnn": 276, "bcnd": 563}
"""Improvement of Counter-BC over each, in %, as the paper's appendix has it."""


def populations(options: argparse.Namespace) -> list[Population]:
    """Those that learn from the same demonstrations one after the other."""
    return [
        Population(
            "car-racing", teacher, 0.5 if teacher in NOISES else None, pairs, method,
            0.4 if method == "counter-bc" else None, pool=options.pool, seeds=options.seeds,
            episodes=options.episodes, steps=options.steps,
        )
        for teacher, pairs, method in product(TEACHERS, options.pairs, METHODS)
    ]  # fmt: skip


def study(options: argparse.Namespace) -> None:
    """Computes the rows that are missing."""
    whole = Study(populations(options), options.rows)
    began = time.perf_counter()
    count = whole.run(options.device, workers=options.workers)
    print(f"{count} populations in {time.perf_counter() - began:.0f} s, rows in {options.rows}")


def table(options: argparse.Namespace) -> None:
    """Writes the tables into docs/car-racing.md, between their marks, and prints them."""
    rows = Study(populations(options), options.rows).table().to_pylist()
    parts = {
        "Share of the track visited, in %": markdown(rows, "lap", 100),
        "Return": markdown(rows, "return", 1),
        "Improvement of Counter-BC in tiles visited, in %": improvements(rows),
    }
    text = "\n\n".join(f"**{title}**\n\n{part}" for title, part in parts.items())
    PAGE.write_text(between(PAGE.read_text(encoding="utf-8"), "tables", text), encoding="utf-8")
    print(text)


def by_seed(rows: list[dict[str, Any]], name: str, **chosen: Any) -> np.ndarray[Any, Any]:
    """One number per seed, in order: (seeds,)."""
    found = [r for r in rows if all(r[k] == v for k, v in chosen.items())]
    return np.array([r[name] for r in sorted(found, key=lambda r: int(r["seed"]))], float)


def cells(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What a line of a table stands for, in the order of the rows."""
    keys = ("teacher", "pairs", "act")
    return [
        dict(zip(keys, v, strict=True))
        for v in dict.fromkeys(tuple(r[k] for k in keys) for r in rows)
    ]


def markdown(rows: list[dict[str, Any]], name: str, unit: float) -> str:
    """Mean ± standard error over seeds; ▲ ▼ where the 95 % interval of the paired difference to BC
    leaves out 0."""
    lines = ["| teacher | pairs | act | " + " | ".join(METHODS) + " |"]
    lines.append("|---" * (3 + len(METHODS)) + "|")
    for cell in cells(rows):
        base, texts = by_seed(rows, name, method="bc", **cell), []
        for method in METHODS:
            values = by_seed(rows, name, method=method, **cell)
            mean, above = mean_interval(values * unit), paired_difference(values, base).interval
            sign = " ▲" if above.low > 0 else " ▼" if above.high < 0 else ""
            texts.append(f"{mean.mean:.1f} ± {mean.se:.1f}{sign}")
        lines.append("| " + " | ".join([*map(str, cell.values()), *texts]) + " |")
    return "\n".join(lines)


def improvements(rows: list[dict[str, Any]]) -> str:
    """Of the mean over seeds, against each other method, beside the paper's."""
    lines = ["| teacher | pairs | act | " + " | ".join(f"over {m}" for m in PAPER) + " |"]
    lines.append("|---" * (3 + len(PAPER)) + "|")
    for cell in cells(rows):
        ours = np.nanmean(by_seed(rows, "tiles", method="counter-bc", **cell))
        others = [np.nanmean(by_seed(rows, "tiles", method=m, **cell)) for m in PAPER]
        texts = [f"{100 * (ours / other - 1):+.0f}" for other in others]
        lines.append("| " + " | ".join([*map(str, cell.values()), *texts]) + " |")
    paper = [f"+{number}" for number in PAPER.values()]
    return "\n".join([*lines, "| " + " | ".join(["the paper", "", "", *paper]) + " |"])


def expert(options: argparse.Namespace) -> None:
    """The expert's returns on the same number of tracks in each simulator."""
    drive, said = WORLDS["car-racing"].load_expert(), {}
    for backend in options.backends:
        env: Any = make_vec("car-racing", options.tracks, backend=backend)
        obs, _ = env.reset(seed=list(range(options.tracks)))
        returns, going = np.zeros(options.tracks), np.ones(options.tracks, bool)
        lap = np.zeros(options.tracks)
        for t in range(WORLDS["car-racing"].steps):
            obs, reward, ended, over, info = env.step(drive(obs, np.arange(options.tracks), t))
            returns += np.where(going, reward, 0)
            lap = np.where(going, info["lap"], lap)
            going &= ~(ended | over)
            if not going.any():
                break
        env.close()
        mean = mean_interval(returns)
        said[backend] = {"tracks": options.tracks, "return": mean.mean, "se": mean.se}
        said[backend] |= {"worst": float(returns.min()), "lap": float(lap.mean())}
        print(json.dumps({backend: said[backend]}), flush=True)
    write(options.out, "expert", said)


def speed(options: argparse.Namespace) -> None:
    """Steps per second of one core, and whole evaluations, the simulators taking turns."""
    frames = np.random.default_rng(0).integers(0, 256, (20, 96, 96, 3), np.uint8)
    shown = Demonstrations((Episode(frames, np.zeros((20, 3))),), np.array([-1, 0, 0]), np.ones(3))
    policies = train(shown, "bc", steps=1, progress=False)
    stepped: dict[str, list[float]] = {b: [] for b in BACKENDS}
    tested: dict[str, list[float]] = {b: [] for b in BACKENDS}
    for _, backend in product(range(options.repeats), BACKENDS):
        stepped[backend].append(steps_per_second(backend, options.steps))
        began = time.perf_counter()
        options_ = {"backend": backend, "max_episode_steps": options.steps}
        evaluate(policies, "car-racing", episodes=options.slots, progress=False, **options_)
        tested[backend].append(options.slots * options.steps / (time.perf_counter() - began))
    said: dict[str, Any] = {"torch threads": torch.get_num_threads()}
    for name, found in (("steps per second and core", stepped), ("evaluation", tested)):
        rates = {b: round(float(np.median(found[b])), 1) for b in BACKENDS}
        ratios = np.array(found["envpool"]) / np.array(found["gymnasium"])
        said[name] = rates | {
            "ratio": [round(float(x), 2) for x in np.quantile(ratios, [0.5, 0, 1])]
        }
    print(json.dumps(said, indent=1))
    write(options.out, "speed", said)


def steps_per_second(backend: str, steps: int) -> float:
    """Of 8 cars by one thread, driven by the expert's straight ahead; without making them."""
    env: Any = make_vec("car-racing", 8, backend=backend, threads=1)
    env.reset(seed=list(range(8)))
    action = np.tile([0.0, 0.1, 0.0], (8, 1))
    began = time.perf_counter()
    for _ in range(steps):
        env.step(action)
    rate = 8 * steps / (time.perf_counter() - began)
    env.close()
    return rate


def picture(options: argparse.Namespace) -> None:
    """The expert's frames in each simulator, a row each."""
    from PIL import Image

    drive, rows = WORLDS["car-racing"].load_expert(), []
    for backend in options.backends:
        env: Any = make_vec("car-racing", 1, backend=backend, render_mode="rgb_array")
        obs, _ = env.reset(seed=[options.track])
        shown = []
        for t in range(max(SHOWN) + 1):
            if t in SHOWN:
                shown.append(env.render()[0])
            obs, *_ = env.step(drive(obs, np.zeros(1), t))
        env.close()
        gap = np.full((len(shown[0]), 6, 3), 255, np.uint8)
        rows.append(np.concatenate([p for f in shown for p in (f, gap)][:-1], axis=1))
    gap = np.full((6, rows[0].shape[1], 3), 255, np.uint8)
    page = np.concatenate([p for r in rows for p in (r, gap)][:-1])
    Image.fromarray(page).save(options.picture)


def write(path: Path, name: str, said: Any) -> None:
    """One part of the file of results."""
    known = json.loads(path.read_text()) if path.exists() else {}
    with aside(path) as temporary:
        temporary.write_text(json.dumps({**known, name: said}, indent=1) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("what", choices=["study", "table", "expert", "speed", "picture"])
    parser.add_argument("--rows", type=Path, default=ROOT / "results" / "car-racing")
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks/results/car-racing.json")
    parser.add_argument("--device")
    parser.add_argument("--workers", type=int)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--episodes", type=int, default=10)
    parser.add_argument("--pairs", type=int, nargs="*", default=list(PAIRS))
    parser.add_argument("--pool", type=int, default=8000, help="pairs recorded by each seed")
    parser.add_argument("--steps", type=int, help="of training, or of an episode for speed")
    parser.add_argument("--track", type=int, default=7, help="of the picture")
    parser.add_argument("--picture", type=Path, default=ROOT / "docs/images/car-racing.png")
    parser.add_argument("--tracks", type=int, default=24)
    parser.add_argument("--backends", nargs="*", default=list(BACKENDS))
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--slots", type=int, default=8)
    options = parser.parse_args()
    options.steps = options.steps or (200 if options.what == "speed" else 2000)
    commands = {"study": study, "table": table, "expert": expert, "speed": speed}
    (commands | {"picture": picture})[options.what](options)


if __name__ == "__main__":
    main()
