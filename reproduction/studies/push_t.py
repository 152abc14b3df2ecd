"""Does Counter-BC help on what real people showed? The tables and pictures of docs/push-t.md.

    python -m reproduction.studies.push_t study --data pusht_human_206.hdf5 [--out DIR] [--device cuda]
    python -m reproduction.studies.push_t table [--out DIR]
    python -m reproduction.studies.push_t evidence --data pusht_human_206.hdf5 [--runs RUN …]
    python -m reproduction.studies.push_t speed
    python -m reproduction.studies.push_t pictures --data pusht_human_206.hdf5

A study that was stopped goes on where it stopped; the tables are made of what is finished. Networks
are the library's own, of two layers of 64 cells, or with `--network wide` of 256.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch

from counterbc.data.demonstrations import Array, Demonstrations
from counterbc.envs import make_vec
from counterbc.errors import CounterBCError
from counterbc.experiments.file_cell import FileCell
from counterbc.experiments.file_data import ALL, Subset
from counterbc.experiments.study import Study
from counterbc.formats import load
from reproduction.fill_docs import between
from reproduction.tables import Line, finished, lines, markdown

WORLD, OBS, PAGE = "push-t", ("state",), Path("docs/push-t.md")
SPEED = Path("benchmarks/results/push-t-speed.json")
STILL = 1.0  # pixels in a step
SUBSETS = (ALL, Subset(share=0.2))
NETWORKS: dict[str, dict[str, Any]] = {"default": {}, "wide": {"hidden": (256, 256)}}
MIXTURE: dict[str, Any] = {"policy": "mixture"}
ROWS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("BC", {"method": "bc"}),
    ("Weighted-BC", {"method": "weighted-bc"}),
    ("BC-RNN", {"method": "bc-rnn"}),
    ("BCND", {"method": "bcnd"}),
    ("Counter-BC, Δ 0.4", {"method": "counter-bc", "radius": 0.4}),
    ("Counter-BC, Δ auto", {"method": "counter-bc", "radius": "auto"}),
    ("Counter-BC, Δ 0.1", {"method": "counter-bc", "radius": 0.1}),
    ("Counter-BC, Δ 0.02", {"method": "counter-bc", "radius": 0.02}),
    ("BC on cleaned data", {"method": "bc", "cleaned": True}),
    ("BC, mixture policy", {"method": "bc", "changes": MIXTURE}),
    ("Counter-BC, Δ 0.1, mixture", {"method": "counter-bc", "radius": 0.1, "changes": MIXTURE}),
)
"""What the tables call each, and what it is; the five methods of the paper first."""
PAPER = 6  # rows of the paper's methods
ASKED = ("Counter-BC, Δ 0.4", "Counter-BC, Δ auto")


def cells(given: argparse.Namespace) -> list[FileCell]:
    """The paper's methods before the rest; slow ones first, not to run last and alone."""
    shared: dict[str, Any] = {n: getattr(given, n) for n in ("seeds", "episodes", "steps")}
    every = [
        (i >= PAPER, FileCell(WORLD, given.data, subset=subset, obs=OBS, **shared, **own))
        for subset in SUBSETS
        for i, (_, own) in enumerate(rows_of(given.network))
    ]
    return [cell for _, cell in sorted(every, key=lambda u: (u[0], -u[1].work))]


def rows_of(network: str) -> list[tuple[str, dict[str, Any]]]:
    """`ROWS` with networks of this kind."""
    kind = NETWORKS[network]
    return [(name, own | {"changes": kind | own.get("changes", {})}) for name, own in ROWS]


def study(given: argparse.Namespace) -> None:
    done = Study(cells(given), given.out)
    count = done.run(given.device, workers=given.workers)
    print(f"{count} populations computed, {len(done.cells)} finished, in {done.folder}")


def table(given: argparse.Namespace) -> None:
    """Write the tables into the page, between its two marks."""
    text, marks = tables(given.out, given.network), f"results, {given.network} network"
    PAGE.write_text(between(PAGE.read_text(encoding="utf-8"), marks, text), encoding="utf-8")
    print(text)


def tables(folder: Path, network: str) -> str:
    """One table for each part of the data and way of acting, as Markdown."""
    rows = finished(folder, WORLD)
    keys = {key(own): (i, name) for i, (name, own) in enumerate(rows_of(network))}
    own = [keys[k] for k in zip(rows.method, rows.radius, rows.changes, rows.cleaned, strict=True)]
    rows["order"], rows["label"] = [i for i, _ in own], [name for _, name in own]
    parts, short = [], []
    for subset in SUBSETS:
        for act in ("mean", "sample"):
            part = rows[(rows.subset == str(subset)) & (rows.act == act)].sort_values("order")
            if not len(part):
                continue
            found = lines(part, "best_coverage", base=ROWS[0][0])
            pairs, seeds = round(part.pairs.mean()), part.seed.nunique()
            said = "the mean action" if act == "mean" else "sampled actions"
            head = f"**{_named(subset)}** ({pairs} pairs), {said}, {seeds} seeds"
            parts.append(f"{head}\n\n{markdown(found, 'best coverage')}\n")
            short += [f"- {head}: {verdict(x, len(found) - 1)}" for x in found if x.label in ASKED]
    return "\n" + "\n".join(short) + "\n\n" + "\n".join(parts)


