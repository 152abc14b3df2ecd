"""Computes the rows of a study, and nothing else: for machines without the rest of the libraries.

    python -m reproduction.run figure4 --device cuda --out reproduction
    python -m reproduction.run figure4 --out reproduction --left

A stopped run goes on where it was when it is started again; --left says how much there is to do.
Statistics and figures come of the rows afterwards: counterbc reproduce figure4 --out reproduction.
"""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from types import FrameType

from counterbc.errors import CounterBCError
from counterbc.experiments.study import Study
from reproduction.catalog import FIGURES, FigureOptions, plan
from reproduction.timings import run_timed


def main(arguments: Sequence[str] | None = None) -> int:
    """0, or 1 for an error that was explained, or 130 when stopped."""
    given = _parser().parse_args(arguments)
    try:
        asked = plan(given.what, _options(given))
        study = Study(asked.cells(), given.out / "rows")
        if given.left:
            print(f"{len(study.missing())} of {len(study.cells)} populations are left")
            return 0
        where = (given.device, given.on, given.workers, given.address)
        count = run_timed(study, asked, *where, given.mixed)
    except CounterBCError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        left = len(study.missing())
        print(f"stopped; {left} populations are left, the others are kept", file=sys.stderr)
        return 130
    print(f"{count} populations computed, {len(study.cells)} finished, in {study.folder}")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("what", nargs="+", choices=[*FIGURES, "all"])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--paper-size", action="store_true")
    parser.add_argument("--env", action="append", default=[])
    parser.add_argument("--noise", action="append", default=[])
    parser.add_argument("--pairs", action="append", type=int, default=[])
    parser.add_argument("--seeds", type=int)
    parser.add_argument("--steps", type=int)
    parser.add_argument("--episodes", type=int)
    parser.add_argument("--preset", default=FigureOptions.preset)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--device")
    parser.add_argument("--on", choices=["local", "ray"], default="local")
    parser.add_argument("--address")
    parser.add_argument("--workers", type=int)
    parser.add_argument("--out", type=Path, default=Path("reproduction"))
    parser.add_argument("--mixed", action="store_true", help="add to rows made elsewhere")
    parser.add_argument("--left", action="store_true", help="only say how much is left to do")
    return parser


def _options(given: argparse.Namespace) -> FigureOptions:
    return FigureOptions(
        given.quick, tuple(given.env), tuple(given.noise), given.seeds, given.steps,
        given.episodes, given.preset, given.data, tuple(given.pairs), given.paper_size,
    )  # fmt: skip


def _stop(number: int, frame: FrameType | None) -> None:
    """A polite request to end is taken as Ctrl-C is; `timeout` makes it twice."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise KeyboardInterrupt


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, _stop)
    sys.exit(main())
