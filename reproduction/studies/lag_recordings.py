"""What the search for a lag says about recordings of people.

Slow manipulation is self-paced: the demonstrators know what comes next, so that no reaction is
forced and no lag should be found.
"""

from __future__ import annotations

import sys
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

import counterbc as cb
from counterbc.acting.device import find_device
from counterbc.data.lags import lag_text
from counterbc.experiments.cell import reproducible
from counterbc.selection.lag import choose_lags
from counterbc.selection.shares import Share
from reproduction.markdown import markdown_table
from reproduction.options import StudyOptions, option
from reproduction.records import Record, Records, read_rows, write_rows
from reproduction.studies.lag import lag_training

RECORDINGS = {
    "pusht_human_206.hdf5": "Push-T, mouse",
    "adroit_door_human_25.hdf5": "Adroit door, glove",
}


@dataclass(frozen=True, kw_only=True)
class LagRecordingsOptions(StudyOptions):
    """Choose the lag of recordings of people."""

    data: Path = option(Path("data"), "folder of the recordings")
    recordings: tuple[str, ...] = option(tuple(RECORDINGS), "files in that folder")
    device: str | None = None


def run(options: LagRecordingsOptions) -> None:
    """Compute the missing rows and print the table."""
    path = options.out / "lag-recordings" / "rows.json"
    records = Records(path, device=options.device)
    with reproducible():
        for name in options.recordings:
            if not records.has(recording=name):
                demos = cb.load(options.data / name)
                records.add({"recording": name} | measure(demos, options.device))
                print(name, file=sys.stderr, flush=True)
    write_rows(records.rows, options.out / "lag-recordings")
    print(markdown(records.rows))


def measure(demos: cb.Demonstrations, device: str | None) -> Record:
    """Return what `counterbc tune` finds out about the lag of a dataset."""
    (choice,) = choose_lags([demos], lag_training(find_device(device)))
    assert choice.explained is not None
    return {
        "pairs": demos.pairs,
        "episodes": len(demos),
        "median_length": float(np.median([len(e) for e in demos.episodes])),
        "rate": demos.rate,
        "verdict": choice.verdict,
        "reason": choice.reason,
        "lag": list(choice.lag),
        "confident": choice.confident,
        "valley": choice.valley,
        "explained": asdict(choice.explained),
        "lags": list(choice.lags),
        "error": list(choice.error),
        "above_se": list(choice.above_se),
        "own_past_error": list(choice.own_past_error),
    }


def sections(results: Path) -> dict[str, dict[str, str]]:
    """Return the table of docs/tune.md."""
    return {"tune": {"lag-recordings": markdown(read_rows(results / "lag-recordings"))}}


def markdown(rows: list[Record]) -> str:
    """Return the verdict on each recording, with the errors of some lags in units of that of 0."""
    lines = []
    for r in rows:
        lags, ratio = r["lags"], np.array(r["error"]) / r["error"][0]
        shown = {1, len(lags) // 2, len(lags) - 1}
        errors = ", ".join(f"{lags[i]}: {ratio[i]:.2f}" for i in sorted(shown))
        own_past = r["own_past_error"]
        lines.append([
            RECORDINGS.get(r["recording"], r["recording"]), str(r["episodes"]), str(r["pairs"]),
            lag_text((lags[-1],), r["rate"]), r["verdict"], lag_text(r["lag"], r["rate"]),
            str(Share(**r["explained"])), errors,
            lag_text((lags[int(np.argmin(own_past))],), r["rate"]) if own_past else "–",
        ])  # fmt: skip
    columns = (
        "recording", "episodes", "pairs", "longest lag tried", "verdict", "lag used",
        "explained by the best lag", "error of lags in steps (lag 0: 1)",
        "best lag beside own past actions",
    )  # fmt: skip
    return markdown_table(columns, lines)
