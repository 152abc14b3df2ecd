"""What the methods learn from the synthetic operators of the world can: tables of docs/can.md.

    python benchmarks/can_record.py --out can_synthetic_mh_300.hdf5      the demonstrations
    python benchmarks/can.py study --data can_synthetic_mh_300.hdf5 [--out DIR] [--device cuda]
    python benchmarks/can.py table [--out DIR]
    python benchmarks/can.py speed
    python benchmarks/can.py pictures [--runs RUN …]

Policies take their mean action: a step of this world costs some milliseconds. Networks are the
library's own, or with `--network wide` of two layers of 256 units. A study that was stopped goes on
where it stopped; the table is made of what is finished.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from counterbc.errors import CounterBCError
from counterbc.intervals import paired_difference, share_interval
from counterbc.studies.page import between
from counterbc.studies.recorded import ALL, Recorded, Subset
from counterbc.studies.study import Study

WORLD, PAGE, PICTURE = "can", Path("docs/can.md"), Path("docs/images/can.png")
NETWORKS: dict[str, dict[str, Any]] = {"default": {}, "wide": {"hidden": (256, 256)}}
WORSE, BETTER = Subset(mask="worse"), Subset(mask="better")
SUBSETS = {"all six operators": ALL, "the two worse operators": WORSE}
CEILING = {"the two better operators": BETTER}  # of BC alone: what good demonstrations teach
ROWS: dict[str, dict[str, Any]] = {
    "BC": {"method": "bc"},
    "Counter-BC, Δ 0.4": {"method": "counter-bc", "radius": 0.4},
    "Counter-BC, Δ 0.4, gripper too": {"method": "counter-bc", "radius": (0.4,) * 7},
    "Weighted-BC": {"method": "weighted-bc"},
    "BC-RNN": {"method": "bc-rnn"},
    "BCND": {"method": "bcnd"},
    "Counter-BC, Δ auto": {"method": "counter-bc", "radius": "auto"},
    "Counter-BC, Δ 0.1": {"method": "counter-bc", "radius": 0.1},
}
"""What the table calls each; the last two are ours to add, and are computed last."""


def unit(data: Path, subset: Subset, own: dict[str, Any], given: argparse.Namespace) -> Recorded:
    shared = {"seeds": given.seeds, "episodes": given.episodes, "steps": given.steps}
    changes = NETWORKS[given.network]
    return Recorded(WORLD, data, subset=subset, acts=("mean",), changes=changes, **shared, **own)


def study(given: argparse.Namespace) -> None:
    wanted = [unit(given.data, s, own, given) for own in ROWS.values() for s in SUBSETS.values()]
    wanted.insert(2, unit(given.data, BETTER, ROWS["BC"], given))
    done = Study(wanted, given.out)
    count = done.run(given.device, workers=given.workers)
    print(f"{count} populations computed, {len(done.units)} finished, in {done.folder}")


def table(given: argparse.Namespace) -> None:
    """Write the tables into the page, between its two marks."""
    text = tables(given.out, given.network)
    PAGE.write_text(between(PAGE.read_text(encoding="utf-8"), "results", text), encoding="utf-8")
    print(text)


def tables(folder: Path, network: str) -> str:
    """A table for each part of the data, as Markdown."""
    import pandas as pd

    files = sorted(folder.glob(f"{WORLD}-*.parquet"))
    if not files:
        raise CounterBCError(f"{folder} holds no finished populations; run the study first")
    rows = pd.concat([pd.read_parquet(f) for f in files])
    parts = []
    for name, subset in (SUBSETS | CEILING).items():
        part = rows[rows.subset == str(subset)]
        found = {label: part[part.label == _label(own, network)] for label, own in ROWS.items()}
        lines = [_line(k, v.set_index("seed"), found["BC"]) for k, v in found.items() if len(v)]
        if not lines:
            continue
        head = f"**{name.capitalize()}**, {round(part.pairs.mean())} pairs"
        parts.append("\n".join([f"{head}\n", HEAD, *lines]))
    return "\n" + "\n\n".join(parts) + "\n"


HEAD = "| method | Δ | success [95 %] | above BC, by seed [95 %] | steps |\n|---|---|---|---|---|"


def _label(own: dict[str, Any], network: str) -> str:
    radius = own.get("radius")
    numbers = radius if isinstance(radius, tuple) else (radius,)
    text = ",".join(n if isinstance(n, str) else f"{n:g}" for n in numbers if n is not None)
    kind = [f"{k}-{','.join(map(str, v))}" for k, v in NETWORKS[network].items()]
    return "-".join(x for x in (own["method"], text, *kind) if x)


def _line(label: str, own: Any, base: Any) -> str:
    """Wilson's interval takes all episodes for independent; the difference is paired by seed."""
    right = np.concatenate(
        [
            np.repeat([1.0, 0.0], [round(p * n), n - round(p * n)])
            for p, n in zip(own.success, own.success_count.astype(int), strict=True)
        ]
    )
    share, above = share_interval(right), ""
    if label != "BC" and len(base):
        pair = own.success.align(base.set_index("seed").success, join="inner")
        i = paired_difference(*(100 * x.to_numpy() for x in pair)).interval
        above = f"{i.mean:+.1f} [{i.low:+.1f}, {i.high:+.1f}]".replace("-", "−")
    used = sorted({round(max(r), 2) for r in own.radius_used})
    radius = "" if used == [0.0] and "Counter" not in label else " … ".join(f"{r:g}" for r in used)
    low, high = 100 * share.low, 100 * share.high
    rate = f"{100 * share.mean:.1f} % [{low:.1f}, {high:.1f}]"
    return f"| {label} | {radius} | {rate} | {above} | {own.length.mean():.0f} |"


