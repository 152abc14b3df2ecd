"""Do scores find bad operators and bad episodes?

operators   six with uniform noise of σ 0.30 to 0.45, and one with σ 0.30 and a constant bias, ten
            episodes each: rank correlation of each measure with the expected error
episodes    forty good ones (uniform, σ 0.35) and six of each corruption: σ × 1.5, acting three
            steps late, the wrong goal: area under the ROC curve of each measure

Our distance and its two components are compared with the residual of plain behavior cloning at its
training pairs, and with every kinematic measure, in the direction that does better over all seeds.
Intervals are compared with the expected error of an operator or episode, given its states and the
intended actions there.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

import counterbc as cb
from counterbc.acting.actor import Acting
from counterbc.demonstrators import (
    Chain,
    Crowd,
    Delay,
    Distortion,
    EpisodeBatch,
    Teacher,
    UniformNoise,
    record,
)
from counterbc.diagnosis.components import by_episode
from counterbc.diagnosis.kinematics import MEASURES
from counterbc.envs.cartpole import GAIN
from counterbc.experiments.cell import reproducible
from reproduction.options import StudyOptions, option
from reproduction.records import Record, Records, read
from reproduction.studies.scores_tables import CORRUPTIONS, OFF, SCORES, can_table, markdown

Array = NDArray[Any]

SIGMAS = tuple(np.linspace(0.30, 0.45, 6).round(3).tolist())
EPISODES_EACH, GOOD, BAD = 10, 40, 6
SIGMA, LATE, RADIUS = 0.35, 3, 0.4
ASIDE = -0.5 * GAIN[0]
"""A goal half a unit aside shifts the action of a linear expert by a constant."""


@dataclass(frozen=True, kw_only=True)
class ScoresOptions(StudyOptions):
    """Score operators and episodes whose errors are known."""

    seeds: int = 20
    first: int = option(0, "number of the first seed")
    worlds: tuple[str, ...] = ("intersection", "cartpole")
    studies: tuple[str, ...] = option(
        ("operators", "episodes"), "what to score: operators, episodes or both"
    )
    device: str | None = None


def run(options: ScoresOptions) -> None:
    """Compute the missing datasets and print the tables."""
    records = Records(options.numbers("scores"), indent=None, device=options.device)
    seeds = range(options.first, options.first + options.seeds)
    with reproducible():
        for world, seed, study in product(options.worlds, seeds, options.studies):
            if not records.has(world=world, study=study, seed=seed):
                records.add(_round_numbers(measure(world, study, seed, options.device)))
                print(f"{world}, {study}, seed {seed}", file=sys.stderr, flush=True)
    for text in markdown(records.rows).values():
        print(f"{text}\n")


def sections(results: Path) -> dict[str, dict[str, str]]:
    """Return the tables of docs/scores.md."""
    rows = read(results / "scores" / "numbers.json")
    can = {"operators of can": can_table(read(results / "can-scores" / "numbers.json"))}
    return {"scores": markdown([r for r in rows if r["world"] == "intersection"]) | can}


@dataclass(frozen=True)
class Shift(Teacher):
    """A constant error: a = a* + b in the first dimension."""

    b: float

    def begin(self, batch: EpisodeBatch) -> Distortion:
        off = self.b * np.eye(1, batch.size)
        return lambda action, t: action + off


@dataclass(frozen=True)
class Turn(Teacher):
    """A goal a quarter turn to the left: (x, y) → (−y, x)."""

    def begin(self, batch: EpisodeBatch) -> Distortion:
        return lambda action, t: np.stack([-action[:, 1], action[:, 0]], axis=1)


def operators() -> Crowd:
    """Return six operators with noise, and one with a bias too."""
    people: list[tuple[str, Teacher]] = [(f"σ {s:g}", UniformNoise(s)) for s in SIGMAS]
    return Crowd((*people, ("biased", Chain((UniformNoise(SIGMAS[0]), Shift(OFF))))))


def episodes(world: str) -> Crowd:
    """Return good demonstrators and those of each corruption."""
    good = UniformNoise(SIGMA)
    wrong = Turn() if world == "intersection" else Shift(ASIDE)
    bad: dict[str, Teacher] = {
        "σ × 1.5": UniformNoise(1.5 * SIGMA),
        "late": Chain((Delay(steps=LATE), good)),
        "wrong goal": Chain((wrong, good)),
    }
    return Crowd((("good", good), *bad.items()), shares=(GOOD, BAD, BAD, BAD))


@dataclass(frozen=True, eq=False)
class Truth:
    """Intended actions, which only simulations know, pair by pair."""

    intended: Array
    """(N, A): the expert's action before the error."""
    mean: Array
    """(N, A): its mean action at the same states; on Intersection it is random."""


