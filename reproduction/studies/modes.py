"""Two right actions at the same state: the tables and pictures of docs/modes.md.

    python -m reproduction.studies.modes [--seeds 20] [--fork-seeds 10] [--steps 10000] [--device cuda]

Line: one state dimension, intended action ±0.6 with equal probability, noise U(−0.3, 0.3), 400
pairs. Fork: 400 pairs of the world `fork`, noise U(−0.3, 0.3). Both with one Gaussian and with a
mixture of five, by BC and by Counter-BC of Δ 0.3, and on the line also of Δ from the data; ± are
standard errors over seeds. `--only line` or `--only fork` makes one of them and keeps the other.
Δ from the data takes minutes a seed; seeds that the file of results holds are not made again.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from counterbc import Demonstrations, Episode, Policies, evaluate, train
from counterbc.acting.actor import ACTS, Act, Acting
from counterbc.demonstrators import UniformNoise, demonstrate
from counterbc.envs import make_vec
from counterbc.envs.fork import GOAL, GOAL_RADIUS, OBSTACLE

PAIRS, NOISE, MEANT, RADIUS, SAMPLES = 400, 0.3, 0.6, 0.3, 2000
# Name → family, method, radius; of the palette of Okabe and Ito.
CASES: dict[str, tuple[str, str, float | str, str]] = {
    "Gaussian, BC": ("gaussian-mlp", "bc", RADIUS, "#000000"),
    "Gaussian, Counter-BC": ("gaussian-mlp", "counter-bc", RADIUS, "#D55E00"),
    "mixture, BC": ("mixture", "bc", RADIUS, "#0072B2"),
    "mixture, Counter-BC": ("mixture", "counter-bc", RADIUS, "#009E73"),
}
AUTO = "mixture, Counter-BC, Δ auto"
ON_LINE = CASES | {AUTO: ("mixture", "counter-bc", "auto", "#009E73")}
Array = NDArray[Any]


def line(seed: int) -> Demonstrations:
    rng = np.random.default_rng(seed)
    obs = rng.uniform(-1, 1, (PAIRS, 1))
    action = MEANT * rng.choice([-1, 1], (PAIRS, 1)) + rng.uniform(-NOISE, NOISE, (PAIRS, 1))
    return Demonstrations(
        (Episode(obs, action),), action_low=-np.ones(1), action_high=np.ones(1), source="line"
    )


def learn(case: str, datasets: list[Demonstrations], steps: int, device: str | None) -> Policies:
    family, method, radius, _ = CASES[case]
    changes: dict[str, Any] = {"policy": family, "radius": radius, "steps": steps}
    return train(datasets, method, seeds=len(datasets), progress=False, device=device, **changes)


def learn_auto(data: Demonstrations, seed: int, steps: int, device: str | None) -> Policies:
    """One seed at a time, so that a stopped run keeps what it has."""
    family, method, radius, _ = ON_LINE[AUTO]
    changes: dict[str, Any] = {"policy": family, "radius": radius, "steps": steps}
    return train(data, method, seeds=[seed], progress=False, device=device, **changes)


def sampled(policies: Policies) -> Array:
    """Actions of every member at states from −1 to 1: (members, samples)."""
    obs = torch.linspace(-1, 1, SAMPLES).view(1, -1, 1).expand(len(policies), -1, -1)
    actions = Acting(policies, list(range(SAMPLES)), "sample", seed=0).actions(obs)
    return np.asarray(actions[..., 0].numpy())


def mean_se(values: Array | list[float]) -> list[float]:
    values = np.asarray(values)
    return [float(values.mean()), float(values.std(ddof=1) / np.sqrt(len(values)))]


def measure_line(actions: Array) -> dict[str, list[float]]:
    """Distance to the nearest meant action, share far from both, the smaller mode's, by seed."""
    distance = np.minimum(np.abs(actions - MEANT), np.abs(actions + MEANT))
    up = (actions > 0).mean(1)
    return {
        "distance": distance.mean(1).tolist(),
        "far": (distance > NOISE).mean(1).tolist(),
        "share": np.minimum(up, 1 - up).tolist(),
    }


def measure_fork(policies: Policies, episodes: int) -> dict[str, Any]:
    said: dict[str, Any] = {}
    for act in ACTS:
        measures = evaluate(policies, "fork", episodes=episodes, act=act, progress=False).measures
        success = measures["success"]
        left = (measures["left"] * success).sum(1) / np.maximum(success.sum(1), 1)
        said[act] = {name: mean_se(measures[name].mean(1)) for name in ("success", "hit")}
        said[act]["left of successes"] = mean_se(left)
    return said


def roll(policies: Policies, act: Act, episodes: int) -> list[Array]:
    """Ways of the first member: (T, 2) each."""
    env: Any = make_vec("fork", episodes)
    obs, _ = env.reset(seed=list(range(episodes)))
    acting = Acting(policies[0], list(range(episodes)), act, seed=0)
    going, ways = np.ones(episodes, bool), [[o] for o in obs]
    while going.any():
        action = acting.actions(torch.tensor(obs)[None])[0].numpy()
        obs, _, terminated, truncated, _ = env.step(action)
        for i in going.nonzero()[0]:
            ways[i].append(obs[i])
        going &= ~(terminated | truncated)
    return [np.array(way) for way in ways]


