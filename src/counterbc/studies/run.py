"""Computes the rows of a study, and nothing else: for machines without the rest of the libraries.

    python -m counterbc.studies.run figure4 --device cuda --out reproduction

A stopped run goes on where it was when it is started again. Statistics and figures come of the
rows afterwards: counterbc reproduce figure4 --out reproduction.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from counterbc.errors import CounterBCError
from counterbc.studies.catalog import FIGURES, Options, units
from counterbc.studies.study import Study


def main(arguments: Sequence[str] | None = None) -> int:
    """0, or 1 for an error that was explained."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("what", nargs="+", choices=[*FIGURES, "all"])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--env", action="append", default=[])
    parser.add_argument("--noise", action="append", default=[])
    parser.add_argument("--seeds", type=int)
    parser.add_argument("--steps", type=int)
    parser.add_argument("--episodes", type=int)
    parser.add_argument("--preset", default=Options.preset)
    parser.add_argument("--device")
    parser.add_argument("--on", choices=["local", "ray"], default="local")
    parser.add_argument("--address")
    parser.add_argument("--workers", type=int)
    parser.add_argument("--out", type=Path, default=Path("reproduction"))
    given = parser.parse_args(arguments)
    try:
        options = Options(
            given.quick, tuple(given.env), tuple(given.noise), given.seeds, given.steps,
            given.episodes, given.preset,
        )  # fmt: skip
        wanted = [unit for what in given.what for unit in units(what, options)]
        study = Study(wanted, given.out / "rows")
        count = study.run(given.device, given.on, given.workers, given.address)
    except CounterBCError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print(f"{count} populations computed, {len(study.units)} finished, in {study.folder}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
