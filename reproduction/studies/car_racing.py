"""Car Racing from pixels: the study of the five methods, the expert's return, and speeds.

    python -m reproduction.studies.car_racing study --device cuda      # minutes on a GPU; goes on if stopped
    python -m reproduction.studies.car_racing table                    # from the rows of the study
    python -m reproduction.studies.car_racing expert                   # in both simulators
    python -m reproduction.studies.car_racing speed                    # both simulators, side by side
    python -m reproduction.studies.car_racing dimensions               # Δ in some of the dimensions (an hour)
    python -m reproduction.studies.car_racing picture --run RUN        # frames of the expert and of a policy

Each seed records 8000 pairs of its own and learns from 400 or 1600 of them, drawn at random; Δ is
0.4. All methods of a seed see the same pairs and drive on the same ten tracks. Rows behind
docs/car-racing.md are in results/car-racing/rows.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import torch

from counterbc.acting.actor import ACTS
from counterbc.acting.evaluation import evaluate
from counterbc.acting.intervals import mean_interval, paired_difference
from counterbc.acting.policies import Policies
from counterbc.data.demonstrations import Demonstrations, Episode
from counterbc.envs import WORLDS, make_vec
from counterbc.experiments.simulated_cell import SimulatedCell
from counterbc.experiments.study import Study
from counterbc.files import aside
from counterbc.trainer import train
from reproduction.catalog import METHODS, FigureOptions
from reproduction.fill_docs import between

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs/car-racing.md"
FIGURES = ROOT / "reproduction/results/car-racing"
WORLD, TEACHERS = "car-racing", ("uniform", "typical")
PARTS = {"steering": (0.4, 0.0, 0.0), "gas and brake": (0.0, 0.4, 0.4)}
BACKENDS = ("envpool", "gymnasium")
SHOWN = (0, 60, 140, 220)
PAPER = {"bc": 2370, "weighted-bc": 1179, "bc-rnn": 276, "bcnd": 563}
"""Improvement of Counter-BC over each, in %, as the paper's appendix has it."""


def populations(options: argparse.Namespace) -> list[SimulatedCell]:
    """Those of figure 4, with these teachers."""
    asked = {"seeds": options.seeds, "episodes": options.episodes, "steps": options.steps}
    return FigureOptions(**asked).grid((WORLD,), TEACHERS)


def study(options: argparse.Namespace) -> None:
    """Computes the rows that are missing."""
    whole = Study(populations(options), options.rows)
    began = time.perf_counter()
    count = whole.run(options.device, workers=options.workers)
    print(f"{count} populations in {time.perf_counter() - began:.0f} s, rows in {options.rows}")


def table(options: argparse.Namespace) -> None:
    """Writes the tables into docs/car-racing.md, between their marks, and prints them; those of
    figures 5 and 6 as `counterbc reproduce` left their numbers."""
    rows = Study(populations(options), options.rows).table().to_pylist()
    parts = {
        "Share of the track visited, in %": markdown(rows, "lap", 100),
        "Return": markdown(rows, "return", 1),
        "Improvement of Counter-BC in tiles visited, in %": improvements(rows),
    }
    text = "\n\n".join(f"**{title}**\n\n{part}" for title, part in parts.items())
    page = PAGE.read_text(encoding="utf-8")
    made = {"sigmas": by_noise(), "radii": by_radius(), "dimensions": by_dimension(rows, options)}
    for name, part in {"tables": text, **made}.items():
        page = between(page, name, part)
        print(part)
    PAGE.write_text(page, encoding="utf-8")


def by_noise() -> str:
    """Figure 5: tiles visited, a line per σ and way of acting."""
    cells = numbers("figure5")
    keys = sorted({(c["act"], c["sigma"]) for c in cells})
    lines = ["| act | σ | " + " | ".join(METHODS) + " |", "|---" * (2 + len(METHODS)) + "|"]
    for act, sigma in keys:
        own = {c["method"]: tiles(c) for c in cells if (c["act"], c["sigma"]) == (act, sigma)}
        lines.append(f"| {act} | {sigma:g} | " + " | ".join(own[m] for m in METHODS) + " |")
    return "\n".join(lines)


def by_radius() -> str:
    """Figure 6: tiles visited by BC and by Counter-BC of each Δ."""
    cells = numbers("figure6")
    radii = sorted({c["radius"] for c in cells} - {None})
    lines = ["| teacher | act | BC | " + " | ".join(f"Δ {r:g}" for r in radii) + " |"]
    lines.append("|---" * (3 + len(radii)) + "|")
    for teacher, act in dict.fromkeys((c["teacher"], c["act"]) for c in cells):
        own = [c for c in cells if (c["teacher"], c["act"]) == (teacher, act)]
        shown = {c["radius"]: tiles(c) for c in own if c["method"] in ("bc", "counter-bc")}
        texts = [shown[r] for r in (None, *radii)]
        lines.append("| " + " | ".join([teacher, act, *texts]) + " |")
    return "\n".join(lines)