def draw_line(actions: dict[str, Array], path: Path) -> None:
    """What each learner does, as densities of its sampled actions over all seeds."""
    plt = pyplot()
    figure, axes = plt.subplots(1, len(CASES), figsize=(9.0, 2.3), sharex=True, sharey=True)
    for axis, case in zip(axes, CASES, strict=True):
        drawn = actions[case]
        for meant in (-MEANT, MEANT):
            axis.axvspan(meant - NOISE, meant + NOISE, color="0.92", lw=0)
            axis.axvline(meant, color="0.4", lw=0.8, ls="--")
        axis.hist(drawn.ravel(), bins=100, range=(-1.2, 1.2), density=True, color=CASES[case][3])
        axis.set_title(case, fontsize=9, color=CASES[case][3], loc="left")
        axis.set_xlabel("sampled action")
        axis.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel("density")
    figure.tight_layout()
    figure.savefig(path, dpi=160)


def draw_fork(ways: dict[str, dict[Act, list[Array]]], path: Path) -> None:
    """Ways of one member of each learner, by the mean and by sampled actions."""
    plt = pyplot()
    figure, axes = plt.subplots(2, len(CASES), figsize=(9.0, 4.6), sharex=True, sharey=True)
    for column, (case, by_act) in zip(axes.T, ways.items(), strict=True):
        for axis, (act, each) in zip(column, by_act.items(), strict=True):
            axis.add_patch(plt.Circle((0, 0), OBSTACLE, color="0.6", lw=0))
            axis.add_patch(plt.Circle((GOAL, 0), GOAL_RADIUS, color="#009E73", alpha=0.3, lw=0))
            for way in each:
                axis.plot(*way.T, color=CASES[case][3], lw=0.8, alpha=0.7)
                axis.plot(*way[-1], "o", color=CASES[case][3], ms=2)
            axis.set_aspect("equal")
            axis.set_xlim(-1.1, 1.25)
            axis.set_ylim(-1.0, 1.0)
            axis.set_xticks([])
            axis.set_yticks([])
            axis.set_ylabel(f"by {act}" if case == next(iter(CASES)) else "")
        column[0].set_title(case, fontsize=9, color=CASES[case][3], loc="left")
    figure.tight_layout()
    figure.savefig(path, dpi=160)


def pyplot() -> Any:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    return plt


def markdown(rows: dict[str, dict[str, Any]]) -> str:
    def pm(pair: list[float], times: float = 1, digits: int = 3) -> str:
        return f"{times * pair[0]:.{digits}f} ± {times * pair[1]:.{digits}f}"

    lines = ["| policy | Δ | distance | far, % | smallest share of a mode, % |", "|---" * 5 + "|"]
    for case, row in rows.items():
        if "share" not in row.get("line", {}):
            continue
        r = row["line"]
        share = f"{100 * min(r['share']):.0f}"
        chosen = pm(mean_se(r["radius"]), 1, 2) if case == AUTO else f"{ON_LINE[case][2]}"
        radius = "–" if ON_LINE[case][1] == "bc" else chosen
        cells = (case, radius, pm(mean_se(r["distance"])), pm(mean_se(r["far"]), 100, 1), share)
        lines.append(f"| {' | '.join(cells)} |")
    lines += [
        "",
        "| policy | act | success, % | hits, % | left of successes, % |",
        "|---|" + 4 * "---|",
    ]
    for case, row in rows.items():
        for act, r in row.get("fork", {}).items():
            each = " | ".join(pm(r[k], 100, 1) for k in ("success", "hit", "left of successes"))
            lines.append(f"| {case} | {act} | {each} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--fork-seeds", type=int, default=10)
    parser.add_argument("--steps", type=int, default=10_000)
    parser.add_argument("--episodes", type=int, default=100)
    parser.add_argument("--only", choices=("line", "fork"), default=None)
    parser.add_argument("--device", default=None)
    parser.add_argument("--out", type=Path, default=Path("reproduction/results/modes/numbers.json"))
    parser.add_argument("--figures", type=Path, default=Path("docs/images"))
    o = parser.parse_args()
    torch.set_num_threads(1)
    rows: dict[str, dict[str, Any]] = {case: {} for case in ON_LINE}
    if o.out.exists():
        rows |= json.loads(o.out.read_text())
    if o.only != "fork":
        compare_line(rows, o)
        o.out.write_text(json.dumps(rows, indent=1) + "\n")
    if o.only != "line":
        compare_fork(rows, o)
        o.out.write_text(json.dumps(rows, indent=1) + "\n")
    print(markdown(rows))


def compare_line(rows: dict[str, dict[str, Any]], o: argparse.Namespace) -> None:
    datasets, actions = [line(s) for s in range(o.seeds)], {}
    for case in CASES:
        actions[case] = sampled(learn(case, datasets, o.steps, o.device))
        rows[case]["line"] = measure_line(actions[case])
    draw_line(actions, o.figures / "modes.png")
    o.out.write_text(json.dumps(rows, indent=1) + "\n")
    found = rows[AUTO].get("line", {})
    if found.get("steps") != o.steps:  # of another training
        found = rows[AUTO]["line"] = {"steps": o.steps}
    for seed in range(len(found.get("radius", [])), o.seeds):
        policies = learn_auto(datasets[seed], seed, o.steps, o.device)
        measured = measure_line(sampled(policies)) | {"radius": [policies.members[0].radius[0]]}
        for name, value in measured.items():
            found.setdefault(name, []).extend(value)
        o.out.write_text(json.dumps(rows, indent=1) + "\n")


def compare_fork(rows: dict[str, dict[str, Any]], o: argparse.Namespace) -> None:
    datasets = [demonstrate("fork", UniformNoise(NOISE), PAIRS, s) for s in range(o.fork_seeds)]
    ways: dict[str, dict[Act, list[Array]]] = {}
    for case in CASES:
        passing = learn(case, datasets, o.steps, o.device)
        ways[case] = {act: roll(passing, act, 20) for act in ACTS}
        rows[case]["fork"] = measure_fork(passing, o.episodes)
    draw_fork(ways, o.figures / "fork.png")


if __name__ == "__main__":
    main()
