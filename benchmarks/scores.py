"""Do scores find bad operators and bad episodes? The tables of docs/scores.md.

    python benchmarks/scores.py [--seeds 5] [--worlds intersection cartpole] [--out scores.json]

operators   six with uniform noise of σ 0.30 to 0.45, and one with σ 0.30 and a constant bias, ten
            episodes each: rank correlation of each measure with σ over the six
episodes    forty good ones (uniform, σ 0.35) and six of each corruption: σ × 1.5, acting three
            steps late, the wrong goal: area under the ROC curve of each measure

Beside our distance stand the residual of plain behavior cloning at the pairs it learned from, and
every kinematic measure, in whichever direction it does better over all seeds. Finished cells are
kept in the output file, so a stopped run goes on where it was.
"""

from __future__ import annotations

import argparse
import json
import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from scipy import stats

from counterbc import meaning, train
from counterbc.demonstrations import Array, Demonstrations
from counterbc.demonstrators import Chain, Crowd, Delay, Erring, Takes, Teacher, Uniform, record
from counterbc.demonstrators.recording import demonstrate
from counterbc.envs import WORLDS
from counterbc.envs.cartpole import GAIN
from counterbc.errors import InfeasibleActions
from counterbc.files import aside
from counterbc.intervals import mean_interval
from counterbc.meant import Judges, Meaning
from counterbc.meant.kinematics import MEASURES
from counterbc.trained import Acting

SIGMAS = tuple(np.linspace(0.30, 0.45, 6).round(3).tolist())
EACH, GOOD, BAD = 10, 40, 6
OFF = 0.3
KINDS = ("σ × 1.5", "late", "wrong goal")


@dataclass(frozen=True)
class Shift(Teacher):
    """Always off to the same side: a = a* + b in the first dimension."""

    b: float

    def begin(self, takes: Takes) -> Erring:
        off = self.b * np.eye(1, takes.size)
        return lambda action, t: action + off


@dataclass(frozen=True)
class Turn(Teacher):
    """Heads for a goal a quarter turn to the left: (x, y) → (−y, x)."""

    def begin(self, takes: Takes) -> Erring:
        return lambda action, t: np.stack([-action[:, 1], action[:, 0]], axis=1)


def operators() -> Crowd:
    people: list[tuple[str, Teacher]] = [(f"σ {s:g}", Uniform(s)) for s in SIGMAS]
    return Crowd((*people, ("biased", Chain((Uniform(SIGMAS[0]), Shift(OFF))))))


def episodes(world: str) -> Crowd:
    good, sigma = Uniform(0.35), 0.35
    # A cart that is to stand half a unit aside: a linear expert's action shifts by a constant.
    wrong = Turn() if world == "intersection" else Shift(-0.5 * GAIN[0])
    bad: dict[str, Teacher] = {
        "σ × 1.5": Uniform(1.5 * sigma),
        "late": Chain((Delay(3), good)),
        "wrong goal": Chain((wrong, good)),
    }
    return Crowd((("good", good), *bad.items()), shares=(GOOD, BAD, BAD, BAD))


def shown(world: str, teacher: Crowd, count: int, seed: int) -> tuple[Demonstrations, Array, Array]:
    """The demonstrations, what was meant, and the expert's mean at the same states: (N, A) each."""
    recorded = record(world, teacher, count, seed)
    model = demonstrate(world, teacher, 1, seed)
    named = [replace(r.episode, name=f"demo_{i}") for i, r in enumerate(recorded)]
    demos = replace(model, episodes=tuple(named))
    expert, keys = WORLDS[world].load_expert(), 1 if world == "cartpole" else 50
    obs = demos.obs
    each = [expert(obs, np.arange(len(obs)) + k * len(obs), 0) for k in range(keys)]
    return demos, np.concatenate([r.intended for r in recorded]), np.mean(each, axis=0)


