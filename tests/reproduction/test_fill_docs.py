"""Tables are written between their marks, and those on file are up to date."""

from __future__ import annotations

from pathlib import Path

import pytest

from counterbc.errors import FormatError, OptionError
from reproduction.fill_docs import DocsOptions, between, fill, fill_pages, page_path, page_sections
from reproduction.options import DOCS, RESULTS


@pytest.fixture(scope="module")
def sections() -> dict[str, dict[str, str]]:
    return page_sections(RESULTS)


def test_every_page_says_what_the_numbers_on_file_say(sections: dict[str, dict[str, str]]) -> None:
    stale = []
    for page, tables in sections.items():
        text = page_path(page, DOCS).read_text(encoding="utf-8")
        stale += [page] if fill(text, tables) != text else []
    assert stale == []


def test_every_page_with_results_has_tables(sections: dict[str, dict[str, str]]) -> None:
    assert set(sections) == {
        "README", "benchmarks", "cameras", "can", "car-racing", "censored", "clean", "compare",
        "environments", "filtering", "formats", "influence", "intents", "lerobot", "modes",
        "playground", "policies/flow", "push-t", "radius", "report", "reproduction", "robots",
        "scores", "studio", "teachers", "tune", "which-policy",
    }  # fmt: skip
    assert all(text.strip() for tables in sections.values() for text in tables.values())


def test_marks_keep_their_place_inside_a_line_or_on_lines_of_their_own() -> None:
    page = "a <!-- x -->1<!-- end of x --> b\n<!-- y -->\nold\n<!-- end of y -->\n"
    assert fill(page, {"x": "2", "y": "new\nlines"}) == (
        "a <!-- x -->2<!-- end of x --> b\n<!-- y -->\nnew\nlines\n<!-- end of y -->\n"
    )
    with pytest.raises(FormatError, match=r"the page has no <!-- z --> … <!-- end of z -->"):
        between(page, "z", "")


def test_a_check_names_the_stale_page_and_changes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (DOCS / "intents.md").read_text(encoding="utf-8")
    page = tmp_path / "intents.md"
    page.write_text(text.replace("| 357 |", "| 358 |"), encoding="utf-8")
    assert fill_pages(["intents"], DocsOptions(docs=tmp_path, check=True)) == 1
    assert (
        "intents.md is stale; run: python -m reproduction docs intents" in capsys.readouterr().err
    )
    assert "| 358 |" in page.read_text(encoding="utf-8")
    assert fill_pages(["intents"], DocsOptions(docs=tmp_path)) == 0
    assert page.read_text(encoding="utf-8") == text
    assert fill_pages(["intents.md"], DocsOptions(docs=tmp_path, check=True)) == 0


def test_the_readme_lies_beside_the_folder_of_the_docs(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    text = (DOCS.parent / "README.md").read_text(encoding="utf-8")
    page = tmp_path / "README.md"
    page.write_text(text.replace("| Intersection, uniform |", "| Cartpole |"), encoding="utf-8")
    assert page.read_text(encoding="utf-8") != text
    assert fill_pages(["README"], DocsOptions(docs=tmp_path / "docs")) == 0
    assert page.read_text(encoding="utf-8") == text


def test_a_page_without_tables_is_refused() -> None:
    with pytest.raises(OptionError, match="unknown page with tables 'index'"):
        fill_pages(["index"], DocsOptions())
