"""Compares policies of one action and of chunks, each tuned alike on seeds that report nothing.

Every variant is trained with each number of steps and acts at each of its temperatures. The pair
with the best mean score on the seeds and starts of `choose` is trained and tested once more on
those of `report`. A tie goes to the shorter episodes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from counterbc.acting.evaluation import evaluate
from counterbc.acting.intervals import paired_difference
from counterbc.acting.policies import Policies
from counterbc.data.demonstrations import Demonstrations
from counterbc.errors import unknown
from counterbc.experiments.cell import reproducible
from counterbc.policies import Flow
from counterbc.trainer import train
from reproduction.markdown import markdown_table
from reproduction.options import StudyOptions, option
from reproduction.records import Record, Records, write_rows

FIRST_SEEDS = {"choose": 1095, "report": 2505}
"""The first seed of each phase, which is also that of its starts."""
KEY = ("phase", "variant", "steps", "temperature", "seed")
"""What tells the rows apart."""
BASELINE = "one-step Gaussian"
_CHUNKS: dict[str, Any] = {
    "horizon": 16,
    "execute": 8,
}  # those of the policy chunk, and of flows when the rows were computed


@dataclass(frozen=True)
class Variant:
    """Settings of a policy, and the temperatures at which it may act.

    For all policies but a flow, 0 is the deterministic action and 1 a sampled one.
    """

    settings: Mapping[str, Any] = field(default_factory=dict)
    temperatures: tuple[float, ...] = (0.0, 1.0)


VARIANTS = {
    BASELINE: Variant(),
    "chunk of the Gaussian": Variant(_CHUNKS),
    "chunk, squared error": Variant({"policy": "chunk"}, (0.0,)),
    "chunk, 5 Gaussians": Variant({"policy": "chunk", "modes": 5}),
    "flow": Variant({"policy": "flow"} | _CHUNKS, (0.0, 0.5, 1.0)),
}

Load = Callable[[list[int]], Demonstrations | list[Demonstrations]]
"""Returns one dataset for all of these seeds, or one for each."""


@dataclass(frozen=True)
class PolicyChoice:
    """A comparison of variants in one world."""

    study: str
    world: str
    measure: str
    """The measure of the world that counts: a share."""
    title: str
    """The measure in the table."""
    steps: tuple[int, ...]
    """Numbers of gradient steps that are tried."""
    variants: tuple[str, ...] = tuple(VARIANTS)
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Settings that all variants share."""


@dataclass(frozen=True, kw_only=True)
class PolicyChoiceOptions(StudyOptions):
    """Options of a comparison of policies."""

    seeds: int = 5
    episodes: int = 50
    choice_seeds: int = option(3, "number of runs to choose steps and temperature on")
    choice_episodes: int = option(10, "episodes of each of those runs")
    device: str | None = None
    variants: tuple[str, ...] = option((), "variants to train; by default all")


def run_choice(choice: PolicyChoice, options: PolicyChoiceOptions, load: Load) -> None:
    """Compute the missing rows of each variant, first its choice and then its report."""
    folder = options.out / choice.study
    records = Records(folder / "rows.json", indent=None, device=options.device)
    for variant in options.variants or choice.variants:
        if variant not in choice.variants:
            raise unknown("variant", variant, choice.variants)
        for phase in FIRST_SEEDS:
            for about in candidates(choice, phase, variant, records.rows):
                if not records.has(**about):
                    records.add(*measure(choice, about, options, load))
    write_rows(records.rows, folder)
    print(markdown(choice, records.rows))


def candidates(
    choice: PolicyChoice, phase: str, variant: str, rows: list[Record]
) -> Iterator[Record]:
    """Yield what is trained: each number of steps, or in the report what was chosen."""
    about: Record = {"phase": phase, "variant": variant}
    if phase == "choose":
        yield from (about | {"steps": steps} for steps in choice.steps)
    elif (best := best_settings(rows, variant)) is not None:
        yield about | best


def best_settings(rows: list[Record], variant: str) -> Record | None:
    """Return the steps and temperature with the best mean score in the first phase."""
    groups: dict[tuple[int, float], list[tuple[float, float]]] = {}
    for row in rows:
        if (row["phase"], row["variant"]) == ("choose", variant):
            key = row["steps"], row["temperature"]
            groups.setdefault(key, []).append((row["score"], -row["length"]))
    if not groups:
        return None
    best = max(groups, key=lambda key: tuple(np.mean(groups[key], axis=0).tolist()))
    return dict(zip(("steps", "temperature"), best, strict=True))