def speed(given: argparse.Namespace) -> None:
    """Steps per second of CPU time, ours and robosuite's own, in turns from the same starts."""
    from counterbc.envs.can_simulator import Simulator

    ours, theirs, steps = Simulator(), Simulator().env, 60
    rates = dict[str, list[float]](ours=[], theirs=[])
    for turn in range(6):
        action = np.random.default_rng(turn).uniform(-0.5, 0.5, (steps, 7))
        state = ours.start(turn)
        theirs.reset()
        began = time.process_time()
        for own in action:
            state = ours.advance(state, own)
            ours.observe(state)
        between = time.process_time()
        for own in action:
            theirs.step(own)
        rates["ours"].append(steps / (between - began))
        rates["theirs"].append(steps / (time.process_time() - between))
    said = {name: round(float(np.median(r[1:]))) for name, r in rates.items()}  # compiled by now
    print(json.dumps(said | {"ratio": round(said["ours"] / said["theirs"], 1)}))


def pictures(given: argparse.Namespace) -> None:
    """A strip of frames for the expert, one for a worse operator, one for each run."""
    from PIL import Image

    from counterbc.envs.can_expert import expert
    from counterbc.envs.can_operators import OPERATORS, Performance
    from counterbc.trained import Policies

    worse = Performance(OPERATORS["synthetic_worse_2"], [0])
    acts = [lambda obs: expert(obs[None], np.zeros(1, np.int64), 0)[0], worse.act]
    acts += [Policies.load(run)[0].actor().act for run in given.runs]
    rows = [np.concatenate(_frames(act), axis=1) for act in acts]
    Image.fromarray(np.concatenate(rows)).save(given.picture)
    print(given.picture)


def _frames(act: Any, count: int = 6, seed: int = 3) -> list[Any]:
    """Evenly over an episode, to its end."""
    from counterbc.envs.can import Can

    env, over = Can(render_mode="rgb_array"), False
    obs, _ = env.reset(seed=seed)
    states = [env._state]
    while not over:
        obs, _, terminated, truncated, _ = env.step(act(obs))
        states.append(env._state)
        over = terminated or truncated
    frames = []
    for share in np.linspace(0, 1, count):
        env._state = states[round(share * (len(states) - 1))]
        frames.append(env.render())
    return frames


COMMANDS = {f.__name__: f for f in (study, table, speed, pictures)}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("command", choices=COMMANDS)
    parser.add_argument("--data", type=Path, default=Path("can_synthetic_mh_300.hdf5"))
    parser.add_argument("--out", type=Path, default=Path("results/can"))
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--episodes", type=int, default=50)
    parser.add_argument("--steps", type=int, default=10_000)
    parser.add_argument("--network", choices=NETWORKS, default="default")
    parser.add_argument("--device")
    parser.add_argument("--workers", type=int)
    parser.add_argument("--runs", type=Path, nargs="*", default=[])
    parser.add_argument("--picture", type=Path, default=PICTURE)
    given = parser.parse_args()
    try:
        COMMANDS[given.command](given)
    except CounterBCError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