def residual(demos: Demonstrations, seed: int, steps: int | None) -> Array:
    """‖shown − mean action‖² of plain behavior cloning at the pairs it learned from: (N,)."""
    changes: dict[str, Any] = {} if steps is None else {"steps": steps}
    policy = train(demos, "bc", seeds=[seed], progress=False, **changes)
    acting = Acting(policy, range(len(demos.obs)), "mean", 0)
    mean = acting.actions(torch.tensor(demos.obs)[None])[0].numpy()
    return np.asarray(((demos.action - mean) ** 2).sum(1))


def measures(meant: Meaning, bc: Array) -> dict[str, list[float]]:
    """Of every episode."""
    ends = np.cumsum([len(e) for e in meant.demos.episodes])[:-1]
    ours = {"distance": [s.distance for s in meant.episodes]}
    ours["BC residual"] = [float(np.sqrt(p.mean())) for p in np.split(bc, ends)]
    return ours | {m: [s.kinematics[m] for s in meant.episodes] for m in MEASURES}


def truths(meant: Meaning, intended: Array, mean: Array) -> dict[str, list[float]]:
    """Sums of squared distances to the expert's mean action, of every episode: what was shown, what
    was meant, since the expert chooses by chance, and what the judges believe."""
    ends = np.cumsum([len(e) for e in meant.demos.episodes])[:-1]
    off = {"error": meant.shown, "spread": intended, "judges": meant.believed}
    sums = {
        name: [float(p.sum()) for p in np.split((x - mean) ** 2, ends)] for name, x in off.items()
    }
    return sums | {"pairs": [len(e) for e in meant.demos.episodes]}


def cell(world: str, study: str, seed: int, steps: int | None) -> dict[str, Any]:
    """All measures of all episodes of one dataset, and what is true of them."""
    teacher = operators() if study == "operators" else episodes(world)
    count = EACH * (len(SIGMAS) + 1) if study == "operators" else GOOD + BAD * len(KINDS)
    demos, intended, mean = shown(world, teacher, count, seed)
    changes: dict[str, Any] = {} if steps is None else {"steps": steps}
    meant = meaning(demos, radius=0.4, judges=Judges(seed=seed), progress=False, **changes)
    return {
        "world": world,
        "study": study,
        "seed": seed,
        "steps": steps,
        "who": [e.operator for e in demos.episodes],
        "measures": measures(meant, residual(demos, seed, steps)),
        "truth": truths(meant, intended, mean),
        "intervals": [(s.low, s.high) for s in meant.episodes],
        "operators": [s.as_dict() for s in meant.operators],
    }


# What the rows say


BOTH = "distance × BC residual"


def _values(row: dict[str, Any], measure: str) -> Array:
    """A measure of every episode."""
    if measure == BOTH:
        return _values(row, "distance") * _values(row, "BC residual")
    return np.array(row["measures"][measure], float)


def by_operator(row: dict[str, Any], measure: str) -> Array:
    """The mean of a measure over the episodes of each of the six: (6,)."""
    who, values = np.array(row["who"]), _values(row, measure)
    return np.array([np.nanmean(values[who == f"σ {s:g}"]) for s in SIGMAS])


def auroc(row: dict[str, Any], measure: str, kind: str) -> float:
    """How often a corrupted episode measures above a good one."""
    who, values = np.array(row["who"]), _values(row, measure)
    bad, good = values[who == kind], values[who == "good"]
    return float((bad[:, None] > good).mean() + 0.5 * (bad[:, None] == good).mean())


def correlation(row: dict[str, Any], measure: str) -> float:
    values = by_operator(row, measure)
    return 0.0 if np.ptp(values) == 0 else float(stats.spearmanr(values, SIGMAS).statistic)


def covered(rows: list[dict[str, Any]], of: str) -> dict[str, float]:
    """Share of the 90 % intervals that hold the truth, and that hold what the same judges would say
    of endless episodes: the truth and their own error, √(truth² + error²)."""
    hits: dict[str, list[bool]] = {"the error": [], "endless episodes": []}
    for row in rows:
        for (low, high), true, judges in _cases(row, of):
            hits["the error"].append(low <= true <= high)
            hits["endless episodes"].append(low <= np.hypot(true, judges) <= high)
    return {k: float(np.mean(v)) for k, v in hits.items()}