def measure(
    choice: PolicyChoice, about: Record, options: PolicyChoiceOptions, load: Load
) -> list[Record]:
    """Train a variant, and return a row per seed and temperature."""
    is_report = about["phase"] == "report"
    count = options.seeds if is_report else options.choice_seeds
    seeds = [FIRST_SEEDS[about["phase"]] + k for k in range(count)]
    variant = VARIANTS[about["variant"]]
    with reproducible():
        policies = train(
            load(seeds), "bc", seeds=seeds, steps=about["steps"], lag=0.0, offsets="none",
            ensemble=1, device=options.device, progress=False,
            **choice.settings, **variant.settings,
        )  # fmt: skip
        temperatures = (about["temperature"],) if is_report else variant.temperatures
        episodes = options.episodes if is_report else options.choice_episodes
        return [
            row for t in temperatures for row in _test(choice, policies, about, t, episodes)
        ]  # fmt: skip


def _test(
    choice: PolicyChoice, policies: Policies, about: Record, temperature: float, episodes: int
) -> Iterator[Record]:
    is_flow, config = isinstance(policies.policy, Flow), policies.run_config
    if isinstance(policies.policy, Flow):
        policies = replace(policies, policy=replace(policies.policy, temperature=temperature))
    e = evaluate(
        policies, choice.world, episodes=episodes, seed=FIRST_SEEDS[about["phase"]],
        act="sample" if temperature and not is_flow else "mean", progress=False,
    )  # fmt: skip
    score = np.nan_to_num(e.measures[choice.measure])  # a diverged policy earns nothing
    for i, member in enumerate(policies.members):
        yield about | {
            "temperature": temperature, "seed": member.seed, "episodes": episodes,
            "score": float(score[i].mean()), "length": float(e.lengths[i].mean()),
            "return": float(np.nan_to_num(e.returns[i]).mean()),
            "kernel": config.kernel, "train_seconds": config.seconds,
        }  # fmt: skip


def markdown(choice: PolicyChoice, rows: list[Record]) -> str:
    """Return a row per variant with its chosen settings and the reported numbers."""
    plain, lines = _reported(rows, BASELINE), []
    for variant in choice.variants:
        values = _reported(rows, variant)
        if not values:
            continue
        score = _column(values, "score")
        gap = "" if variant == BASELINE or not plain else _difference(values, plain)
        lines.append([
            variant, f"{values[0]['steps']:,}", f"{values[0]['temperature']:g}",
            f"{100 * score.mean():.1f} % ({100 * score.min():.0f} to {100 * score.max():.0f})",
            gap, f"{_column(values, 'length').mean():.0f}",
        ])  # fmt: skip
    header = ["variant", "steps", "T", choice.title, f"above {BASELINE} [95 %]", "length"]
    return markdown_table(header, lines)


def sentence(choice: PolicyChoice, rows: list[Record]) -> str:
    """Return the reported score of the baseline, and how far the others are above it."""
    plain = _reported(rows, BASELINE)
    if not plain:
        return "not run yet"
    others = [v for v in choice.variants if v != BASELINE and _reported(rows, v)]
    gaps = [f"{v} {_difference(_reported(rows, v), plain)}" for v in others]
    text = f"{BASELINE} {100 * _column(plain, 'score').mean():.1f} %"
    return f"{text}; points above it: {'; '.join(gaps)}" if gaps else text


def _reported(rows: list[Record], variant: str) -> list[Record]:
    """Return the reported rows of the chosen settings, by seed."""
    best = best_settings(rows, variant)
    about = None if best is None else {"phase": "report", "variant": variant} | best
    hits = [row for row in rows if about is not None and about.items() <= row.items()]
    return sorted(hits, key=lambda row: int(row["seed"]))


def _column(rows: list[Record], name: str) -> np.ndarray[Any, Any]:
    return np.array([row[name] for row in rows], np.float64)


def _difference(values: list[Record], plain: list[Record]) -> str:
    seeds = {row["seed"] for row in values} & {row["seed"] for row in plain}
    a, b = (_column([r for r in rows if r["seed"] in seeds], "score") for rows in (values, plain))
    gap = paired_difference(100 * a, 100 * b).interval
    return f"{gap.mean:+.1f} [{gap.low:+.1f}, {gap.high:+.1f}]".replace("-", "−")
