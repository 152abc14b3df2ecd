"""Links, imports and module paths in README and docs point at things that exist."""

from __future__ import annotations

import ast
import re
import shlex
from importlib import import_module
from pathlib import Path

import pytest

from counterbc.commands import COMMANDS

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
IDS = [str(page.relative_to(ROOT)) for page in PAGES]


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_every_relative_link_of_a_page_resolves(page: Path) -> None:
    targets = re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8"))
    local = [t.split("#")[0] for t in targets if not t.startswith(("http", "#"))]
    assert [t for t in local if not (page.parent / t).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_every_import_in_a_python_block_of_a_page_works(page: Path) -> None:
    for block in re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.S):
        for node in ast.walk(ast.parse(block)):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("counterbc"):
                module = import_module(str(node.module))
                assert [a.name for a in node.names if not hasattr(module, a.name)] == []


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_every_source_file_that_a_page_names_exists(page: Path) -> None:
    if page.name == "CHANGELOG.md":  # it names what was there before
        return
    text = page.read_text(encoding="utf-8")
    names = re.findall(r"`((?:[a-z_]+/)+[a-z_0-9]+\.py)`", text)
    homes = (ROOT, ROOT / "src" / "counterbc", ROOT / "docs", ROOT / "reproduction")
    assert [n for n in names if not any((home / n).exists() for home in homes)] == []


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_every_command_of_a_page_has_the_options_that_it_is_typed_with(page: Path) -> None:
    if page.name == "CHANGELOG.md":
        return
    text = page.read_text(encoding="utf-8").replace("\\\n", " ")
    for line in re.findall(r"^    (counterbc [a-z]+ .*)$", text, re.M):
        _, name, *words = shlex.split(line, comments=True)
        assert name in COMMANDS, line
        try:
            COMMANDS[name].parse(name, words)
        except SystemExit:
            pytest.fail(line)


def test_every_page_of_the_docs_is_linked_from_the_first_page() -> None:
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    pages = [str(p.relative_to(ROOT / "docs")) for p in (ROOT / "docs").rglob("*.md")]
    assert [p for p in pages if p != "index.md" and f"({p})" not in index] == []
