"""The entry of the reproduction: rows, then figures and numbers, then tables of the docs.

python -m reproduction run figure4 [figure5 …] [--quick] [--device cuda] [--out FOLDER]
python -m reproduction run radius [--seeds 50]         or another study; --help lists options
python -m reproduction draw figure4 [--out FOLDER]     figures and numbers.json from the rows
python -m reproduction merge lag FILE [FILE …]         rows of further runs to those on file
python -m reproduction docs [PAGE …] [--check]         tables of docs/ from the numbers on file
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Sequence
from itertools import takewhile
from pathlib import Path
from types import FrameType

from counterbc.errors import CounterBCError, OptionError, unknown

STOP_STATUS = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Return 0, 1 after an error that was printed, or 130 when stopped."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    command, rest = (words[0], words[1:]) if words else ("--help", [])
    if command in ("-h", "--help"):
        print((__doc__ or "").strip())
        return 0
    try:
        if command not in COMMANDS:
            raise unknown("command", command, COMMANDS)
        if command in ("run", "draw") and rest[:1] in (["-h"], ["--help"]):
            print(usage(command))
            return 0
        return COMMANDS[command](rest)
    except CounterBCError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("stopped; finished rows are kept, the same command resumes", file=sys.stderr)
        return STOP_STATUS


def usage(command: str) -> str:
    """Return how to call `run` or `draw`, and the figures and studies that it takes."""
    from reproduction.catalog import FIGURES
    from reproduction.studies import PICTURES, STUDIES

    start = f"python -m reproduction {command}"
    studies = STUDIES if command == "run" else PICTURES
    return "\n".join(
        [
            f"usage: {start} FIGURE [FIGURE …] [options]",
            f"       {start} STUDY [options]",
            f"       {start} NAME --help          lists the options of a figure or study",
            "",
            f"figures and tables: {', '.join([*FIGURES, 'all'])}",
            f"studies: {', '.join(studies)}",
        ]
    )


def run(arguments: list[str]) -> int:
    """Compute the rows of figures or of one study."""
    from reproduction.catalog import FIGURES
    from reproduction.options import parse
    from reproduction.studies import STUDIES, load_study, options_of

    names, rest = _names(arguments)
    if names[0] in STUDIES:
        if len(names) > 1:
            raise OptionError(f"run one study at a time; got {', '.join(names)}")
        study = load_study(names[0])
        study.run(parse(options_of(study), rest, f"run {names[0]}"))
        return 0
    from reproduction.figure_options import RunOptions
    from reproduction.run import run as run_figures

    for name in names:
        if name not in (*FIGURES, "all"):
            raise unknown("figure, table or study", name, [*FIGURES, "all", *STUDIES])
    run_figures(names, parse(RunOptions, rest, "run FIGURE"))
    return 0


def draw(arguments: list[str]) -> int:
    """Draw figures from their rows, or the pictures of one study."""
    from reproduction.draw import DrawOptions, draw_all
    from reproduction.options import parse
    from reproduction.studies import PICTURES, load_study, options_of

    names, rest = _names(arguments)
    if names[0] in PICTURES:
        study = load_study(PICTURES[names[0]])
        study.run(parse(options_of(study), rest, f"draw {names[0]}"))
        return 0
    draw_all(names, parse(DrawOptions, rest, "draw FIGURE"))
    return 0


def merge(arguments: list[str]) -> int:
    """Add the rows of further runs of a study to those on file."""
    from reproduction.merge import MergeOptions
    from reproduction.merge import merge as merge_rows
    from reproduction.options import parse

    words = list(takewhile(_is_name, arguments))
    options = parse(MergeOptions, arguments[len(words) :], "merge STUDY FILE [FILE …]")
    if len(words) < 2:
        raise OptionError("name a study, and the rows.parquet of each run to add")
    merge_rows(words[0], [Path(word) for word in words[1:]], options)
    return 0


def docs(arguments: list[str]) -> int:
    """Fill the tables of pages, or check that they are up to date."""
    from reproduction.fill_docs import DocsOptions, fill_pages
    from reproduction.options import parse

    names = list(takewhile(_is_name, arguments))
    return fill_pages(names, parse(DocsOptions, arguments[len(names) :], "docs"))


COMMANDS = {"run": run, "draw": draw, "merge": merge, "docs": docs}


def _is_name(word: str) -> bool:
    return not word.startswith("-")


def _names(arguments: list[str]) -> tuple[list[str], list[str]]:
    """Return the names before the first option, and the options."""
    from reproduction.catalog import FIGURES
    from reproduction.studies import STUDIES

    names = list(takewhile(_is_name, arguments))
    if not names:
        all_names = ", ".join([*FIGURES, "all", *STUDIES])
        raise OptionError(f"name a figure, a table or a study first: one of {all_names}")
    return names, arguments[len(names) :]


def _stop(number: int, frame: FrameType | None) -> None:
    """Handle a request to end as Ctrl-C; `timeout` sends it twice."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise KeyboardInterrupt


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, _stop)
    sys.exit(main())