def by_dimension(rows: list[dict[str, Any]], options: argparse.Namespace) -> str:
    """The share of the track with Δ in none, some or all dimensions, and what is above BC's."""
    lines = ["| act | BC | " + " | ".join(f"Δ in {name}" for name in (*PARTS, "all")) + " |"]
    lines.append("|---" * (3 + len(PARTS)) + "|")
    some = known(options.out)["dimensions"]
    for act in ACTS:
        cell: dict[str, Any] = {"teacher": "uniform", "pairs": 400, "act": act}
        base = by_seed(rows, "lap", method="bc", **cell)
        each = [np.array(some[name][act]) for name in PARTS]
        texts = [f"{100 * base.mean():.0f} %"]
        for own in (*each, by_seed(rows, "lap", method="counter-bc", **cell)):
            i = paired_difference(100 * own, 100 * base).interval
            texts.append(f"{100 * own.mean():.0f} % ({i.mean:+.0f} [{i.low:+.0f}, {i.high:+.0f}])")
        lines.append("| " + " | ".join([act, *texts]) + " |")
    return "\n".join(lines).replace("-", "−").replace("−−−", "---")


def numbers(figure: str) -> list[dict[str, Any]]:
    """What `counterbc reproduce` said of a figure."""
    cells: list[dict[str, Any]] = json.loads((FIGURES / f"{figure}.json").read_text())["cells"]
    return cells


def tiles(cell: dict[str, Any]) -> str:
    return f"{cell['mean']:.0f} ± {cell['sem']:.0f}"


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


def markdown(rows: list[dict[str, Any]], name: str, factor: float) -> str:
    """Mean ± standard error over seeds; ▲ ▼ where the 95 % interval of the paired difference to BC
    leaves out 0."""
    lines = ["| teacher | pairs | act | " + " | ".join(METHODS) + " |"]
    lines.append("|---" * (3 + len(METHODS)) + "|")
    for cell in cells(rows):
        base, texts = by_seed(rows, name, method="bc", **cell), []
        for method in METHODS:
            values = by_seed(rows, name, method=method, **cell)
            mean, above = mean_interval(values * factor), paired_difference(values, base).interval
            sign = " ▲" if above.low > 0 else " ▼" if above.high < 0 else ""
            texts.append(f"{mean.mean:.1f} ± {mean.se:.1f}{sign}")
        lines.append("| " + " | ".join([*map(str, cell.values()), *texts]) + " |")
    return "\n".join(lines)


def improvements(rows: list[dict[str, Any]]) -> str:
    """Of the mean over seeds, against each other method, beside the paper's; and what a policy that
    visits every tile would improve on BC by."""
    heads = [*(f"over {m}" for m in PAPER), "over bc at most"]
    lines = [
        "| teacher | pairs | act | " + " | ".join(heads) + " |",
        "|---" * (3 + len(heads)) + "|",
    ]
    for cell in cells(rows):
        ours = np.nanmean(by_seed(rows, "tiles", method="counter-bc", **cell))
        others = [np.nanmean(by_seed(rows, "tiles", method=m, **cell)) for m in PAPER]
        least = np.nanmean(by_seed(rows, "lap", method="bc", **cell))
        texts = [f"{100 * x:+.0f}" for x in (*(ours / o - 1 for o in others), 1 / least - 1)]
        lines.append("| " + " | ".join([*map(str, cell.values()), *texts]) + " |")
    paper = [f"+{number}" for number in PAPER.values()]
    return "\n".join([*lines, "| " + " | ".join(["the paper", "", "", *paper, ""]) + " |"])


def expert(options: argparse.Namespace) -> None:
    """The expert's returns on the same number of tracks in each simulator."""
    drive, said = WORLDS[WORLD].load_expert(), {}
    for backend in options.backends:
        env: Any = make_vec(WORLD, options.tracks, backend=backend)
        obs, _ = env.reset(seed=list(range(options.tracks)))
        returns, going = np.zeros(options.tracks), np.ones(options.tracks, bool)
        lap = np.zeros(options.tracks)
        for t in range(WORLDS[WORLD].steps):
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
    """Steps per second of one core, with and without a policy, the simulators taking turns."""
    frames = np.random.default_rng(0).integers(0, 256, (20, 96, 96, 3), np.uint8)
    shown = Demonstrations((Episode(frames, np.zeros((20, 3))),), np.array([-1, 0, 0]), np.ones(3))
    policies = train(shown, "bc", steps=1, progress=False)
    stepped: dict[str, list[float]] = {b: [] for b in BACKENDS}
    tested: dict[str, list[float]] = {b: [] for b in BACKENDS}
    torch.set_num_threads(1)
    for turn, backend in product(range(-1, options.repeats), BACKENDS):
        own = {"backend": backend, "max_episode_steps": options.steps, "threads": 1}
        rate, began = steps_per_second(backend, options.steps), time.perf_counter()
        evaluate(policies, WORLD, episodes=options.slots, progress=False, **own)
        seconds = time.perf_counter() - began
        if turn >= 0:  # the first loads and compiles
            stepped[backend].append(rate)
            tested[backend].append(options.slots * options.steps / seconds)
    said: dict[str, Any] = {}
    for name, found in (("steps per second", stepped), ("evaluation", tested)):
        rates = {b: round(float(np.median(found[b])), 1) for b in BACKENDS}
        ratios = np.array(found["envpool"]) / np.array(found["gymnasium"])
        said[name] = rates | {
            "ratio": [round(float(x), 2) for x in np.quantile(ratios, [0.5, 0, 1])]
        }
    print(json.dumps(said, indent=1))
    write(options.out, "speed", said)


