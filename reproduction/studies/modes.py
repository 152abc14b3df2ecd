"""Two right actions at the same state: one Gaussian against a mixture, by BC and Counter-BC.

Line: one state dimension, intended action ±0.6 with equal probability, noise U(−0.3, 0.3), 400
pairs. Fork: 400 pairs of the world `fork`, noise U(−0.3, 0.3). Both with one Gaussian and with a
mixture of five, by BC and by Counter-BC with Δ 0.3; on the line also with Δ from the data, which
takes minutes per seed. ± are standard errors over seeds.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray

import counterbc as cb
from counterbc.acting.act import ACTS, Act
from counterbc.acting.actor import Acting
from counterbc.demonstrators import UniformNoise
from counterbc.envs import make_vec
from counterbc.experiments.cell import evaluate_acts, reproducible
from reproduction.markdown import markdown_table
from reproduction.options import DOCS, StudyOptions, option
from reproduction.records import Record, computed_with, read, write
from reproduction.studies.modes_figures import draw_fork, draw_line

PAIRS, NOISE, INTENDED_ACTION, RADIUS, SAMPLES = 400, 0.3, 0.6, 0.3, 2000
CASES: dict[str, tuple[str, str, float | str]] = {
    "Gaussian, BC": ("gaussian-mlp", "bc", RADIUS),
    "Gaussian, Counter-BC": ("gaussian-mlp", "counter-bc", RADIUS),
    "mixture, BC": ("mixture", "bc", RADIUS),
    "mixture, Counter-BC": ("mixture", "counter-bc", RADIUS),
}
AUTO = "mixture, Counter-BC, Δ auto"
ON_LINE = CASES | {AUTO: ("mixture", "counter-bc", "auto")}
"""Name → policy, method, radius."""
Array = NDArray[Any]


@dataclass(frozen=True, kw_only=True)
class ModesOptions(StudyOptions):
    """Compare a Gaussian and a mixture where two actions are right."""

    seeds: int = 20
    fork_seeds: int = option(10, "number of runs in the world fork")
    steps: int = 10_000
    episodes: int = 100
    only: Literal["line", "fork"] | None = option(None, "compute one of both and keep the other")
    device: str | None = None
    figures: Path = option(DOCS / "images", "folder of the pictures")


def run(options: ModesOptions) -> None:
    """Compute both comparisons, draw them and print the tables."""
    path = options.numbers("modes")
    rows: dict[str, Record] = {case: {} for case in ON_LINE}
    if path.exists():
        rows |= read(path)
    with reproducible():
        if options.only != "fork":
            compare_line(rows, options, path)
        if options.only != "line":
            compare_fork(rows, options)
    write(rows, path)
    print(f"{line_table(rows)}\n\n{fork_table(rows)}")


def sections(results: Path) -> dict[str, dict[str, str]]:
    """Return the tables of docs/modes.md."""
    rows = read(results / "modes" / "numbers.json")
    return {"modes": {"line": line_table(rows), "fork": fork_table(rows)}}


def line(seed: int) -> cb.Demonstrations:
    """Return pairs on a line whose intended action is ±0.6."""
    rng = np.random.default_rng(seed)
    obs = rng.uniform(-1, 1, (PAIRS, 1))
    action = INTENDED_ACTION * rng.choice([-1, 1], (PAIRS, 1)) + rng.uniform(
        -NOISE, NOISE, (PAIRS, 1)
    )
    return cb.Demonstrations(
        (cb.Episode(obs, action),), action_low=-np.ones(1), action_high=np.ones(1), source="line"
    )


def learn(
    case: str, datasets: list[cb.Demonstrations], steps: int, device: str | None
) -> cb.Policies:
    """Return a policy per dataset."""
    family, method, radius = CASES[case]
    changes: dict[str, Any] = {"policy": family, "radius": radius, "steps": steps}
    return cb.train(datasets, method, seeds=len(datasets), progress=False, device=device, **changes)


def learn_auto(data: cb.Demonstrations, seed: int, steps: int, device: str | None) -> cb.Policies:
    """Return the policy of one seed with Δ from the data."""
    family, method, radius = ON_LINE[AUTO]
    changes: dict[str, Any] = {"policy": family, "radius": radius, "steps": steps}
    return cb.train(
        data, method, seeds=[seed], search=cb.RadiusSearch(), progress=False, device=device,
        **changes,
    )  # fmt: skip


def sample_actions(policies: cb.Policies) -> Array:
    """Return actions (members, samples) of every member at states from −1 to 1."""
    obs = torch.linspace(-1, 1, SAMPLES).view(1, -1, 1).expand(len(policies), -1, -1)
    actions = Acting(policies, list(range(SAMPLES)), "sample", seed=0).actions(obs)
    return np.asarray(actions[..., 0].numpy())


def mean_se(values: Array | list[float]) -> list[float]:
    """Return the mean and its standard error."""
    values = np.asarray(values)
    return [float(values.mean()), float(values.std(ddof=1) / np.sqrt(len(values)))]


def measure_line(actions: Array) -> Record:
    """Return by seed the distance to the nearest intended action, and shares of actions."""
    distance = np.minimum(np.abs(actions - INTENDED_ACTION), np.abs(actions + INTENDED_ACTION))
    up = (actions > 0).mean(1)
    return {
        "distance": distance.mean(1).tolist(),
        "far": (distance > NOISE).mean(1).tolist(),
        "share": np.minimum(up, 1 - up).tolist(),
    }


def measure_fork(policies: cb.Policies, episodes: int) -> Record:
    """Return success, collisions and the side taken, by way of acting."""
    numbers: Record = {}
    for e in evaluate_acts(policies, "fork", episodes=episodes, acts=ACTS):
        measures, success = e.measures, e.measures["success"]
        left_share = (measures["left"] * success).sum(1) / np.maximum(success.sum(1), 1)
        numbers[e.act] = {name: mean_se(measures[name].mean(1)) for name in ("success", "hit")}
        numbers[e.act]["left of successes"] = mean_se(left_share)
    return numbers


def paths(policies: cb.Policies, act: Act, episodes: int) -> list[Array]:
    """Return paths (T, 2) of the first member."""
    env: Any = make_vec("fork", episodes)
    obs, _ = env.reset(seed=list(range(episodes)))
    acting = Acting(policies[0], list(range(episodes)), act, seed=0)
    active, steps = np.ones(episodes, bool), [[o] for o in obs]
    while active.any():
        action = acting.actions(torch.tensor(obs)[None])[0].numpy()
        obs, _, terminated, truncated, _ = env.step(action)
        for i in active.nonzero()[0]:
            steps[i].append(obs[i])
        active &= ~(terminated | truncated)
    return [np.array(path) for path in steps]


def line_table(rows: dict[str, Record]) -> str:
    """Return the measures on the line."""
    lines = []
    for case, row in rows.items():
        if "share" not in row.get("line", {}):
            continue
        r = row["line"]
        share = f"{100 * min(r['share']):.0f}"
        radius_text = _text(mean_se(r["radius"]), 1, 2) if case == AUTO else f"{ON_LINE[case][2]}"
        radius = "–" if ON_LINE[case][1] == "bc" else radius_text
        far = _text(mean_se(r["far"]), 100, 1)
        lines.append((case, radius, _text(mean_se(r["distance"])), far, share))
    head = ("policy", "Δ", "distance", "far, %", "smallest share of a mode, %")
    return markdown_table(head, lines)


def fork_table(rows: dict[str, Record]) -> str:
    """Return the measures in the world `fork`."""
    lines = []
    for case, row in rows.items():
        for act in ACTS if "fork" in row else ():
            r = row["fork"][act]
            cells = (_text(r[k], 100, 1) for k in ("success", "hit", "left of successes"))
            lines.append([case, act, *cells])
    head = ("policy", "act", "success, %", "hits, %", "left of successes, %")
    return markdown_table(head, lines)


def _text(pair: list[float], times: float = 1, digits: int = 3) -> str:
    return f"{times * pair[0]:.{digits}f} ± {times * pair[1]:.{digits}f}"


def compare_line(rows: dict[str, Record], options: ModesOptions, path: Path) -> None:
    """Measure all policies on the line and draw their actions."""
    datasets, actions = [line(s) for s in range(options.seeds)], {}
    for case in CASES:
        policies = learn(case, datasets, options.steps, options.device)
        actions[case] = sample_actions(policies)
        origin = computed_with(options.device, policies.run_config.kernel)
        rows[case]["line"] = measure_line(actions[case]) | origin
    draw_line(actions, INTENDED_ACTION, NOISE, options.figures / "modes.png")
    write(rows, path)
    numbers = rows[AUTO].get("line", {})
    if numbers.get("steps") != options.steps:  # from another training
        numbers = {"steps": options.steps}
        rows[AUTO]["line"] = numbers
    for seed in range(len(numbers.get("radius", [])), options.seeds):
        policies = learn_auto(datasets[seed], seed, options.steps, options.device)
        numbers.update(computed_with(options.device, policies.run_config.kernel))
        measures = measure_line(sample_actions(policies))
        for name, value in (measures | {"radius": [policies.members[0].radius[0]]}).items():
            numbers.setdefault(name, []).extend(value)
        write(rows, path)


def compare_fork(rows: dict[str, Record], options: ModesOptions) -> None:
    """Measure all policies in the world `fork` and draw their paths."""
    seeds = range(options.fork_seeds)
    datasets = [cb.demonstrate("fork", UniformNoise(NOISE), PAIRS, s) for s in seeds]
    drawn_paths: dict[str, dict[Act, list[Array]]] = {}
    for case in CASES:
        policies = learn(case, datasets, options.steps, options.device)
        drawn_paths[case] = {act: paths(policies, act, 20) for act in ACTS}
        numbers = measure_fork(policies, options.episodes)
        origin = computed_with(options.device, policies.run_config.kernel)
        rows[case]["fork"] = numbers | origin
    draw_fork(drawn_paths, options.figures / "fork.png")
