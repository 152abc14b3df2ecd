"""What the methods learn from the synthetic operators of the world can: tables of docs/can.md.

    python -m reproduction.studies.can_record --out can_synthetic_mh_300.hdf5      the demonstrations
    python -m reproduction.studies.can study --data can_synthetic_mh_300.hdf5 [--out DIR] [--device cuda]
    python -m reproduction.studies.can table [--out DIR]
    python -m reproduction.studies.can speed
    python -m reproduction.studies.can weights --data can_synthetic_mh_300.hdf5
    python -m reproduction.studies.can pictures [--runs RUN …]

Policies take their mean action: a step of this world costs some milliseconds. Networks are the
library's own, or with `--network wide` of two layers of 256 cells. A study that was stopped goes on
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
import torch

from counterbc import METHODS, load, train
from counterbc.errors import CounterBCError
from counterbc.experiments.file_cell import FileCell
from counterbc.experiments.file_data import ALL, Subset
from counterbc.experiments.study import Study
from counterbc.settings import Settings
from counterbc.weightings.weighting import Batch
from reproduction.fill_docs import between
from reproduction.tables import Line, finished, lines

WORLD, PAGE, PICTURE = "can", Path("docs/can.md"), Path("docs/images/can.png")
SPEED = Path("benchmarks/results/can-speed.json")
WEIGHTS = Path("reproduction/results/can-weights/numbers.json")
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
PLACE = {name: i for i, name in enumerate(ROWS)}


def cell(data: Path, subset: Subset, own: dict[str, Any], given: argparse.Namespace) -> FileCell:
    shared = {"seeds": given.seeds, "episodes": given.episodes, "steps": given.steps}
    changes = NETWORKS[given.network]
    return FileCell(WORLD, data, subset=subset, acts=("mean",), changes=changes, **shared, **own)


def study(given: argparse.Namespace) -> None:
    wanted = [cell(given.data, s, own, given) for own in ROWS.values() for s in SUBSETS.values()]
    wanted.insert(2, cell(given.data, BETTER, ROWS["BC"], given))
    done = Study(wanted, given.out)
    count = done.run(given.device, workers=given.workers)
    print(f"{count} populations computed, {len(done.cells)} finished, in {done.folder}")


def table(given: argparse.Namespace) -> None:
    """Write the tables into the page, between its two marks."""
    text = tables(given.out, given.network)
    PAGE.write_text(between(PAGE.read_text(encoding="utf-8"), "results", text), encoding="utf-8")
    print(text)


def tables(folder: Path, network: str) -> str:
    """A table for each part of the data, as Markdown."""
    rows, names = finished(folder, WORLD), {_label(own, network): k for k, own in ROWS.items()}
    rows = rows[rows.label.isin(names)].assign(label=lambda r: r.label.map(names))
    shards = []
    for name, subset in (SUBSETS | CEILING).items():
        part = rows[rows.subset == str(subset)].sort_values("label", key=lambda c: c.map(PLACE))
        if len(part):
            steps = part.groupby("label").length.mean()
            found = [_text(line, steps[line.label]) for line in lines(part, "success", base="BC")]
            head = f"**{name.capitalize()}**, {round(part.pairs.mean())} pairs"
            shards.append("\n".join([f"{head}\n", HEAD, *found, *_gripper(part)]))
    return "\n" + "\n\n".join(shards) + "\n"


HEAD = "| method | Δ | success [95 %] | above BC, by seed [95 %] | steps |\n|---|---|---|---|---|"


def _label(own: dict[str, Any], network: str) -> str:
    radius = own.get("radius")
    numbers = radius if isinstance(radius, tuple) else (radius,)
    text = ",".join(n if isinstance(n, str) else f"{n:g}" for n in numbers if n is not None)
    kind = [f"{k}-{','.join(map(str, v))}" for k, v in NETWORKS[network].items()]
    return "-".join(x for x in (own["method"], text, *kind) if x)


def _gripper(part: Any) -> list[str]:
    """What a radius for the gripper adds, where both are finished."""
    without, with_it = "Counter-BC, Δ 0.4", "Counter-BC, Δ 0.4, gripper too"
    own = part[part.label.isin([without, with_it])]
    if own.label.nunique() < 2:
        return []
    (line,) = (x for x in lines(own, "success", base=without) if x.label == with_it)
    return [f"\nThe gripper's radius adds {_above(line)} points, by seed."]


def _above(line: Line) -> str:
    """How many points a line is above its base, by seed."""
    if line.above is None:
        return ""
    i = line.above.interval
    mean, low, high = (100 * share for share in (i.mean, i.low, i.high))
    return f"{mean:+.1f} [{low:+.1f}, {high:+.1f}]".replace("-", "−")


def _text(line: Line, steps: float) -> str:
    """Wilson's interval takes all episodes for independent; the difference is paired by seed."""
    radii = sorted({round(r, 2) for r in line.radius}) if "Counter" in line.label else []
    rate, low, high = (100 * share for share in line.rate)
    cells = [line.label, " … ".join(f"{r:g}" for r in radii)]
    cells += [f"{rate:.1f} % [{low:.1f}, {high:.1f}]", _above(line), f"{steps:.0f}"]
    return f"| {' | '.join(cells)} |"


