"""Writes tables into the pages of the docs and the README, so that none is copied by hand.

A table stands between `<!-- NAME -->` and `<!-- end of NAME -->`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from counterbc.errors import FormatError, unknown
from counterbc.files import aside
from reproduction import (
    camera_speed,
    command_costs,
    gpu_speed,
    markdown_tables,
    rival_speeds,
    step_speeds,
)
from reproduction.options import DOCS, RESULTS, option
from reproduction.studies import STUDIES, TABLES, load_study

README = "README"
"""The page that lies beside the folder of the others."""


@dataclass(frozen=True, kw_only=True)
class DocsOptions:
    """Fill the tables of the docs from the numbers on file."""

    results: Path = option(RESULTS, "folder of the numbers")
    docs: Path = option(DOCS, "folder of the pages; README.md lies beside it")
    check: bool = option(False, "change nothing; exit with 1 and name the pages that are stale")


def fill_pages(names: Iterable[str], options: DocsOptions) -> int:
    """Fill these pages, by default all; return 1 if a check found a stale one."""
    sections = page_sections(options.results)
    stale = 0
    for name in names or sections:
        page = name.removesuffix(".md")
        if page not in sections:
            raise unknown("page with tables", page, sections)
        path = page_path(page, options.docs)
        before = path.read_text(encoding="utf-8")
        after = fill(before, sections[page])
        if after == before:
            continue
        stale += 1
        if options.check:
            print(f"{path} is stale; run: python -m reproduction docs {page}", file=sys.stderr)
            continue
        with aside(path, replace=True) as temporary:
            temporary.write_text(after, encoding="utf-8")
        print(f"{path} is filled")
    return int(options.check and stale > 0)


def page_path(page: str, docs: Path) -> Path:
    """Return the file of a page."""
    return (docs.parent if page == README else docs) / f"{page}.md"


@cache
def page_sections(results: Path) -> dict[str, dict[str, str]]:
    """Return the tables of every page, by page and mark."""
    pages = {"reproduction": {n: make(results) for n, make in markdown_tables.SECTIONS.items()}}
    pages[README] = {"improvements": markdown_tables.improvements_in_short(results)}
    studies = (load_study(TABLES.get(name, name)) for name in STUDIES)
    tables: list[dict[str, dict[str, str]]] = [
        getattr(study, "sections", lambda results: {})(results) for study in studies
    ]
    speeds = (command_costs, camera_speed, gpu_speed, rival_speeds, step_speeds)
    for by_page in (*tables, *(module.sections() for module in speeds)):
        for page, sections in by_page.items():
            pages.setdefault(page, {}).update(sections)
    return pages


def fill(page: str, sections: Mapping[str, str]) -> str:
    """Return the page with each section replaced."""
    for name, text in sections.items():
        page = between(page, name, text)
    return page


def between(page: str, name: str, text: str) -> str:
    """Return the page with this text between the two marks of that name.

    Marks that stand inside a line stay there; others get lines of their own.
    """
    begin, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
    before, begin_mark, rest = page.partition(begin)
    inside, end_mark, after = rest.partition(end)
    if not begin_mark or not end_mark:
        raise FormatError(f"the page has no {begin} … {end}; put both where the table belongs")
    line = "\n" if inside.startswith("\n") else ""
    return f"{before}{begin}{line}{text}{line}{end}{after}"