def verdict(line: Line, others: int) -> str:
    """Whether it helps, in words, with the difference; p is adjusted over the table's methods."""
    assert line.above is not None
    i, p = line.above.interval, line.above.p * others
    side = "above BC" if i.mean > 0 else "below BC"
    alone = f"{side}, but not after adjustment (p = {min(p, 1):.2f})"
    apart = i.low > 0 or i.high < 0
    word = (
        f"is {side}" if p < 0.05 else f"is {alone}" if apart else "makes no difference found here"
    )
    chosen = f" (chosen: {min(line.radius):.2g} to {max(line.radius):.2g})"
    return (
        f"{line.label}{chosen if line.label.endswith('auto') else ''} {word}: {i.mean:+.3f} "
        f"[{i.low:+.3f}, {i.high:+.3f}] against BC"
    ).replace("-0.", "−0.")


def key(own: dict[str, Any]) -> tuple[str, str, str, bool]:
    """What a row of `ROWS` and its rows in a file share."""
    radius = own.get("radius", "")
    text = f"{radius:g}" if isinstance(radius, float) else radius
    return own["method"], text, json.dumps(own["changes"]), own.get("cleaned", False)


def _named(subset: Subset) -> str:
    return "All episodes" if subset == ALL else f"{100 * subset.share:g} % of the episodes"


