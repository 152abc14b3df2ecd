"""What C and R mean for a flow on Push-T: four ways, tuned as plain flow is, on new seeds.

With errors added to people's actions, each variant has the same number of candidates: 5,000 and
15,000 steps, three temperatures, and either Δ (half and all of the size of the errors) or, for
plain flow, weights with and without a moving average. Rows of the first phase that the study
`flow` has are used again. The setting with the best mean score in the first phase is reported
once, and nothing is before all of its candidates are computed.

For people as they are, the first phase also tries lags, numbers of executed actions and averaged
chunks with plain flow.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import torch

from counterbc import OwnSamples
from counterbc.acting.intervals import mean_interval
from counterbc.acting.policies import Policies
from counterbc.experiments.cell import reproducible
from counterbc.experiments.workers import run_all
from counterbc.methods import Method
from counterbc.policies import Flow
from counterbc.supports import Ball
from counterbc.trainer import train
from reproduction.markdown import markdown_table
from reproduction.options import RESULTS
from reproduction.records import Record, Records, read_rows, write_rows
from reproduction.studies import flow
from reproduction.studies.flow import EMA_SHARE, NO_AVERAGE, PEOPLE, RADII, STEPS, TEMPERATURES
from reproduction.studies.flow import difference_text as difference
from reproduction.studies.label_errors import ERRORS

COUNTER, LABELS = "Counter-BC for the flow", "labels from held-out flows"
VARIANTS: dict[str, tuple[str | Method, dict[str, Any]]] = {
    "flow": ("bc", flow.FLOW),
    COUNTER: ("counter-bc", flow.COUNTED),
    "posterior for the flow": ("posterior", flow.COUNTED),
    "own samples": (Method(Ball(count=0), OwnSamples(), Flow(**flow.HORIZON)), {}),
    LABELS: ("bc", flow.FLOW),
}
"""The method and the settings of each variant."""
LAGS = (0, 1, 2, 3)
USUAL, AVERAGED = 8, 0
"""The usual number of executed actions, and what stands for averaged chunks in its place."""
EXECUTED = (2, 4, USUAL, 16, AVERAGED)
REPORT_SEED = 3100
"""The first seed of the report, also of its starts and errors; `flow` has those of the choice."""
TRAINED = ("steps", "radius", "ema_share", "lag")
KEY = ("phase", "kind", "variant", *TRAINED, "execute", "temperature", "seed")
"""What tells the rows apart."""
_USUAL_FLOW: Record = {
    "variant": "flow", "steps": STEPS[1], "radius": 0.0, "ema_share": EMA_SHARE, "lag": 0,
}  # fmt: skip
_USUAL_TEMPERATURE = 0.5  # of plain flow on people as they are, chosen in the study `flow`


@dataclass(frozen=True, kw_only=True)
class FlowCounterOptions(flow.FlowOptions):
    """Train flows on counterfactuals, own samples and labels of held-out flows in Push-T."""


def run(options: FlowCounterOptions) -> None:
    """Compute the missing rows of a phase and print the tables."""
    folder = options.out / "flow-counter"
    records = Records(folder / "rows.json", indent=None, device=options.device)
    trials = candidates(options, records.rows + stored_choices())
    jobs = {
        ", ".join(map(str, about.values())): partial(measure, about, tests, options)
        for about, tests in sorted(trials, key=lambda trial: -trial[0]["steps"])  # longest first
        if not records.has(**about)
    }
    if jobs:
        run_all(jobs, lambda _, rows: records.add(*rows), options.workers, bars=False)
    write_rows(records.rows, folder)
    rows = records.rows + stored_choices()
    print("\n\n".join([markdown(rows), radius_table(rows), acting_table(rows)]))


def stored_choices(results: Path = RESULTS) -> list[Record]:
    """Return the rows of the first phase of the study `flow`."""
    usual = {"lag": 0, "execute": USUAL}
    return [usual | row for row in read_rows(results / "flow") if row["phase"] == "choose"]


Tests = list[tuple[int, float]]
"""Numbers of executed actions, each with a temperature."""


def candidates(options: FlowCounterOptions, rows: list[Record]) -> Iterator[tuple[Record, Tests]]:
    """Yield what is trained, and how it is tested."""
    for kind in options.kinds or (*ERRORS, PEOPLE, flow.TWO_GOALS):
        about: Record = {"phase": options.phase, "kind": kind}
        if kind not in ERRORS:
            yield from _without_errors(about, rows)
            continue
        for variant in options.variants or VARIANTS:
            if options.phase == "choose":
                for cell in grid(kind, variant):
                    if not _has(rows, about | cell):
                        yield about | cell, [(USUAL, t) for t in TEMPERATURES]
            elif (best := chosen(rows, kind, variant)) is not None:
                test = [(USUAL, best.pop("temperature"))]
                for radius in reported_radii(kind, variant, best["radius"]):
                    yield about | best | {"radius": radius}, test


def _without_errors(about: Record, rows: list[Record]) -> Iterator[tuple[Record, Tests]]:
    """Yield lags and ways to act in the first phase, and a better way to act in the second.

    The first phase also trains the setting of Counter-BC that the study `flow` left out.
    """
    kind, phase = about["kind"], about["phase"]
    all_temperatures = [(USUAL, t) for t in TEMPERATURES]
    if phase == "choose":
        yield about | _USUAL_FLOW | {"variant": COUNTER, "radius": RADII[kind]}, all_temperatures
    if phase == "choose" and kind == PEOPLE:
        yield about | _USUAL_FLOW, [(e, _USUAL_TEMPERATURE) for e in EXECUTED]
        for lag in LAGS[1:]:
            yield about | _USUAL_FLOW | {"lag": lag}, all_temperatures
    if phase == "report" and kind == PEOPLE:
        best = chosen_execution(rows)
        if best not in (None, USUAL):
            yield about | _USUAL_FLOW, [(e, _USUAL_TEMPERATURE) for e in (USUAL, best)]


def grid(kind: str, variant: str) -> list[Record]:
    """Return the four trainings of each variant, each of which acts at three temperatures."""
    radii = (0.0,) if variant == "flow" else (RADII[kind] / 2, RADII[kind])
    shares = (EMA_SHARE, NO_AVERAGE) if variant == "flow" else (EMA_SHARE,)
    return [
        {"variant": variant, "steps": s, "radius": r, "ema_share": e, "lag": 0}
        for s, r, e in product(STEPS, radii, shares)
    ]


def reported_radii(kind: str, variant: str, best: float) -> list[float]:
    """Return the radii of the report: the chosen one, and for correlated errors others.

    These show what labels from held-out flows lose where the size of the errors is misjudged.
    """
    if variant != LABELS or kind != "correlated 0.1":
        return [best]
    return [scale * RADII[kind] for scale in (0.5, 1, 2)]


def chosen(rows: list[Record], kind: str, variant: str) -> Record | None:
    """Return the settings with the best mean score of the first phase.

    None where some candidates are not computed yet.
    """
    cells, about = grid(kind, variant), {"phase": "choose", "kind": kind, "execute": USUAL}
    if not all(_has(rows, about | cell) for cell in cells):
        return None
    settings = [c | {"temperature": t} for c in cells for t in TEMPERATURES]
    return max(settings, key=lambda s: _mean(rows, about | s))


def chosen_execution(rows: list[Record]) -> int | None:
    """Return the number of executed actions with the best mean score in the first phase."""
    about = _acting(USUAL)
    if not all(_has(rows, about | {"execute": e}) for e in EXECUTED):
        return None
    return max(EXECUTED, key=lambda e: _mean(rows, about | {"execute": e}))


def _acting(execute: int, phase: str = "choose") -> Record:
    about = {"phase": phase, "kind": PEOPLE, "temperature": _USUAL_TEMPERATURE}
    return about | _USUAL_FLOW | {"execute": execute}


def measure(about: Record, tests: Tests, options: FlowCounterOptions) -> list[Record]:
    """Return a row per seed and way to act."""
    torch.set_num_threads(1)
    first = REPORT_SEED if about["phase"] == "report" else flow.first_seed(about)
    method, changes = VARIANTS[about["variant"]]
    if about["variant"] not in ("flow", LABELS):
        changes = changes | {"radius": about["radius"]}
    with reproducible():
        policies = train(
            flow.dataset(about, options, first), method, lag=float(about["lag"]), offsets="none",
            seeds=[first + k for k in range(options.seeds)], steps=about["steps"],
            ema_share=about["ema_share"], relative=flow.RELATIVE, angles=flow.ANGLE,
            device=options.device, progress=False, **changes,
        )  # fmt: skip
        return [
            row | {"execute": e}
            for e, t in tests
            for row in flow.member_rows(_executing(policies, e), about, t, first, options.episodes)
        ]


def _executing(policies: Policies, execute: int) -> Policies:
    if execute == AVERAGED:
        return replace(policies, policy=replace(policies.policy, average_chunks=True))
    return policies.acting_with(execute=execute)


def _has(rows: list[Record], about: Record) -> bool:
    return any(about.items() <= row.items() for row in rows)


def _mean(rows: list[Record], about: Record) -> float:
    """Return the mean score of rows; a row that both studies computed counts once."""
    scores = {row["seed"]: row["score"] for row in rows if about.items() <= row.items()}
    return float(np.mean(list(scores.values())))


def sections(results: Path) -> dict[str, dict[str, str]]:
    """Return the tables of the docs."""
    rows = read_rows(results / "flow-counter")
    if not rows:
        return {}
    rows += stored_choices(results)
    tables = {"flow-counter": markdown(rows), "flow-radius": radius_table(rows)}
    return {"push-t": tables | {"flow-acting": acting_table(rows)}}


def markdown(rows: list[Record]) -> str:
    """Return a row per kind and variant at the chosen settings, with the reported numbers."""
    lines = []
    for kind, variant in product(ERRORS, VARIANTS):
        best = chosen(rows, kind, variant)
        values = [] if best is None else _reported(rows, kind, best)
        if best is None or not values:
            continue
        plain = chosen(rows, kind, "flow")
        baseline = [] if plain is None or variant == "flow" else _reported(rows, kind, plain)
        tried = _mean(rows, {"phase": "choose", "kind": kind, "execute": USUAL} | best)
        lines.append([
            kind, variant, f"{best['steps']:,}", f"{best['radius']:g}" if best["radius"] else "",
            f"{best['temperature']:g}", "no" if best["ema_share"] == NO_AVERAGE else "yes",
            f"{tried:.3f}", *_score_and_success(values),
            difference(values, baseline) if baseline else "",
        ])  # fmt: skip
    columns = (
        "data", "variant", "steps", "Δ", "T", "averaged", "in choosing", "score", "success",
        "difference to flow",
    )  # fmt: skip
    return markdown_table(columns, lines)


def radius_table(rows: list[Record]) -> str:
    """Return what labels from held-out flows gain at each Δ under correlated errors."""
    kind, lines = "correlated 0.1", []
    best, plain = chosen(rows, kind, LABELS), chosen(rows, kind, "flow")
    if best is not None and plain is not None:
        baseline = _reported(rows, kind, plain)
        for radius in reported_radii(kind, LABELS, best["radius"]):
            if values := _reported(rows, kind, best | {"radius": radius}):
                gap = difference(values, baseline) if baseline else ""
                lines.append([f"{radius:g}", *_score_and_success(values), gap])
    return markdown_table(("Δ", "score", "success", "difference to flow"), lines)


def acting_table(rows: list[Record]) -> str:
    """Return the scores of plain flow on people as they are, by way to act and by lag."""
    lines, plain = [], _sorted(rows, _acting(USUAL, "report"))
    for execute in (e for e in EXECUTED if _has(rows, _acting(e))):
        name = "chunks averaged" if execute == AVERAGED else f"{execute} executed"
        values = _sorted(rows, _acting(execute, "report"))
        report = _score_and_success(values) if values else ["", ""]
        gap = difference(values, plain) if values and execute != USUAL else ""
        tried = f"{_mean(rows, _acting(execute)):.3f}"
        lines.append([name, f"{_USUAL_TEMPERATURE:g}", tried, *report, gap])
    for lag in LAGS[1:]:
        trials = {t: _acting(USUAL) | {"lag": lag, "temperature": t} for t in TEMPERATURES}
        scores = {t: _mean(rows, about) for t, about in trials.items() if _has(rows, about)}
        if scores:
            best = max(scores, key=lambda t: scores[t])
            name, tried = f"{USUAL} executed, lag {lag}", f"{scores[best]:.3f}"
            lines.append([name, f"{best:g}", tried, "", "", ""])
    columns = ("plain flow", "T", "in choosing", "score", "success", "difference to 8 executed")
    return markdown_table(columns, lines)


def _score_and_success(values: list[Record]) -> list[str]:
    score, success = (np.array([v[k] for v in values]) for k in ("score", "success"))
    return [flow.interval_text(mean_interval(score)), f"{100 * success.mean():.0f} %"]


def _reported(rows: list[Record], kind: str, settings: Record) -> list[Record]:
    """Return the reported rows of these settings, by seed."""
    return _sorted(rows, {"phase": "report", "kind": kind, "execute": USUAL} | settings)


def _sorted(rows: list[Record], about: Record) -> list[Record]:
    return sorted((r for r in rows if about.items() <= r.items()), key=lambda r: int(r["seed"]))
