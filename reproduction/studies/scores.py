"""Do scores find bad operators and bad episodes? The tables of docs/scores.md.

    python -m reproduction.studies.scores [--seeds 20] [--worlds intersection cartpole] [--device cuda]

operators   six with uniform noise of σ 0.30 to 0.45, and one with σ 0.30 and a constant bias, ten
            episodes each: rank correlation of each measure with the error expected of them
episodes    forty good ones (uniform, σ 0.35) and six of each corruption: σ × 1.5, acting three
            steps late, the wrong goal: area under the ROC curve of each measure

Beside our distance and its two parts stand the residual of plain behavior cloning at the pairs it
learned from, and every kinematic measure, in whichever direction it does better over all seeds.
Intervals are held against the error that is expected of an operator or episode, given the states it
was in and what was intended there. Finished cells are kept in the output file, so a stopped run
goes on where it was.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from scipy import stats

from counterbc import meaning, train
from counterbc.acting.actor import Acting
from counterbc.acting.intervals import mean_interval
from counterbc.data.demonstrations import Array, Demonstrations
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
from counterbc.demonstrators.recording import demonstrate
from counterbc.diagnosis.components import by_episode
from counterbc.diagnosis.kinematics import MEASURES
from counterbc.diagnosis.meaning import Meaning
from counterbc.envs import WORLDS
from counterbc.envs.cartpole import GAIN
from counterbc.errors import InfeasibleActions
from counterbc.files import aside
from counterbc.selection.held_out import HeldOut

SIGMAS = tuple(np.linspace(0.30, 0.45, 6).round(3).tolist())
EACH, GOOD, BAD = 10, 40, 6
SIGMA, LATE, RADIUS, OFF = 0.35, 3, 0.4, 0.3
ASIDE = -0.5 * GAIN[0]
"""A cart that is to stand half a cell aside: a linear expert's action shifts by a constant."""
OURS = ("distance", "noise", "lasting")
KINDS = ("σ × 1.5", "late", "wrong goal")


@dataclass(frozen=True)
class Shift(Teacher):
    """Always off to the same side: a = a* + b in the first dimension."""

    b: float

    def begin(self, batch: EpisodeBatch) -> Distortion:
        off = self.b * np.eye(1, batch.size)
        return lambda action, t: action + off


@dataclass(frozen=True)
class Turn(Teacher):
    """Heads for a goal a quarter turn to the left: (x, y) → (−y, x)."""

    def begin(self, batch: EpisodeBatch) -> Distortion:
        return lambda action, t: np.stack([-action[:, 1], action[:, 0]], axis=1)


def operators() -> Crowd:
    people: list[tuple[str, Teacher]] = [(f"σ {s:g}", UniformNoise(s)) for s in SIGMAS]
    return Crowd((*people, ("biased", Chain((UniformNoise(SIGMAS[0]), Shift(OFF))))))


def episodes(world: str) -> Crowd:
    good = UniformNoise(SIGMA)
    wrong = Turn() if world == "intersection" else Shift(ASIDE)
    bad: dict[str, Teacher] = {
        "σ × 1.5": UniformNoise(1.5 * SIGMA),
        "late": Chain((Delay(LATE), good)),
        "wrong goal": Chain((wrong, good)),
    }
    return Crowd((("good", good), *bad.items()), shares=(GOOD, BAD, BAD, BAD))


@dataclass(frozen=True, eq=False)
class Truth:
    """What nobody but the makers of these demonstrations knows, pair by pair."""

    intended: Array
    """(N, A): what the expert wanted to do."""
    mean: Array
    """(N, A): its mean action at the same states; on Intersection it chooses by chance."""


def shown(world: str, teacher: Crowd, count: int, seed: int) -> tuple[Demonstrations, Truth]:
    recorded = record(world, teacher, count, seed)
    model = demonstrate(world, teacher, 1, seed)
    named = [replace(r.episode, name=f"demo_{i}") for i, r in enumerate(recorded)]
    demos = replace(model, episodes=tuple(named))
    expert, keys = WORLDS[world].load_expert(), 1 if world == "cartpole" else 50
    obs = demos.obs
    each = [expert(obs, np.arange(len(obs)) + k * len(obs), 0) for k in range(keys)]
    return demos, Truth(np.concatenate([r.intended for r in recorded]), np.mean(each, axis=0))


def expected(world: str, demos: Demonstrations, truth: Truth) -> list[float]:
    """Of each episode the mean square of shown − the expert's mean action, expected over noise."""
    squares = []
    for e, intended, mean in zip(
        demos.episodes,
        by_episode(demos, truth.intended),
        by_episode(demos, truth.mean),
        strict=True,
    ):
        sigma, without = _teaching(world, str(e.operator), intended)
        noise = intended.shape[1] * sigma**2 / 3  # of U(−σ, σ) in each dimension
        squares.append(float(((without - mean) ** 2).sum(1).mean() + noise))
    return squares


