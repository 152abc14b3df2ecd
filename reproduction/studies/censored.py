"""What censored actions are worth: demonstrations that were cut at their bounds after the noise.

A teacher's noise is added before the cut, and the action taken is recorded. BC and Counter-BC learn
from the same datasets, with and without `Settings.censored`. `brake` is one action of one number:
the right brake is max(0, s) for s in [−1, 1], so half of the states ask for the lower bound. In
the worlds the expert rarely acts at a bound.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
import torch

from counterbc.acting.act import ACTS
from counterbc.acting.actor import Acting
from counterbc.acting.intervals import mean_interval
from counterbc.acting.policies import Policies
from counterbc.data.arrays import Array
from counterbc.data.demonstrations import Demonstrations, Episode
from counterbc.demonstrators import NO_ERROR, NOISES, demonstrate, record
from counterbc.experiments.cell import evaluate_acts, reproducible
from counterbc.experiments.workers import run_all
from counterbc.trainer import train
from reproduction.markdown import markdown_table
from reproduction.options import StudyOptions, option
from reproduction.paper import PAPER_RADIUS
from reproduction.records import Record, Records, kernels_of, read_rows, write_rows

BRAKE = "brake"
PROBLEMS = (BRAKE, "cartpole", "air-hockey")
SIGMA = 0.5
METHODS = ("bc", "counter-bc")
FIRST_SEED = 2100
KEY = ("problem", "noise", "pairs", "method", "censored", "seed")
"""The columns that tell rows apart."""
EXPERT_EPISODES, EXPERT_SEED, STATES = 20, 1, 1000
"""The states at which actions are compared with the expert's: a sample of its own episodes."""


@dataclass(frozen=True, kw_only=True)
class CensoredOptions(StudyOptions):
    """Learn from actions that were cut at their bounds."""

    seeds: int = 20
    first_seed: int = option(FIRST_SEED, "seed of the first run")
    problems: tuple[str, ...] = option(PROBLEMS, "brake, or worlds whose actions are a box")
    noises: tuple[str, ...] = option(("uniform", "gaussian"), "noises of σ 0.5")
    pairs: tuple[int, ...] = (400,)
    steps: int = 1000
    episodes: int = 20
    device: str | None = None
    workers: int | None = None


def run(options: CensoredOptions) -> None:
    """Compute the missing rows and print the table."""
    records = Records(options.out / "censored" / "rows.json", indent=None, device=options.device)
    cells = product(options.problems, options.noises, options.pairs, METHODS, (False, True))
    names = ("problem", "noise", "pairs", "method", "censored")
    jobs = {}
    for cell in cells:
        about = dict(zip(names, cell, strict=True))
        if not records.has(**about):
            jobs[", ".join(map(str, cell))] = partial(measure, about, options)
    if jobs:
        run_all(jobs, lambda _, rows: records.add(*rows), options.workers, bars=False)
    write_rows(records.rows, options.out / "censored")
    print(markdown(records.rows))


def demonstrations(problem: str, noise: str, pairs: int, seed: int) -> Demonstrations:
    """Return demonstrations whose noise was added before the cut, as they were taken."""
    if problem != BRAKE:
        return demonstrate(problem, NOISES[noise](SIGMA), pairs, seed, actions_are="taken")
    rng = np.random.default_rng([seed, pairs])
    state = rng.uniform(-1, 1, (pairs, 1))
    draw = rng.normal if noise == "gaussian" else partial(rng.uniform, -1, 1)
    error = SIGMA / 2 * draw(size=(pairs, 1))  # the bounds span 1, and σ is for a span of 2
    return Demonstrations(
        (Episode(state, np.clip(meant_brake(state) + error, 0, 1)),),
        action_low=np.zeros(1),
        action_high=np.ones(1),
        actions_are="taken",
        source=f"brake, {noise}, seed {seed}",
    )


def meant_brake(state: Array) -> Array:
    """Return the right brake at each state."""
    return np.maximum(state, 0)


def expert_pairs(problem: str) -> tuple[Array, Array]:
    """Return states (n, S) and the actions meant there (n, A), the same for every run."""
    if problem == BRAKE:
        state = np.linspace(-1, 1, 201, dtype=np.float32)[:, None]
        return state, meant_brake(state)
    takes = record(problem, NO_ERROR, EXPERT_EPISODES, EXPERT_SEED)
    obs = np.concatenate([take.episode.obs for take in takes])
    meant = np.concatenate([take.intended for take in takes])
    rows = np.random.default_rng(0).choice(len(obs), min(STATES, len(obs)), replace=False)
    return obs[rows], meant[rows]


