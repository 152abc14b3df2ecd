"""Is a ranking refused where nothing can be predicted, and given where something can?

shuffled   actions of Intersection, shuffled among its states
noise      uniform actions that depend on nothing
AR(1)      actions that depend on the previous action alone (ρ 0.9), at the states of Intersection
observed   the same, with the previous action among the observations
noisy      the same, with noise on it: 30, 50 or 80 % of its standard deviation, by seed
missing    Cartpole without velocities, on which the expert acts
scores     the episodes of the study `scores`, in which good and bad can be distinguished

A row has the shares that held-out policies explain, whether they suffice for a ranking, the shares
of `counterbc inspect`, which trains nothing, and for `scores` how well the ranking finds corrupted
episodes, with residuals as they are and made comparable. Rows with the share `response` were
computed by the present rule for noisy views of the previous action, rows without it by earlier
ones.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import counterbc as cb
from counterbc.diagnosis.components import by_episode
from counterbc.diagnosis.scores import episode_scores
from counterbc.selection.explained import explain_errors, explain_quickly
from counterbc.selection.shares import LEAST_SHARE, Explained
from reproduction.datasets import DatasetOptions, compute_rows
from reproduction.markdown import markdown_table
from reproduction.options import option
from reproduction.records import Record, read_rows
from reproduction.studies.scores import RADIUS, episodes, make_data, operators
from reproduction.studies.scores_tables import CORRUPTIONS, auroc

Array = NDArray[Any]
FIRST_SEED, MEMORY, FEW_STEPS = 2850, 0.9, 1000
VIEW_NOISES = (0.3, 0.5, 0.8)  # of the previous action's standard deviation
POSITIONS = (0, 2)  # of Cartpole's observation
LABELS = {
    "shuffled": "actions shuffled among states",
    "noise": "actions of pure noise",
    "AR(1)": "actions that follow the previous action alone",
    "observed": "the same, and the previous action is observed",
    "noisy": "the same, and it is observed with noise",
    "missing": "Cartpole without velocities",
    "scores": "forty good and eighteen bad episodes, as below",
}


@dataclass(frozen=True, kw_only=True)
class ExplainedOptions(DatasetOptions):
    """Score datasets in which nothing can be predicted, and others in which it can."""

    seeds: int = option(50, "datasets of each kind")
    first: int = option(FIRST_SEED, "number of the first seed")
    kinds: tuple[str, ...] = option(tuple(LABELS), "kinds of datasets")


def run(options: ExplainedOptions) -> None:
    """Compute the missing rows and print the table."""
    kinds = product(options.seed_range, options.kinds)
    rows = ({"kind": kind, "seed": seed} for seed, kind in kinds)
    print(markdown(compute_rows("explained", rows, measure, options)))


def sections(results: Path) -> dict[str, dict[str, str]]:
    """Return the table of docs/scores.md."""
    rows = read_rows(results / "explained")
    return {"scores": {"nothing to predict": markdown(rows)} if rows else {}}


def dataset(kind: str, seed: int) -> cb.Demonstrations:
    """Return the demonstrations of a kind."""
    if kind == "scores":
        return make_data("intersection", episodes("intersection"), 58, seed)[0]
    if kind == "missing":
        return _only(make_data("cartpole", operators(), 21, seed)[0], POSITIONS)
    demos, rng = make_data("intersection", operators(), 70, seed)[0], np.random.default_rng(seed)
    actions: dict[str, Callable[[], Array]] = {
        "shuffled": lambda: rng.permutation(demos.action),
        "noise": lambda: rng.uniform(-1, 1, demos.action.shape),
        "AR(1)": lambda: _follow(demos.starts, rng.normal(0, 0.5, demos.action.shape)),
    }
    if kind in ("observed", "noisy"):
        noise = VIEW_NOISES[seed % len(VIEW_NOISES)] if kind == "noisy" else 0.0
        return _with_previous(_with_actions(demos, actions["AR(1)"]()), noise, rng)
    return _with_actions(demos, actions[kind]())


def _follow(starts: Array, noise: Array) -> Array:
    """Return a_t = ρ a_(t−1) + √(1 − ρ²) noise, from a new start in each episode."""
    action = noise.copy()
    for t in range(len(noise)):
        if t > starts[t]:
            action[t] = MEMORY * action[t - 1] + np.sqrt(1 - MEMORY**2) * noise[t]
    return action


def _with_actions(demos: cb.Demonstrations, action: Array) -> cb.Demonstrations:
    parts = by_episode(demos, action.astype(np.float32))
    pairs = zip(demos.episodes, parts, strict=True)
    return replace(demos, episodes=tuple(replace(e, action=a) for e, a in pairs))


def _with_previous(
    demos: cb.Demonstrations, noise: float, rng: np.random.Generator
) -> cb.Demonstrations:
    """Return the demonstrations with the previous action, first 0, as further observations.

    `noise` is the standard deviation of the noise on it, relative to that of the actions.
    """
    previous = [np.pad(e.action, ((1, 0), (0, 0)))[:-1] for e in demos.episodes]
    if noise:
        scale = noise * demos.action.std(0)
        previous = [(p + scale * rng.normal(size=p.shape)).astype(p.dtype) for p in previous]
    pairs = zip(demos.episodes, previous, strict=True)
    parts = tuple(replace(e, obs=np.concatenate([e.obs, p], axis=1)) for e, p in pairs)
    names = (*demos.obs_names, *(f"previous {name}" for name in demos.action_names))
    return replace(demos, episodes=parts, obs_names=names, obs_keys=())


def _only(demos: cb.Demonstrations, columns: tuple[int, ...]) -> cb.Demonstrations:
    """Return the demonstrations with these columns of the observation alone."""
    names = tuple(demos.obs_names[i] for i in columns)
    parts = tuple(replace(e, obs=e.obs[:, list(columns)]) for e in demos.episodes)
    return replace(demos, episodes=parts, obs_names=names, obs_keys=())


def measure(about: Record, device: str | None) -> Record:
    """Return what is explained of one dataset, and whether it is ranked."""
    kind, seed = about["kind"], about["seed"]
    demos = dataset(kind, seed)
    held_out = cb.HeldOut(repeats=1, seed=seed)
    if kind != "scores":  # little is needed to see that nothing is predicted
        held_out = replace(held_out, rounds=1, steps=FEW_STEPS)
    estimate = cb.meaning(
        demos, radius=RADIUS, held_out=held_out, lag=0.0, offsets="none",
        device=device, progress=False,
    )  # fmt: skip
    row: Record = {"episodes": len(demos), "pairs": demos.pairs}
    quick = explain_quickly(demos)
    explained = explain_errors(demos, estimate.residual, quick=quick)
    row |= _shares(explained, "") | _shares(quick, "quick_")
    if kind == "scores":
        for name, residual in (("before", estimate.residual), ("now", estimate.comparable)):
            scores = episode_scores(demos, residual, demos.action.astype(np.float64))
            about = {
                "who": [e.operator for e in demos.episodes],
                "measures": {"distance": [s.distance for s in scores]},
            }
            row |= {f"auroc_{name}_{k}": auroc(about, "distance", k) for k in CORRUPTIONS}
    return row


def _shares(explained: Explained, prefix: str) -> Record:
    assert explained.past is not None
    shares = {"present": explained.present} | {
        name: getattr(explained.past, name) for name in ("previous", "beyond", "visible")
    }
    if explained.response is not None:
        shares["response"] = explained.response
    row: Record = {f"{prefix}ranked": explained.tells}
    row[f"{prefix}history_tells"] = explained.history_tells
    for name, share in shares.items():
        ends = {"": share.value, "_low": share.low, "_high": share.high}
        row |= {f"{prefix}{name}{end}": float(value) for end, value in ends.items()}
    return row


def markdown(rows: list[Record]) -> str:
    """Return what is explained and how often episodes are ranked, by kind."""
    lines = []
    for kind, label in LABELS.items():
        some = [r for r in rows if r["kind"] == kind]
        if not some:
            continue
        ends = [r["present_low"] for r in some]
        lines.append([
            label, str(len(some)), *(_mean(some, k) for k in ("present", "previous", "beyond")),
            f"{100 * min(ends):.0f} to {100 * max(ends):.0f} %",
            *(f"{sum(r[k] for r in some)} of {len(some)}" for k in ("ranked", "quick_ranked")),
        ])  # fmt: skip
    head = ["data", "datasets", "present", "previous", "beyond", "lower end of present", "ranked",
            "`inspect` would rank"]  # fmt: skip
    return "\n\n".join([markdown_table(head, lines), *_present_rule(rows), *_detection(rows)])


def _mean(rows: list[Record], name: str) -> str:
    return f"{100 * max(float(np.mean([r[name] for r in rows])), 0.0):.0f} %"


def _present_rule(rows: list[Record]) -> list[str]:
    """Return a sentence on the datasets that the present rule for noisy views judged."""
    counts = []
    for kind, label in LABELS.items():
        some = [r for r in rows if r["kind"] == kind and r.get("response") is not None]
        if some:
            highest = 100 * max(0.0, *(r["response_low"] for r in some))
            counts.append(
                f"“{label}” {sum(r['ranked'] for r in some)} of {len(some)} "
                f"(lower end of the response at most {highest:.0f} %)"
            )
    return [f"Ranked by the present rule for noisy views: {'; '.join(counts)}."] if counts else []


def _detection(rows: list[Record]) -> list[str]:
    """Return a sentence on the areas under the ROC curve, before and now."""
    some = [r for r in rows if r["kind"] == "scores"]
    if not some:
        return []
    before, now = (
        float(np.mean([[r[f"auroc_{name}_{k}"] for k in CORRUPTIONS] for r in some]))
        for name in ("before", "now")
    )
    return [
        f"Area under the ROC curve over all three corruptions, mean of {len(some)} datasets: "
        f"{now:.3f}, and {before:.3f} with residuals that are not made comparable. "
        f"Level: {LEAST_SHARE:.0%}."
    ]