def speed(given: argparse.Namespace) -> None:
    """Steps per second of CPU time, ours and robosuite's own, in turns with the same actions."""
    from counterbc.envs.can.simulator import Simulator

    ours, theirs, steps = Simulator(), Simulator().env, 60
    rates = dict[str, list[float]](ours=[], theirs=[])
    for turn in range(6):
        action = np.random.default_rng(turn).uniform(-0.5, 0.5, (steps, 7))
        state = ours.start(turn)
        np.random.seed(turn)  # robosuite draws its starts by the global generator
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
    text = json.dumps(said | {"ratio": round(said["ours"] / said["theirs"], 1)})
    SPEED.write_text(text + "\n")
    print(text)


def weights(given: argparse.Namespace) -> None:
    """Of how many pairs of a batch the weights leave something: 1 / Σ w², over 200 batches of the
    usual size, by the weights that training ended with (BCND: that a next round would begin with).
    """
    demos, said = load(given.data), dict[str, float]()
    rng, size = np.random.default_rng(0), Settings.largest_batch
    for method in ("weighted-bc", "bcnd"):
        own = train(demos, method, seeds=[0], steps=given.steps, device=given.device)
        weighting, left = METHODS[method].weighting, []
        for _ in range(200):
            chosen = rng.integers(len(demos), size=size)
            obs = own.scales.obs(torch.tensor(demos.obs[chosen], dtype=torch.float32)[None])
            act = own.scales.action(torch.tensor(demos.action[chosen], dtype=torch.float32)[None])
            head = own.policy.head(own.params, obs.expand(own.shards, -1, -1))
            log_pi = own.policy.log_prob(head, act.unsqueeze(2).expand(own.shards, -1, -1, -1))
            batch = Batch(obs, obs, act, {"log_pi_prev": log_pi[..., 0].mT[None]})
            w = weighting.weights(own.weighting_params, batch, log_pi[:1])
            left.append(float(1 / (w / w.sum()).square().sum()))
        said[method] = round(float(np.mean(left)), 1)
    text = json.dumps({"pairs in a batch": size, "steps": given.steps, "in effect": said})
    WEIGHTS.write_text(text + "\n")
    print(text)


def pictures(given: argparse.Namespace) -> None:
    """A strip of frames for the expert, one for a worse operator, one for each run."""
    from PIL import Image

    from counterbc.acting.policies import Policies
    from counterbc.demonstrators.can_operators import OPERATORS, Performance
    from counterbc.envs.can.expert import expert

    worse = Performance(OPERATORS["synthetic_worse_2"], [0])
    acts = [lambda obs: expert(obs[None], np.zeros(1, np.int64), 0)[0], worse.act]
    acts += [Policies.load(run)[0].actor().act for run in given.runs]
    rows = [np.concatenate(_frames(act), axis=1) for act in acts]
    Image.fromarray(np.concatenate(rows)).save(given.picture)
    print(given.picture)


def _frames(act: Any, count: int = 6, seed: int = 3) -> list[Any]:
    """Evenly over an episode, to its end."""
    from counterbc.envs.can.world import Can

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


COMMANDS = {f.__name__: f for f in (study, table, speed, weights, pictures)}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("command", choices=COMMANDS)
    parser.add_argument("--data", type=Path, default=Path("can_synthetic_mh_300.hdf5"))
    parser.add_argument("--out", type=Path, default=Path("reproduction/results/can"))
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