def make_data(world: str, teacher: Crowd, count: int, seed: int) -> tuple[cb.Demonstrations, Truth]:
    """Return demonstrations and their intended actions."""
    takes = record(world, teacher, count, seed)
    model = cb.demonstrate(world, teacher, 1, seed)
    named_episodes = [replace(take.episode, name=f"demo_{i}") for i, take in enumerate(takes)]
    demos = replace(model, episodes=tuple(named_episodes))
    expert, keys = cb.WORLDS[world].load_expert(), 1 if world == "cartpole" else 50
    obs = demos.obs
    expert_draws = [expert(obs, np.arange(len(obs)) + k * len(obs), 0) for k in range(keys)]
    return demos, Truth(
        np.concatenate([take.intended for take in takes]), np.mean(expert_draws, axis=0)
    )


def expected_errors(world: str, demos: cb.Demonstrations, truth: Truth) -> list[float]:
    """Return the mean squared error of each episode to the expert's mean, expected over noise."""
    squares = []
    for e, intended, mean in zip(
        demos.episodes,
        by_episode(demos, truth.intended),
        by_episode(demos, truth.mean),
        strict=True,
    ):
        sigma, noiseless = _teaching(world, str(e.operator), intended)
        noise = intended.shape[1] * sigma**2 / 3  # variance of U(−σ, σ) in each dimension
        squares.append(float(((noiseless - mean) ** 2).sum(1).mean() + noise))
    return squares


def _teaching(world: str, operator: str, intended: Array) -> tuple[float, Array]:
    """Return σ, and the actions without noise: (T, A)."""
    first = np.eye(1, intended.shape[1])
    if operator == "biased":
        return SIGMAS[0], intended + OFF * first
    if operator == "late":
        return SIGMA, np.concatenate([np.zeros((LATE, intended.shape[1])), intended])[:-LATE]
    if operator == "wrong goal" and world == "cartpole":
        return SIGMA, intended + ASIDE * first
    if operator == "wrong goal":
        return SIGMA, np.stack([-intended[:, 1], intended[:, 0]], axis=1)
    return {"good": SIGMA, CORRUPTIONS[0]: 1.5 * SIGMA}.get(operator) or float(
        operator.split()[1]
    ), intended


def residual(demos: cb.Demonstrations, seed: int, changes: dict[str, Any]) -> Array:
    """Return ‖a − mean action‖² (N,) of plain behavior cloning at its training pairs."""
    policy = cb.train(demos, "bc", seeds=[seed], **changes)
    acting = Acting(policy, range(len(demos.obs)), "mean", 0)
    mean = acting.actions(torch.tensor(demos.obs)[None])[0].numpy()
    return np.asarray(((demos.action - mean) ** 2).sum(1))


def measures(meaning: cb.Meaning, bc: Array) -> dict[str, list[float]]:
    """Return all measures of every episode."""
    values = {m: [float(s.as_dict()[m]) for s in meaning.episodes] for m in SCORES}
    values["BC residual"] = [float(np.sqrt(p.mean())) for p in by_episode(meaning.demos, bc)]
    return values | {m: [s.kinematics[m] for s in meaning.episodes] for m in MEASURES}


def measure(world: str, study: str, seed: int, device: str | None) -> Record:
    """Return all measures of all episodes of one dataset, and the truth about them."""
    teacher = operators() if study == "operators" else episodes(world)
    count = (
        EPISODES_EACH * (len(SIGMAS) + 1) if study == "operators" else GOOD + BAD * len(CORRUPTIONS)
    )
    demos, truth = make_data(world, teacher, count, seed)
    changes: dict[str, Any] = {"progress": False, "device": device, "lag": 0.0}
    changes["offsets"] = "none"
    meaning = cb.meaning(demos, radius=RADIUS, held_out=cb.HeldOut(seed=seed), **changes)
    model_errors = ((meaning.predicted - truth.mean) ** 2).sum(1)
    return {
        "world": world,
        "study": study,
        "seed": seed,
        "who": [e.operator for e in demos.episodes],
        "pairs": [len(e) for e in demos.episodes],
        "measures": measures(meaning, residual(demos, seed, changes)),
        "truth": expected_errors(world, demos, truth),
        "model_errors": [float(p.mean()) for p in by_episode(demos, model_errors)],
        "intervals": [(s.low, s.high) for s in meaning.episodes],
        "operators": [s.as_dict() for s in meaning.operators],
    }


def _round_numbers(value: Any) -> Any:
    """Return numbers with five digits, to keep the file small."""
    if isinstance(value, float):
        return float(f"{value:.5g}")
    if isinstance(value, dict):
        return {k: _round_numbers(v) for k, v in value.items()}
    return [_round_numbers(v) for v in value] if isinstance(value, list | tuple) else value