def measure(about: Record, options: CensoredOptions) -> list[Record]:
    """Return a row per run: its error from the meant actions, and its returns in a world."""
    torch.set_num_threads(1)
    seeds = range(options.first_seed, options.first_seed + options.seeds)
    problem = about["problem"]
    with reproducible():
        datasets = [demonstrations(problem, about["noise"], about["pairs"], seed) for seed in seeds]
        policies = train(
            datasets, about["method"], seeds=list(seeds), radius=PAPER_RADIUS, lag=0.0,
            steps=options.steps, ensemble=1, censored=about["censored"], device=options.device,
            progress=False,
        )  # fmt: skip
        errors = action_errors(policies.to(torch.device("cpu")), *expert_pairs(problem))
        returns: dict[str, Array] = {}
        if problem != BRAKE:
            evaluations = evaluate_acts(policies, problem, episodes=options.episodes, acts=ACTS)
            returns = {e.act: e.returns.mean(1) for e in evaluations}
    rows = []
    for i, (seed, data) in enumerate(zip(seeds, datasets, strict=True)):
        row: Record = {"seed": seed, "steps": options.steps, "kernel": kernels_of(policies)}
        row |= {"on_bound": _share_on_bound(data), "error": float(errors[i])}
        row |= {act: float(returns[act][i]) if returns else None for act in ACTS}
        rows.append(about | row)
    return rows


def action_errors(policies: Policies, states: Array, meant: Array) -> Array:
    """Return the RMS distance of each member's deterministic actions from what was meant: (P,).

    In units in which actions span [−1, 1].
    """
    obs = policies.tensor(states).expand(len(policies), -1, -1)
    actions = Acting(policies, range(len(states)), "mean", 0).actions(obs)
    low, high = policies.scales.action_low[:, None], policies.scales.action_high[:, None]
    off = 2 * (actions - torch.tensor(meant)) / (high - low)  # (P, n, A)
    return off.double().square().mean((1, 2)).sqrt().numpy()


def _share_on_bound(data: Demonstrations) -> float:
    at_bound = (data.action == data.action_low) | (data.action == data.action_high)
    return float(at_bound.mean())


def sections(results: Path) -> dict[str, dict[str, str]]:
    """Return the table of docs/censored.md."""
    return {"censored": {"censored": markdown(read_rows(results / "censored"))}}


def markdown(rows: list[Record]) -> str:
    """Return what each method measures without censoring, and the paired change with it."""
    lines = []
    for (problem, noise, pairs, method, measure), (plain, censored) in _pairs_of_runs(rows):
        before, change = mean_interval(plain), mean_interval(censored - plain)
        better = change.high < 0 if measure == "error" else change.low > 0
        worse = change.low > 0 if measure == "error" else change.high < 0
        mark = " ▲" if better else " ▼" if worse else ""
        digits = 3 if measure == "error" else 1
        spread = f"[{change.low:+.{digits}f}, {change.high:+.{digits}f}]"
        share = np.mean([
            r["on_bound"] for r in rows
            if (r["problem"], r["noise"], r["pairs"]) == (problem, noise, pairs)
        ])  # fmt: skip
        lines.append([
            problem, noise, str(pairs), f"{share:.0%}", method, measure,
            f"{before.mean:.{digits}f}", f"{change.mean:+.{digits}f} {spread}{mark}",
        ])  # fmt: skip
    columns = (
        "problem", "noise", "pairs", "on a bound", "method", "measure", "plain",
        "change by censoring",
    )  # fmt: skip
    return markdown_table(columns, lines)


def _pairs_of_runs(
    rows: list[Record],
) -> Iterator[tuple[tuple[str, str, int, str, str], tuple[Array, Array]]]:
    """Yield the runs of each cell without and with censoring, by seed, where both were run."""
    runs: dict[tuple[str, str, int, str, str], tuple[dict[int, float], dict[int, float]]] = {}
    for r in rows:
        for measure in ("error", *ACTS):
            if r.get(measure) is not None:
                key = (r["problem"], r["noise"], r["pairs"], r["method"], measure)
                runs.setdefault(key, ({}, {}))[int(r["censored"])][r["seed"]] = r[measure]
    for key, (plain, censored) in runs.items():
        if seeds := sorted(plain.keys() & censored.keys()):
            values = (np.array([side[s] for s in seeds]) for side in (plain, censored))
            yield key, (next(values), next(values))