def steps_per_second(backend: str, steps: int) -> float:
    """Of 8 cars by one thread, driven by the expert's straight ahead; without making them."""
    env: Any = make_vec(WORLD, 8, backend=backend, threads=1)
    env.reset(seed=list(range(8)))
    action = np.tile([0.0, 0.1, 0.0], (8, 1))
    began = time.perf_counter()
    for _ in range(steps):
        env.step(action)
    rate = 8 * steps / (time.perf_counter() - began)
    env.close()
    return rate


def dimensions(options: argparse.Namespace) -> None:
    """Counter-BC with Δ in some dimensions only: the share of the track of each run, as the study
    has it with Δ in none (BC) and in all. Goes on if stopped."""
    said = known(options.out).get("dimensions", {})
    kind = SimulatedCell(WORLD, "uniform", 0.5, 400, "counter-bc", 0.4, 8000, seeds=options.seeds)
    for name, radius in PARTS.items():
        if name in said:
            continue
        policies = train(
            kind.datasets(), "counter-bc", radii=[radius],
            seeds=range(options.seeds), steps=options.steps, device=options.device,
        )  # fmt: skip
        found = {a: evaluate(policies, WORLD, episodes=options.episodes, act=a) for a in ACTS}
        said[name] = {act: e.measures["lap"].mean(1).tolist() for act, e in found.items()}
        write(options.out, "dimensions", said)
    print(json.dumps(said, indent=1))


def picture(options: argparse.Namespace) -> None:
    """Frames of the expert in each simulator and of a policy in envpool, a row each."""
    from PIL import Image

    expert = WORLDS[WORLD].load_expert()
    drivers: list[tuple[str, Callable[[Any], Any]]] = [
        (backend, lambda obs: expert(obs, np.zeros(1), 0)) for backend in options.backends
    ]
    if options.run is not None:
        act = Policies.load(options.run)[0].actor().act
        drivers.append(("envpool", lambda obs: act(obs[0])[None]))
    rows = []
    for backend, act_on in drivers:
        env: Any = make_vec(WORLD, 1, backend=backend, render_mode="rgb_array")
        obs, _ = env.reset(seed=[options.track])
        shown = []
        for t in range(max(SHOWN) + 1):
            if t in SHOWN:
                shown.append(env.render()[0])
            obs, *_ = env.step(act_on(obs))
        env.close()
        gap = np.full((len(shown[0]), 6, 3), 255, np.uint8)
        rows.append(np.concatenate([p for f in shown for p in (f, gap)][:-1], axis=1))
    gap = np.full((6, rows[0].shape[1], 3), 255, np.uint8)
    page = np.concatenate([p for r in rows for p in (r, gap)][:-1])
    Image.fromarray(page).save(options.picture)


def write(path: Path, name: str, said: Any) -> None:
    """One part of the file of results."""
    with aside(path) as temporary:
        temporary.write_text(json.dumps({**known(path), name: said}, indent=1) + "\n")


def known(path: Path) -> dict[str, Any]:
    """The file of results, if there is one."""
    found: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    return found


COMMANDS = {f.__name__: f for f in (study, table, expert, speed, dimensions, picture)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("what", choices=COMMANDS)
    parser.add_argument("--rows", type=Path, default=FIGURES / "rows")
    parser.add_argument(
        "--out", type=Path, default=ROOT / "reproduction/results/car-racing/numbers.json"
    )
    parser.add_argument("--device")
    parser.add_argument("--workers", type=int)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--episodes", type=int, default=10)
    parser.add_argument("--steps", type=int, help="of training, or of an episode for speed")
    parser.add_argument("--track", type=int, default=7, help="of the picture")
    parser.add_argument("--picture", type=Path, default=ROOT / "docs/images/car-racing.png")
    parser.add_argument("--run", type=Path, help="a policy for the picture")
    parser.add_argument("--tracks", type=int, default=24, help="of the expert")
    parser.add_argument("--backends", nargs="*", default=list(BACKENDS))
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--slots", type=int, default=8)
    options = parser.parse_args()
    options.steps = options.steps or (200 if options.what == "speed" else 2000)
    COMMANDS[options.what](options)


if __name__ == "__main__":
    main()