def _teaching(world: str, who: str, intended: Array) -> tuple[float, Array]:
    """σ, and what would be shown without noise: (T, A)."""
    first = np.eye(1, intended.shape[1])
    if who == "biased":
        return SIGMAS[0], intended + OFF * first
    if who == "late":
        return SIGMA, np.concatenate([np.zeros((LATE, intended.shape[1])), intended])[:-LATE]
    if who == "wrong goal" and world == "cartpole":
        return SIGMA, intended + ASIDE * first
    if who == "wrong goal":
        return SIGMA, np.stack([-intended[:, 1], intended[:, 0]], axis=1)
    return {"good": SIGMA, KINDS[0]: 1.5 * SIGMA}.get(who) or float(who.split()[1]), intended


def residual(demos: Demonstrations, seed: int, changes: dict[str, Any]) -> Array:
    """‖shown − mean action‖² of plain behavior cloning at the pairs it learned from: (N,)."""
    policy = train(demos, "bc", seeds=[seed], **changes)
    acting = Acting(policy, range(len(demos.obs)), "mean", 0)
    mean = acting.actions(torch.tensor(demos.obs)[None])[0].numpy()
    return np.asarray(((demos.action - mean) ** 2).sum(1))


def measures(meant: Meaning, bc: Array) -> dict[str, list[float]]:
    """Of every episode."""
    ours = {m: [float(getattr(s, m)) for s in meant.episodes] for m in OURS}
    ours["BC residual"] = [float(np.sqrt(p.mean())) for p in by_episode(meant.demos, bc)]
    return ours | {m: [s.kinematics[m] for s in meant.episodes] for m in MEASURES}


def cell(world: str, study: str, seed: int, device: str | None) -> dict[str, Any]:
    """All measures of all episodes of one dataset, and what is true of them."""
    teacher = operators() if study == "operators" else episodes(world)
    count = EACH * (len(SIGMAS) + 1) if study == "operators" else GOOD + BAD * len(KINDS)
    demos, truth = shown(world, teacher, count, seed)
    changes: dict[str, Any] = {"progress": False, "device": device}
    meant = meaning(demos, radius=RADIUS, held_out=HeldOut(seed=seed), **changes)
    believed = ((meant.predicted - truth.mean) ** 2).sum(1)
    return {
        "world": world,
        "study": study,
        "seed": seed,
        "who": [e.operator for e in demos.episodes],
        "pairs": [len(e) for e in demos.episodes],
        "measures": measures(meant, residual(demos, seed, changes)),
        "truth": expected(world, demos, truth),
        "judges": [float(p.mean()) for p in by_episode(demos, believed)],
        "intervals": [(s.low, s.high) for s in meant.episodes],
        "operators": [s.as_dict() for s in meant.operators],
    }


# What the rows say


def by_operator(row: dict[str, Any], measure: str, names: list[str]) -> Array:
    """A measure of each of these; of those that are no scores, the mean over episodes."""
    if measure in OURS:
        score = {o["name"]: o[measure] for o in row["operators"]}
        return np.array([score[name] for name in names])
    who, values = np.array(row["who"]), np.array(row["measures"][measure], float)
    return np.array([np.nanmean(values[who == name]) for name in names])


def auroc(row: dict[str, Any], measure: str, kind: str) -> float:
    """How often a corrupted episode measures above a good one."""
    who, values = np.array(row["who"]), np.array(row["measures"][measure], float)
    bad, good = values[who == kind], values[who == "good"]
    return float((bad[:, None] > good).mean() + 0.5 * (bad[:, None] == good).mean())


def correlation(row: dict[str, Any], measure: str, biased: bool = False) -> float:
    """Rank correlation with the error expected of the six operators, or of all seven."""
    true = {who: error for who, _, error in _cases(row, "operators")}
    names = [name for name in true if biased or name != "biased"]
    values = by_operator(row, measure, names)
    if np.ptp(values) == 0:
        return 0.0
    return float(stats.spearmanr(values, [true[name] for name in names]).statistic)


def covered(rows: list[dict[str, Any]], of: str) -> dict[str, float]:
    """Share of the 90 % intervals that hold the truth: of all, and of each kind of demonstrator."""
    hits: dict[str, list[bool]] = {}
    for row in rows:
        for who, (low, high), true in _cases(row, of):
            inside = bool(low <= true <= high)
            hits.setdefault("all", []).append(inside)
            hits.setdefault("noise alone" if who.startswith("σ 0") else who, []).append(inside)
    return {k: float(np.mean(v)) for k, v in hits.items()}