def _cases(row: dict[str, Any], of: str) -> list[tuple[Any, float, float]]:
    """An interval, and the root mean squares of error and judges of all who err alike."""
    who, truth = np.array(row["who"]), {k: np.array(v) for k, v in row["truth"].items()}
    cases = []
    for name in dict.fromkeys(row["who"]):
        own = who == name
        error, spread, judges = (
            np.sqrt(truth[k][own].sum() / truth["pairs"][own].sum())
            for k in ("error", "spread", "judges")
        )
        if name.startswith("σ 0"):  # what chance gave these episodes is not their operator's doing
            size = 1 if row["world"] == "cartpole" else 2
            error = np.sqrt(size * float(name[2:]) ** 2 / 3 + spread**2)
        if of == "operators":
            score = next(o for o in row["operators"] if o["name"] == name)
            cases.append(((score["low"], score["high"]), error, judges))
        else:
            each = np.sqrt(truth["judges"] / truth["pairs"])
            cases += [(row["intervals"][i], error, each[i]) for i in np.flatnonzero(own)]
    return cases


def markdown(rows: list[dict[str, Any]]) -> str:
    lines: list[str] = []
    for world in dict.fromkeys(r["world"] for r in rows):
        people = [r for r in rows if r["world"] == world and r["study"] == "operators"]
        takes = [r for r in rows if r["world"] == world and r["study"] == "episodes"]
        lines += [f"\n{world}: {len(people)} datasets of operators, {len(takes)} of episodes\n"]
        lines += ["| measure | rank correlation | " + " | ".join(KINDS) + " | all three |"]
        lines += ["|---" * 6 + "|"]
        for m in ("distance", "BC residual", BOTH, *MEASURES):
            cells = [_text([correlation(r, m) for r in people], 0.0)] if people else ["–"]
            for kind in KINDS if takes else ():
                cells.append(_text([auroc(r, m, kind) for r in takes], 0.5))
            every = [[auroc(r, m, k) for k in KINDS] for r in takes]
            cells.append(_text(np.mean(every, axis=1).tolist(), 0.5) if takes else "–")
            lines.append(f"| {m} | " + " | ".join(cells) + " |")
        for study, these in (("operators", people), ("episodes", takes)):
            for of in ("operators", "episodes") if these else ():
                shares = [f"{k} {100 * v:.0f} %" for k, v in covered(these, of).items()]
                lines.append(f"\n90 % intervals, {of} of the study of {study}: {', '.join(shares)}")
        bias = [next(o["bias"][0] for o in r["operators"] if o["name"] == "biased") for r in people]
        if bias:
            lines.append(f"\nbias of the biased operator, {OFF:g} in truth: {np.mean(bias):.2f}")
    return "\n".join(lines)


def _text(values: list[float], nothing: float) -> str:
    """The mean with its 95 % interval, turned to the side of `nothing` where it does better."""
    x = np.array(values)
    turned = x if x.mean() >= nothing else 2 * nothing - x
    interval = mean_interval(turned)
    half = "" if interval.n < 2 else f" ± {interval.high - interval.mean:.2f}"
    return f"{interval.mean:.2f}{half}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=None)
    parser.add_argument("--worlds", nargs="*", default=["intersection", "cartpole"])
    parser.add_argument("--out", type=Path, default=Path("scores.json"))
    options = parser.parse_args()
    warnings.simplefilter("ignore", InfeasibleActions)
    rows = json.loads(options.out.read_text()) if options.out.exists() else []
    finished = {(r["world"], r["study"], r["seed"], r["steps"]) for r in rows}
    for seed in range(options.seeds):
        for world in options.worlds:
            for study in ("operators", "episodes"):
                key = (world, study, seed, options.steps)
                if key not in finished:
                    rows.append(cell(*key))
                    with aside(options.out) as temporary:
                        temporary.write_text(json.dumps(rows) + "\n")
    print(markdown(rows))


if __name__ == "__main__":
    main()
