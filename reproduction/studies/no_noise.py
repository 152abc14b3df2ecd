"""What tuned Counter-BC and the tuned posterior lose to tuned BC where teachers make no errors.

All three are tuned by the same search, on the same demonstrations; only Δ is 0 for BC.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from counterbc.acting.intervals import mean_interval
from counterbc.demonstrators import UniformNoise
from counterbc.experiments.workers import run_all
from reproduction.markdown import markdown_table
from reproduction.options import option
from reproduction.records import Record, Records, read_rows, write_rows
from reproduction.studies import tuned
from reproduction.studies.tuned_tables import BC, groups_of, returns_of

FIRST_SEED = 2950
KEY = tuned.KEY
VARIANTS: dict[str, dict[str, Any]] = {
    BC: {"method": "bc"},
    "counter-bc, tuned": {"method": "counter-bc"},
    "posterior, tuned": {"method": "posterior"},
}
"""How each variant is trained; everything else is chosen from the data."""


@dataclass(frozen=True, kw_only=True)
class NoNoiseOptions(tuned.TrainedOptions):
    """Compare tuned methods on demonstrations without errors."""

    first_seed: int = option(FIRST_SEED, "seed of the first run")


def run(options: NoNoiseOptions) -> None:
    """Compute the missing rows and print the table."""
    records = Records(options.out / "no-noise" / "rows.json", indent=None, device=options.device)
    jobs = {}
    for world in options.worlds:
        for variant in options.variants or VARIANTS:
            about = {"world": world, "pairs": tuned.WHOLE_PAIRS, "teacher": "no noise"}
            about["variant"] = variant
            if not records.has(**about):
                jobs[f"{world}, {variant}"] = partial(
                    tuned.measure, about, UniformNoise(0.0), VARIANTS[variant], options
                )
    if jobs:
        run_all(jobs, lambda _, rows: records.add(*rows), options.workers, bars=False)
    write_rows(records.rows, options.out / "no-noise")
    print(markdown(records.rows))


def sections(results: Path) -> dict[str, dict[str, str]]:
    """Return the table of docs/tune.md."""
    return {"tune": {"no-noise": markdown(read_rows(results / "no-noise"))}}


def markdown(rows: list[Record]) -> str:
    """Return each method beside BC, and the paired difference in percent of BC's mean."""
    lines = []
    for (world, pairs, _, act), group in groups_of(rows):
        bc = returns_of(group, BC)
        shown = f"{np.mean([r['shown'] for r in group]):.1f}"
        for variant in VARIANTS:
            returns = returns_of(group, variant)
            if variant == BC or not len(returns) or len(returns) != len(bc):
                continue
            percent = mean_interval(100 * (returns - bc) / abs(bc.mean()))
            no_radius = np.mean([r["radius"] == 0 for r in group if r["variant"] == variant])
            lines.append([
                world, str(pairs), act, variant, shown, f"{bc.mean():.2f}", f"{returns.mean():.2f}",
                f"{percent.mean:+.1f} % [{percent.low:+.1f}, {percent.high:+.1f}]",
                f"{no_radius:.0%}", str(len(returns)),
            ])  # fmt: skip
    columns = (
        "world", "pairs", "act", "method", "shown", BC, "method's return", "difference",
        "chose Δ 0", "runs",
    )  # fmt: skip
    return markdown_table(columns, lines)