def _cases(row: dict[str, Any], of: str) -> list[tuple[str, Any, float]]:
    """Who, the interval, and the root mean square that it should hold."""
    who, truth, pairs = (np.array(row[k]) for k in ("who", "truth", "pairs"))
    if of == "episodes":
        return list(zip(row["who"], row["intervals"], np.sqrt(truth).tolist(), strict=True))
    cases = []
    for score in row["operators"]:
        own = who == score["name"]
        true = float(np.sqrt(np.average(truth[own], weights=pairs[own])))
        cases.append((score["name"], (score["low"], score["high"]), true))
    return cases


def markdown(rows: list[dict[str, Any]]) -> str:
    """Blocks between empty lines; docs/scores.md holds each of them."""
    blocks: list[str] = []
    for world in dict.fromkeys(r["world"] for r in rows):
        people = [r for r in rows if r["world"] == world and r["study"] == "operators"]
        batch = [r for r in rows if r["world"] == world and r["study"] == "episodes"]
        blocks += [f"{world}: {len(people)} datasets of operators, {len(batch)} of episodes"]
        blocks += [_found(people, batch), _held({"operators": people, "episodes": batch})]
        missed = [(low > true) for r in people for _, (low, high), true in _cases(r, "operators")
                  if not low <= true <= high]  # fmt: skip
        blocks.append(
            f"Of {len(missed)} operators' intervals that miss, {sum(missed)} lie too high"
        )
        bias = [next(o["bias"][0] for o in r["operators"] if o["name"] == "biased") for r in people]
        if bias:
            blocks.append(f"Bias of the biased operator, {OFF:.2f} in truth: {np.mean(bias):.2f}")
    return "\n\n".join(blocks)


def _found(people: list[dict[str, Any]], batch: list[dict[str, Any]]) -> str:
    """How well each measure finds bad operators and bad episodes."""
    lines = ["| measure | six ranked | all seven | " + " | ".join(KINDS) + " | all three |"]
    lines += ["|---" * 7 + "|"]
    for m in (*OURS, "BC residual", *MEASURES):
        each = [[auroc(r, m, k) for r in batch] for k in KINDS]
        cells = [_text([correlation(r, m, b) for r in people], 0.0) for b in (False, True)]
        cells += [_text(found, 0.5) for found in (*each, np.mean(each, axis=0).tolist())]
        lines.append(f"| {m} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _held(studies: dict[str, list[dict[str, Any]]]) -> str:
    """How often intervals hold the truth."""
    lines = ["| 90 % intervals that hold the error expected | of an operator | of an episode |"]
    lines += ["|---" * 3 + "|"]
    for study, rows in studies.items():
        batch = covered(rows, "episodes")
        for who, share in covered(rows, "operators").items():
            name = f"{study}' study, all" if who == "all" else f"… {who}"
            lines.append(f"| {name} | {100 * share:.0f} % | {100 * batch[who]:.0f} % |")
    return "\n".join(lines)


def _text(values: list[float], nothing: float) -> str:
    """The mean with its 95 % interval, turned to the side of `nothing` where it does better."""
    if not values:
        return "–"
    x = np.array(values)
    turned = x if x.mean() >= nothing else 2 * nothing - x
    interval = mean_interval(turned)
    half = "" if interval.n < 2 else f" ± {interval.high - interval.mean:.2f}"
    return f"{interval.mean:.2f}{half}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--worlds", nargs="*", default=["intersection", "cartpole"])
    parser.add_argument("--studies", nargs="*", default=["operators", "episodes"])
    parser.add_argument("--device", default=None)
    parser.add_argument(
        "--out", type=Path, default=Path("reproduction/results/scores/numbers.json")
    )
    options = parser.parse_args()
    warnings.simplefilter("ignore", InfeasibleActions)
    rows = json.loads(options.out.read_text()) if options.out.exists() else []
    finished = {(r["world"], r["study"], r["seed"]) for r in rows}
    for world in options.worlds:
        for seed in range(options.first, options.first + options.seeds):
            for study in options.studies:
                if (world, study, seed) not in finished:
                    rows.append(_rounded(cell(world, study, seed, options.device)))
                    with aside(options.out) as temporary:
                        temporary.write_text(json.dumps(rows) + "\n")
                    print(f"{world}, {study}, seed {seed}", file=sys.stderr, flush=True)
    print(markdown(rows))


def _rounded(value: Any) -> Any:
    """Five digits tell everything, and keep the file small."""
    if isinstance(value, float):
        return float(f"{value:.5g}")
    if isinstance(value, dict):
        return {k: _rounded(v) for k, v in value.items()}
    return [_rounded(v) for v in value] if isinstance(value, list | tuple) else value


if __name__ == "__main__":
    main()
