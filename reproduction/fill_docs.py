"""Writes what came of the studies into a page, so that no number in it is copied by hand.

python -m reproduction.fill_docs results docs/reproduction.md
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from counterbc.errors import CounterBCError, FormatError
from counterbc.files import aside
from reproduction import markdown_tables as sections

SECTIONS: dict[str, Callable[[Path], str]] = {
    "summary": sections.summary,
    "table 1": sections.table1,
    "verdicts": sections.verdicts,
    "rewards": sections.rewards,
    "shown": sections.shown,
    "statistics": sections.statistics,
    "hardware": sections.hardware,
    "seconds": sections.seconds,
}


def fill(page: str, folder: Path) -> str:
    """The page with each section between its two marks written anew."""
    for name, write in SECTIONS.items():
        page = between(page, name, write(folder))
    return page


def between(page: str, name: str, text: str) -> str:
    """The page with this text between the two marks of that name."""
    begin, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
    before, found, rest = page.partition(begin)
    _, closed, after = rest.partition(end)
    if not found or not closed:
        raise FormatError(f"the page has no {begin} … {end}; put both where the table belongs")
    return f"{before}{begin}\n{text}\n{end}{after}"


def main(arguments: Sequence[str]) -> int:
    """0, or 1 for an error that was explained."""
    try:
        folder, path = map(Path, arguments)
        text = fill(path.read_text(encoding="utf-8"), folder)
        with aside(path) as temporary:
            temporary.write_text(text, encoding="utf-8")
    except ValueError:
        print("error: give the folder of numbers and the page", file=sys.stderr)
        return 1
    except CounterBCError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