def evidence(given: argparse.Namespace) -> None:
    """What the recordings are like: how they end, the radius they choose, how people differ."""
    from counterbc.acting.policies import Policies
    from counterbc.diagnosis.meaning import meaning
    from counterbc.selection.radius import RadiusSearch, choose_radius

    demos = load(given.data, OBS)
    options: dict[str, Any] = {"device": given.device, "progress": False, "steps": given.steps}
    options |= NETWORKS[given.network]
    fine = RadiusSearch(radii=(0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.4), pairs=5000)
    choices = {
        "default": choose_radius(demos, **options),
        "fine": choose_radius(demos, search=fine, **options),
    }
    off = meaning(demos, radius=choices["fine"].radius, **options).residual  # (N, A)
    low, high = np.percentile(demos.action, [1, 99], axis=0)  # as the normalization has them
    said = {
        "shown": shown(demos),
        "still": {str(run): still(Policies.load(run)) for run in given.runs},
        "pixels per cell": ((high - low) / 2).round(1).tolist(),
        "radius": {k: c.as_dict() for k, c in choices.items()},
        "off": float(np.sqrt((off**2).sum(1).mean())),
        "off, median": float(np.median(np.linalg.norm(off, axis=1))),
        "off, 95 %": float(np.percentile(np.linalg.norm(off, axis=1), 95)),
        "autocorrelation of off": {k: lagged(demos, off, k) for k in (1, 5, 10)},
    }
    given.out.mkdir(parents=True, exist_ok=True)
    (given.out / "evidence.json").write_text(
        json.dumps(said, indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
    )
    print(json.dumps(said, indent=1))


def shown(demos: Demonstrations) -> dict[str, float]:
    """How far people got: the coverage of the last state, and of the best one."""
    from counterbc.envs.push_t import coverage

    found = []
    for e in demos.episodes:
        pose = e.obs[:, 2:].astype(np.float64)  # (T, 3)
        found.append(coverage(pose[:, :2], np.stack([np.cos(pose[:, 2]), np.sin(pose[:, 2])], 1)))
    last, best = np.array([c[-1] for c in found]), np.array([c.max() for c in found])
    moved = [np.linalg.norm(np.diff(e.obs[:, :2], axis=0), axis=1) for e in demos.episodes]
    ahead = np.linalg.norm(demos.action - demos.obs[:, :2], axis=1)  # (N,)
    return {
        "last": float(last.mean()),
        "best": float(best.mean()),
        "best of all": float(best.max()),
        "success": float((best > 0.95).mean()),
        "steps": float(np.mean([len(c) for c in found])),
        "steps that stand still": float((np.concatenate(moved) < STILL).mean()),
        "target from the disc, median": float(np.median(ahead)),
    }


def still(policies: Any, episodes: int = 40, last: int = 50) -> dict[str, dict[str, float]]:
    """How often a run's first policy stands still, and whether it does so at the end."""
    from counterbc.acting.actor import ACTS, Acting

    said: dict[str, dict[str, float]] = {}
    for act in ACTS:
        env, acting = make_vec(WORLD, episodes), Acting(policies[0], list(range(episodes)), act, 0)
        obs, _ = env.reset(seed=1000)
        places = [obs[:, :2]]
        for _ in range(299):  # before the limit, so that no place is of a next start
            action = acting.actions(torch.tensor(obs)[None])[0].numpy()
            obs = env.step(action)[0]
            places.append(obs[:, :2])
        moved = np.linalg.norm(np.diff(np.array(places), axis=0), axis=2)  # (steps, episodes)
        said[act] = {
            "steps": float((moved < STILL).mean()),
            "episodes, in all of the last steps": float((moved[-last:] < STILL).all(0).mean()),
        }
    return said


def lagged(demos: Demonstrations, off: Array, lag: int) -> float:
    """The correlation of errors with those `lag` steps later, within episodes."""
    ends = np.cumsum([len(e) for e in demos.episodes])[:-1]
    parts = [p for p in np.split(off - off.mean(0), ends) if len(p) > lag]
    product = np.concatenate([(p[:-lag] * p[lag:]).sum(1) for p in parts])
    square = np.concatenate([(p**2).sum(1) for p in parts])
    return float(product.mean() / square.mean())


def speed(given: argparse.Namespace) -> None:
    """Steps per second of CPU time, ours and gym-pusht's, in turns with the same actions."""
    import gym_pusht  # noqa: F401, registers its environment
    import gymnasium

    count, steps = 16, 60
    theirs: Any = [gymnasium.make("gym_pusht/PushT-v0").unwrapped for _ in range(count)]
    ours, rates = make_vec(WORLD, count), dict[str, list[float]](ours=[], theirs=[])
    for turn in range(5):
        obs, _ = ours.reset(seed=turn * count)
        for i, env in enumerate(theirs):
            env.reset(seed=turn * count + i)
        near = np.random.default_rng(turn).normal(0, 60, (steps, count, 2))
        taken, began = [], time.process_time()
        for t in range(steps):
            taken.append(np.clip(obs[:, 2:4] + near[t], 0, 512).astype(np.float32))
            obs = ours.step(taken[-1])[0]
        between = time.process_time()
        for action in taken:
            for env, own in zip(theirs, action, strict=True):
                env.step(own)
        after = time.process_time()
        rates["ours"].append(count * steps / (between - began))
        rates["theirs"].append(count * steps / (after - between))
    said = {name: round(float(np.median(r))) for name, r in rates.items()}
    text = json.dumps(said | {"ratio": round(said["ours"] / said["theirs"], 1)})
    SPEED.write_text(text + "\n")
    print(text)


def pictures(given: argparse.Namespace) -> None:
    """A strip of frames: what a person did, and what trained runs do from one start."""
    from PIL import Image

    from counterbc.acting.policies import Policies
    from counterbc.envs.push_t import Table

    demos, at = load(given.data, OBS), np.linspace(0, 1, 6)
    table_, rows = Table(), []
    table_.begin()
    states = demos.episodes[given.episode].obs
    rows.append([_placed(table_, states[round(a * (len(states) - 1))]) for a in at])
    for folder in given.runs:
        rows.append(_rolled(Policies.load(folder), states[0], at))
    strip = np.concatenate([np.concatenate(row, axis=1) for row in rows])
    small = Image.fromarray(strip).resize((strip.shape[1] // 2, strip.shape[0] // 2))
    small.save(given.picture)
    print(given.picture)


def _placed(table_: Any, state: Array) -> Array:
    env, (x, y, block_x, block_y, angle) = table_.env, map(float, state)
    env.agent.position, env.block.angle = (x, y), angle
    env.block.position = (block_x, block_y)
    env.space.step(1e-6)  # shapes and contacts follow their bodies in a step
    return np.asarray(env.render())


def _rolled(policies: Any, start: Array, at: Array) -> list[Array]:
    """Frames of the first member from a recorded start, to success or the last step."""
    from counterbc.envs.push_t import Tables

    tables_, actor = Tables(1, "rgb_array"), policies[0].actor()
    tables_.begin(np.array([0]))
    frames = [_placed(tables_.tables[0], start)]
    obs, ended = start, np.zeros(1, bool)
    while len(frames) <= 300 and not ended:
        _, ended = tables_.advance(actor.act(obs)[None])
        obs = tables_.obs[0]
        frames.append(np.asarray(tables_.frame(0)))
    return [frames[round(a * (len(frames) - 1))] for a in at]


COMMANDS = {f.__name__: f for f in (study, table, evidence, speed, pictures)}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("command", choices=COMMANDS)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--out", type=Path, help="by default results/push-t-NETWORK")
    parser.add_argument("--network", choices=NETWORKS, default="default")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--episodes", type=int, default=50)
    parser.add_argument("--steps", type=int, default=10_000)
    parser.add_argument("--device")
    parser.add_argument("--workers", type=int)
    parser.add_argument("--runs", type=Path, nargs="*", default=[])
    parser.add_argument("--episode", type=int, default=0)
    parser.add_argument("--picture", type=Path, default=Path("docs/images/push-t.png"))
    given = parser.parse_args()
    given.out = given.out or Path(f"reproduction/results/push-t-{given.network}")
    if given.data is None and given.command in ("study", "evidence", "pictures"):
        parser.error(f"{given.command} needs --data")
    try:
        COMMANDS[given.command](given)
    except CounterBCError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
