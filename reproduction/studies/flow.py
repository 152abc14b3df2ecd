"""Flow matching on Push-T, from people as they are and with errors added to their actions.

Every variant is tuned alike: gradient steps, temperature and, where it has one, Δ are chosen by the
mean score on some seeds and starts (`--phase choose`), and reported on others (`--phase report`).
Where errors are added, the moving average of the weights is chosen too, after the other settings.

The labels from held-out flows in the stored rows of people as they are were computed with other
folds: episode i was held out of flow i mod 5, and each flow took the 1–99 % range of the actions
from its own episodes. The library deals episodes to five folds at random, and takes the range from
all.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch

from counterbc.acting.evaluation import evaluate
from counterbc.acting.intervals import Interval, mean_interval, paired_difference
from counterbc.acting.policies import Policies
from counterbc.data.demonstrations import Demonstrations
from counterbc.data.merge import merge
from counterbc.diagnosis import HeldOut
from counterbc.diagnosis.intents import find_intents
from counterbc.diagnosis.meaning import meaning
from counterbc.envs import WORLDS
from counterbc.errors import OptionError
from counterbc.experiments.cell import reproducible
from counterbc.experiments.workers import run_all
from counterbc.formats import load
from counterbc.policies import Flow
from counterbc.trainer import train
from reproduction.markdown import markdown_table
from reproduction.options import StudyOptions, option
from reproduction.records import Record, Records, read_rows, write_rows
from reproduction.studies.label_errors import ERRORS, smoothed, with_errors

WORLD = "push-t"
PEOPLE, TWO_GOALS = "people", "two goals"
RADII = {
    PEOPLE: 0.05, "uniform 0.2": 0.25, "20 % outliers": 0.4, "correlated 0.1": 0.25, TWO_GOALS: 0.2,
}  # fmt: skip
"""Δ of each kind of data, in units of half the 1–99 % range: about the size of its errors."""
STEPS = (5_000, 15_000)
TEMPERATURES = (0.0, 0.5, 1.0)
EMA_SHARE, NO_AVERAGE = Flow.ema_share, 0.0
"""The usual share of the newest weights in the moving average, and the share without an average."""
TUNED = ("steps", "radius", "temperature", "ema_share")
SUCCESS = 0.95
SEEDS = {"choose": 1090, "report": 2500}
ERROR_SEEDS = {"choose": 1095, "report": 2510}
"""The first seed of each phase, also of the starts and of the errors, without and with errors."""
RELATIVE, ANGLE = "state[0],state[1]", "state[4]"
"""The disc's place, and the block's angle, which wraps in one of the files only."""
FLOWS = HeldOut(folds=5, repeats=1, rounds=1, steps=5000)
"""The held-out flows that labels come from."""
HORIZON: dict[str, Any] = {"horizon": 16, "execute": 8}
"""The defaults of a flow when the rows were computed, before the study `flow-horizon`."""
FLOW: dict[str, Any] = {"policy": "flow"} | HORIZON
COUNTED: dict[str, Any] = FLOW | {"counterfactuals": 4}
VARIANTS: dict[str, dict[str, Any]] = {
    "flow": FLOW,
    "flow, absolute actions": FLOW | {"relative": "none"},
    "smoothed labels": FLOW,
    "cleaned labels": FLOW,
    "labels from held-out flows": FLOW,
    "Counter-BC for the flow": COUNTED,
    "the larger group of intents": FLOW,
    "chunk, squared error": {"policy": "chunk"},
    "chunk, 5 Gaussians": {"policy": "chunk", "modes": 5},
}
_PEOPLE_ONLY = ("flow, absolute actions", "chunk, squared error", "chunk, 5 Gaussians")


@dataclass(frozen=True, kw_only=True)
class FlowOptions(StudyOptions):
    """Train flows on what people recorded in Push-T."""

    data: Path | None = option(None, "file of demonstrations, pusht_human_206.hdf5")
    other: Path | None = option(None, "demonstrations of another goal, pusht_other_goal_151.hdf5")
    phase: Literal["choose", "report"] = option("choose", "choose settings, or report chosen ones")
    seeds: int = 5
    episodes: int = 50
    device: str | None = None
    workers: int | None = None
    kinds: tuple[str, ...] = option((), "kinds of data; by default all")
    variants: tuple[str, ...] = option((), "variants to train; by default all")


def run(options: FlowOptions) -> None:
    """Compute the missing rows of a phase and print the table."""
    records = Records(options.out / "flow" / "rows.json", indent=None, device=options.device)
    while jobs := {
        ", ".join(map(str, about.values())): partial(measure, about, options)
        for about in candidates(options, records.rows)
        if not records.has(**about)
    }:
        run_all(jobs, lambda _, rows: records.add(*rows), options.workers, bars=False)
    write_rows(records.rows, options.out / "flow")
    print(markdown(records.rows))


def candidates(options: FlowOptions, rows: list[Record]) -> Iterator[Record]:
    """Yield what is trained: all candidates of each variant, or in the report the chosen one."""
    for kind in options.kinds or RADII:
        for variant in options.variants or VARIANTS:
            if not _applies(kind, variant):
                continue
            about: Record = {"phase": options.phase, "kind": kind, "variant": variant}
            best = chosen(rows, kind, variant)
            if options.phase == "choose":
                for steps, radius in _grid(kind, variant):
                    yield about | {"steps": steps, "radius": radius, "ema_share": EMA_SHARE}
                if best is not None and kind in ERRORS:
                    del best["temperature"]  # every one is tried again
                    yield about | best | {"ema_share": NO_AVERAGE}
            elif best is not None:
                yield about | best


def _applies(kind: str, variant: str) -> bool:
    if variant in _PEOPLE_ONLY:
        return kind == PEOPLE
    if variant == "the larger group of intents":
        return kind == TWO_GOALS
    return not (variant == "smoothed labels" and kind == TWO_GOALS)


def _grid(kind: str, variant: str) -> list[tuple[int, float]]:
    radius = RADII[kind]
    if variant == "Counter-BC for the flow":
        return [(STEPS[0], radius / 2), (STEPS[0], radius), (STEPS[1], radius / 2)]
    return [(s, radius if variant == "labels from held-out flows" else 0.0) for s in STEPS]


def chosen(rows: list[Record], kind: str, variant: str) -> Record | None:
    """Return the settings with the best mean score of the first phase."""
    scores: dict[tuple[float, ...], list[float]] = {}
    for row in rows:
        if (row["phase"], row["kind"], row["variant"]) == ("choose", kind, variant):
            key = tuple(row[name] for name in TUNED)
            scores.setdefault(key, []).append(row["score"])
    if not scores:
        return None
    best = max(scores, key=lambda key: float(np.mean(scores[key])))
    return dict(zip(TUNED, best, strict=True))


def measure(about: Record, options: FlowOptions) -> list[Record]:
    """Return a row per seed and temperature."""
    torch.set_num_threads(1)
    first = first_seed(about)
    with reproducible():
        demos = dataset(about, options, first)
        changes = dict(VARIANTS[about["variant"]])
        method = "counter-bc" if "counterfactuals" in changes else "bc"
        radius = {"radius": about["radius"]} if method == "counter-bc" else {}
        changes = {"relative": RELATIVE, "angles": ANGLE, "ema_share": about["ema_share"]} | changes
        policies = train(
            demos, method, seeds=[first + k for k in range(options.seeds)], lag=0.0, offsets="none",
            steps=about["steps"], device=options.device, progress=False, **changes, **radius,
        )  # fmt: skip
        temperatures = (about["temperature"],) if "temperature" in about else TEMPERATURES
        if not isinstance(policies.policy, Flow):
            temperatures = (0.0,)
        episodes = options.episodes
        return [r for t in temperatures for r in member_rows(policies, about, t, first, episodes)]


def member_rows(
    policies: Policies, about: Record, temperature: float, seed: int, episodes: int
) -> Iterator[Record]:
    """Yield a row per member; `seed` is that of the starts."""
    if isinstance(policies.policy, Flow):
        policies = replace(policies, policy=replace(policies.policy, temperature=temperature))
    e = evaluate(policies, WORLD, episodes=episodes, seed=seed, progress=False)
    score = np.minimum(e.measures["best_coverage"] / SUCCESS, 1)
    for i, member in enumerate(policies.members):
        yield about | {
            "temperature": temperature, "seed": member.seed, "score": float(score[i].mean()),
            "success": float(e.measures["success"][i].mean()),
            "kernel": policies.run_config.kernel, "train_seconds": policies.run_config.seconds,
        }  # fmt: skip


def first_seed(about: Record) -> int:
    """Return the first seed of a phase and a kind of data."""
    seeds = ERROR_SEEDS if about["kind"] in ERRORS else SEEDS
    return seeds[about["phase"]]


def dataset(about: Record, options: FlowOptions, seed: int) -> Demonstrations:
    """Return the demonstrations that a variant learns from."""
    if options.data is None:
        raise OptionError("the study needs a file of people; name it with --data")
    keys = WORLDS[WORLD].recorded_obs_keys
    demos, kind, variant = load(options.data, keys), about["kind"], about["variant"]
    if kind == TWO_GOALS:
        if options.other is None:
            raise OptionError("two goals need a second file; name it with --other")
        demos = merge([demos, load(options.other, keys)])
    demos = with_errors(demos, kind, seed)
    reads: dict[str, Any] = {"relative": RELATIVE, "angles": ANGLE}
    if variant == "smoothed labels":
        return smoothed(demos)
    if variant == "labels from held-out flows":
        reads |= FLOW | {"radius": about["radius"]}
        return _meant(demos, options, held_out=replace(FLOWS, seed=seed), **reads)
    if variant == "cleaned labels":
        return _meant(demos, options, steps=10_000, **reads)
    if variant == "the larger group of intents":
        intents = find_intents(demos, angles=(ANGLE,))
        return demos.subset(np.flatnonzero(intents.group == 0).tolist())
    return demos


def _meant(demos: Demonstrations, options: FlowOptions, **changes: Any) -> Demonstrations:
    changes |= {"lag": 0.0, "offsets": "none"}
    return meaning(demos, device=options.device, progress=False, **changes).cleaned


def sections(results: Path) -> dict[str, dict[str, str]]:
    """Return the table of the docs."""
    return {"push-t": {"flow": markdown(read_rows(results / "flow"))}}


def markdown(rows: list[Record]) -> str:
    """Return a row per kind and variant at the chosen settings, with the reported numbers."""
    lines = []
    for kind in RADII:
        plain = _reported(rows, kind, "flow")
        for variant in VARIANTS:
            best, values = chosen(rows, kind, variant), _reported(rows, kind, variant)
            if best is None or not values:
                continue
            score, success = (np.array([v[k] for v in values]) for k in ("score", "success"))
            gap = "" if variant == "flow" or not plain else difference_text(values, plain)
            radius = f"{best['radius']:g}" if best["radius"] else ""
            average = "no" if best["ema_share"] == NO_AVERAGE else "yes"
            lines.append([
                kind, variant, f"{best['steps']:,}", radius, f"{best['temperature']:g}", average,
                interval_text(mean_interval(score)), f"{100 * success.mean():.0f} %", gap,
            ])  # fmt: skip
    columns = (
        "data", "variant", "steps", "Δ", "T", "averaged", "score", "success", "difference to flow",
    )  # fmt: skip
    return markdown_table(columns, lines)


def _reported(rows: list[Record], kind: str, variant: str) -> list[Record]:
    """Return the reported rows of the chosen settings, by seed."""
    best = chosen(rows, kind, variant)
    about = None if best is None else {"phase": "report", "kind": kind, "variant": variant} | best
    hits = [row for row in rows if about is not None and about.items() <= row.items()]
    return sorted(hits, key=lambda row: int(row["seed"]))


def difference_text(values: list[Record], plain: list[Record]) -> str:
    """Return the mean difference of the scores, paired by seed, with its 95 % interval."""
    a, b = (np.array([v["score"] for v in rows]) for rows in (values, plain))
    return interval_text(paired_difference(a, b).interval, sign="+")


def interval_text(interval: Interval, sign: str = "") -> str:
    """Return a mean with its interval, as the tables show it."""
    numbers = (f"{x:{sign}.3f}" for x in (interval.mean, interval.low, interval.high))
    return "{} [{}, {}]".format(*numbers)
