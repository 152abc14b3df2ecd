"""Is a score speed or length in disguise?

Ten operators reach for goals in a plane, six episodes each. They make errors of the same size and
differ in speed, up to threefold; who is fast arrives sooner, so that length differs, too. The last
episode of each operator has a real error: 1.5 times the noise, three steps late, or a wrong goal.

    a_t = k min(1, d / 2) (goal − x_t) / d + error        d = |goal − x_t|, k the operator's speed

The error is uniform and either the same for all, or in proportion to what is done, as people's is.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

import counterbc as cb
from counterbc.acting.intervals import mean_interval
from counterbc.diagnosis.scores import episode_scores
from reproduction.datasets import DatasetOptions, compute_rows
from reproduction.markdown import markdown_table
from reproduction.options import option
from reproduction.records import Record, read_rows
from reproduction.studies.scores_tables import CORRUPTIONS, auroc

Array = NDArray[Any]
FIRST_SEED = 2650
SPEEDS = np.geomspace(0.5, 1.5, 10)
EPISODES, SIGMA, LATE, RADIUS = 6, 0.35, 3, 0.2
NEAR, FAR, LONGEST, SIDE = 0.5, 6.0, 80, 10.0  # arrived; least distance; steps; half of the plane
ERRORS = {"equal": "the same for all", "proportional": "in proportion to what is done"}


@dataclass(frozen=True, kw_only=True)
class SpeedOptions(DatasetOptions):
    """Score operators who differ in speed and not in error."""

    first: int = option(FIRST_SEED, "number of the first seed")
    errors: tuple[str, ...] = option(tuple(ERRORS), "how errors depend on speed")


def run(options: SpeedOptions) -> None:
    """Compute the missing rows and print the table."""
    kinds = product(options.seed_range, options.errors)
    rows = ({"error": error, "seed": seed} for seed, error in kinds)
    print(markdown(compute_rows("speed", rows, measure, options)))


def sections(results: Path) -> dict[str, dict[str, str]]:
    """Return the table of docs/scores.md."""
    rows = read_rows(results / "speed")
    return {"scores": {"speed": markdown(rows)} if rows else {}}


def dataset(error: str, seed: int) -> tuple[cb.Demonstrations, list[str]]:
    """Return the demonstrations, and the kind of each episode: good, or its corruption."""
    rng, takes, kinds = np.random.default_rng(seed), [], []
    for o, speed in enumerate(SPEEDS):
        for i in range(EPISODES):
            kind = "good" if i < EPISODES - 1 else CORRUPTIONS[(o + seed) % len(CORRUPTIONS)]
            obs, action = _reach(rng, float(speed), error, kind)
            name = f"operator_{o}"
            takes.append(cb.Episode(obs, action, operator=name, name=f"{name}_{i}"))
            kinds.append(kind)
    return cb.Demonstrations(tuple(takes)), kinds


def _reach(rng: np.random.Generator, speed: float, error: str, kind: str) -> tuple[Array, Array]:
    """Return observations (T, 4), position and goal, and actions (T, 2) of one episode."""
    at = goal = rng.uniform(-SIDE, SIDE, 2)
    while np.linalg.norm(goal - at) < FAR:
        goal = rng.uniform(-SIDE, SIDE, 2)
    sigma = SIGMA * (1.5 if kind == "σ × 1.5" else 1.0)
    obs: list[Array] = []
    intended: list[Array] = []
    actions: list[Array] = []
    while len(obs) < LONGEST and (distance := float(np.linalg.norm(goal - at))) > NEAR:
        intended.append(speed * min(1, distance / 2) * (goal - at) / distance)
        action = intended[-1]
        if kind == "wrong goal":  # a quarter turn to the left
            action = np.array([-action[1], action[0]])
        if kind == "late":
            action = intended[-1 - LATE] if len(intended) > LATE else np.zeros(2)
        size = float(np.linalg.norm(action)) if error == "proportional" else 1.0
        action = action + size * rng.uniform(-sigma, sigma, 2)
        obs.append(np.concatenate([at, goal]))
        actions.append(action)
        at = at + action
    return np.array(obs, np.float32), np.array(actions, np.float32)


def measure(about: Record, device: str | None) -> Record:
    """Return the correlations of one dataset's scores, and how well they find real errors."""
    demos, kinds = dataset(about["error"], about["seed"])
    held_out = cb.HeldOut(repeats=1, seed=about["seed"])
    estimate = cb.meaning(
        demos, radius=RADIUS, held_out=held_out, lag=0.0, offsets="none", device=device,
        progress=False,
    )  # fmt: skip
    row: Record = {"pairs": demos.pairs}
    row["ranked"] = estimate.explained.tells
    is_good = np.array(kinds) == "good"
    for name, residual in (("before", estimate.residual), ("now", estimate.comparable)):
        scores = episode_scores(demos, residual, demos.action.astype(np.float64))
        distance = np.array([s.distance for s in scores])
        for measure_name in ("speed", "length"):
            values = np.array([s.kinematics[measure_name] for s in scores])
            row[f"{measure_name}_{name}"] = _rank_correlation(distance, values)
            row[f"good_{measure_name}_{name}"] = _rank_correlation(
                distance[is_good], values[is_good]
            )
        about = {"who": kinds, "measures": {"distance": distance.tolist()}}
        row |= {
            f"auroc_{name}_{k}": auroc(about, "distance", k) for k in sorted({*kinds} - {"good"})
        }
    return row


def _rank_correlation(x: Array, y: Array) -> float:
    return float(stats.spearmanr(x, y).statistic)


def markdown(rows: list[Record]) -> str:
    """Return correlations and areas under the ROC curve, before and now."""
    lines = []
    for (error, label), name in product(ERRORS.items(), ("before", "now")):
        some = [r for r in rows if r["error"] == error]
        if some:
            cells = [_text([abs(r[f"{m}_{name}"]) for r in some]) for m in _MEASURES]
            areas = [[r[f"auroc_{name}_{k}"] for k in CORRUPTIONS] for r in some]
            cells += [f"{value:.2f}" for value in np.mean(areas, axis=0)]
            title = {"before": "residuals as they are", "now": "made comparable"}[name]
            cells += [_text(np.mean(areas, axis=1).tolist())]
            known = [r["ranked"] for r in some if r["ranked"] is not None]
            lines.append([label, title, *cells, f"{sum(known)} of {len(known)}"])
    head = ["error", "scores of", "rank correlation with speed", "… good episodes", "with length",
            *CORRUPTIONS, "all three", "ranked"]  # fmt: skip
    return markdown_table(head, lines)


_MEASURES = ("speed", "good_speed", "length")


def _text(values: list[float]) -> str:
    """Return the mean with half of its 95 % interval."""
    interval = mean_interval(np.array(values))
    return f"{interval.mean:.2f}" + (
        "" if interval.n < 2 else f" ± {interval.high - interval.mean:.2f}"
    )
