"""What the study `filtering` excludes from a dataset: by our rules, by other scores, at random."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

import counterbc as cb
from counterbc.diagnosis.components import by_episode
from counterbc.diagnosis.exclusion import followed_measures, outlying, trimmed_scores
from counterbc.diagnosis.scores import Score
from reproduction.records import Record
from reproduction.studies.filtering_scores import array_scores, random_like, worst
from reproduction.studies.filtering_tables import ALL, ORACLE, OURS

Array = NDArray[Any]
SIMULATED = ("intersection", "cartpole")
"""Worlds in which influence on the return is measured, too."""


def tenth(scores: Sequence[Score]) -> list[int]:
    """Return the tenth of the episodes with the largest distance."""
    order = np.argsort([-s.distance for s in scores], kind="stable")
    return [int(i) for i in order[: len(scores) // 10]]


RULES: Mapping[str, tuple[str, Callable[[Sequence[Score]], list[int]]]] = {
    "a tenth": ("usual", tenth),
    "z > 2": ("usual", partial(outlying, level=2.0)),
    "z > 3": ("usual", partial(outlying, level=3.0)),
    **{
        f"trimmed, z > {level:g}": ("trimmed", partial(outlying, level=level))
        for level in (2.0, 2.5, 3.0, 4.0)
    },
}
"""Which scores are looked at, and which episodes are excluded: the scores that `counterbc score`
prints, or those by policies which learn from two thirds of the episodes."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Case:
    """A dataset with its corrupted episodes, and how it is scored."""

    world: str
    kind: str
    seed: int
    demos: cb.Demonstrations
    is_bad: Array
    """(E,) bool."""
    device: str | None = None
    quick: bool = False
    """Train briefly, to try the study."""
    reads: Mapping[str, Any] = field(default_factory=dict)
    """Settings of what policies read and predict."""

    @property
    def changes(self) -> dict[str, Any]:
        """Return the arguments that all diagnoses share."""
        return {"device": self.device, "progress": False, **self.reads}


def exclusions(
    case: Case, bc_steps: int, rule: str | None, members: int
) -> tuple[dict[str, Array], dict[str, Record]]:
    """Return the episodes that each member does not learn from, (members, E), and columns.

    Without a rule there is a subset for each of `RULES`; with one, ours and all others. BC took
    `bc_steps` when it was tuned.
    """
    demos, rng = case.demos, np.random.default_rng(case.seed)
    scores, excludes = our_scores(case)
    none = np.zeros(len(demos), bool)
    masks: dict[str, list[Array]] = {ALL: [none] * members}
    for name in RULES if rule is None else [rule]:
        key, choose = RULES[name]
        mask = none.copy()
        mask[choose(scores[key]) if excludes else []] = True
        masks[OURS if rule else name] = [mask] * members
    if rule is not None:
        our_mask = masks[OURS][0]
        for name, score in (policy_scores(case, bc_steps) | array_scores(demos)).items():
            masks[name] = [worst(score, our_mask.sum(), rng)] * members
        lengths, chance = np.array([len(e) for e in demos.episodes]), range(members)
        masks["random"] = [worst(rng.random(len(demos)), our_mask.sum(), rng) for _ in chance]
        masks["random, as long"] = [random_like(lengths, our_mask, rng) for _ in chance]
        masks[ORACLE] = [case.is_bad] * members
    about: dict[str, Record] = {
        name: {
            "subset": name,
            "excluded": int(mask[0].sum()),
            "corrupted_excluded": float(np.mean([(m & case.is_bad).sum() for m in mask])),
            "corrupted": int(case.is_bad.sum()),
            "ranked": excludes,
            "rule": rule or "",
        }
        for name, mask in masks.items()
    }
    return {name: np.array(mask) for name, mask in masks.items()}, about


def our_scores(case: Case) -> tuple[dict[str, tuple[Score, ...]], bool]:
    """Return the scores that rules look at, and whether `counterbc score` excludes any episode."""
    held_out, radius = cb.HeldOut(seed=case.seed), None
    if case.quick:
        held_out, radius = cb.HeldOut(seed=case.seed, repeats=1, rounds=1, steps=100), 0.4
    estimate = cb.meaning(
        case.demos, radius=radius, held_out=held_out, lag=0.0, offsets="none", **case.changes
    )
    trimmed = trimmed_scores(estimate, held_out, **case.changes)
    excludes = estimate.explained.tells and not followed_measures(estimate.episodes)
    return {"usual": estimate.episodes, "trimmed": trimmed}, excludes


def policy_scores(case: Case, bc_steps: int) -> dict[str, Array]:
    """Return the scores that need other policies than those of `counterbc score`: (E,) each."""
    demos, seed = case.demos, case.seed
    shorter = {"splits": len(demos) + 2, "steps": 50} if case.quick else {}
    changes = case.changes | shorter | {"seed": seed}
    scores = {"influence": -cb.influence(demos, **changes).effect}
    if case.world in SIMULATED:
        scores["influence, return"] = -cb.influence(demos, env=case.world, **changes).effect
    early = cb.meaning(
        demos, radius=0.0, lag=0.0, offsets="none", **case.changes,
        held_out=cb.HeldOut(repeats=1, rounds=1, steps=bc_steps, seed=seed),
    )  # fmt: skip
    squares = by_episode(demos, early.distance**2)
    return scores | {"BC residual": np.array([s.mean() for s in squares])}
