"""Docstrings, comments, messages and pages are plain English.

A test cannot judge prose. It can check what is mechanical: docstrings are there, functions start
with a verb, and phrases that puzzled readers do not come back.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator

from tests.identities.source_tree import ROOT, SourceFile, source_files

PROSE = ("src", "reproduction", "benchmarks", "attack")

PHRASES = (
    "anew",
    "goes on",
    "go on",
    "is said",
    "are said",
    "so many",
    "by chance",
    "without chance",
    "one's own",
    "found out",
    "told",
    "lasting",
    "believed",
    "believes",
    "that is what",
    "so it is with",
)
"""Phrases that readers had to read twice, as whole words in any case."""

NOT_A_VERB = re.compile(
    r"(a|all|an|and|any|as|at|because|both|by|each|either|every|everything|for|from|he|how|if|in|it|"
    r"its|many|more|most|no|none|not|of|on|one|only|other|same|so|some|such|than|that|the|their|"
    r"then|there|these|they|this|those|to|two|what|when|where|whether|which|who|whose|why|with)\b",
    re.IGNORECASE,
)
"""First words of a docstring that cannot be a verb in the imperative."""

NOT_PROSE = re.compile(r"```.*?```|<!-- ([\w-]+) -->.*?<!-- end of \1 -->|`[^`\n]*`", re.DOTALL)
"""Code blocks of a page, tables that are filled by a script, and code within a sentence."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


def missing_docstrings() -> list[str]:
    """Return modules, public classes and public functions without a docstring.

    Functions of up to five lines and `main` may go without, and so may methods.
    """
    return [problem for file in source_files(*PROSE) for problem in _missing_docstrings(file)]


def _missing_docstrings(file: SourceFile) -> Iterator[str]:
    if file.text.strip() and not ast.get_docstring(file.tree):
        yield f"{file.label}:1: the module has no docstring"
    for node in file.tree.body:
        if not isinstance(node, Function | ast.ClassDef):
            continue
        short = isinstance(node, Function) and (node.end_lineno or 0) - node.lineno < 5
        private = node.name.startswith("_") or node.name == "main"
        if not (private or short or ast.get_docstring(node)):
            yield f"{file.label}:{node.lineno}: {node.name} has no docstring"


def docstrings_without_verb() -> list[str]:
    """Return functions whose docstring does not start with a verb; properties are nouns."""
    return [
        f"{file.label}:{node.lineno}: {node.name}: {first_line}"
        for file in source_files(*PROSE)
        for node in file.functions
        if not _is_property(node)
        for first_line in (ast.get_docstring(node) or "").splitlines()[:1]
        if NOT_A_VERB.match(first_line)
    ]


def _is_property(node: Function) -> bool:
    names = [ast.unparse(decorator) for decorator in node.decorator_list]
    return any("property" in name or "fixture" in name for name in names)


def puzzling_phrases() -> list[str]:
    """Return comments, strings and lines of pages that contain one of the phrases to avoid."""
    passages = [(file.label, *passage) for file in source_files(*PROSE) for passage in _prose(file)]
    for page in (*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))):
        label, text = str(page.relative_to(ROOT)), page.read_text(encoding="utf-8")
        passages += [(label, *passage) for passage in _page_prose(text)]
    phrases = re.compile(r"\b(" + "|".join(map(re.escape, PHRASES)) + r")\b", re.IGNORECASE)
    return [
        f"{label}:{line}: “{match.group()}”"
        for label, line, text in passages
        for match in phrases.finditer(" ".join(text.split()))
    ]


def _page_prose(text: str) -> Iterator[tuple[int, str]]:
    """Yield the paragraphs of a page with their first lines, without code and filled tables."""
    text = NOT_PROSE.sub(lambda match: "\n" * match.group().count("\n"), text)
    for paragraph in re.finditer(r"(?:.+\n?)+", text):
        yield text.count("\n", 0, paragraph.start()) + 1, paragraph.group()


def _prose(file: SourceFile) -> Iterator[tuple[int, str]]:
    """Yield comments and strings with their lines; a string of one word is a key, not prose."""
    for token in tokenize.generate_tokens(io.StringIO(file.text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string
    for node in ast.walk(file.tree):
        if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
            continue
        if len(node.value.split()) > 1:
            yield node.lineno, node.value


def test_modules_public_classes_and_functions_have_a_docstring() -> None:
    assert missing_docstrings() == []


def test_docstrings_of_functions_start_with_a_verb() -> None:
    assert docstrings_without_verb() == []


def test_prose_of_a_page_is_read_without_code_and_filled_tables() -> None:
    page = "One\ntwo `told`\n\n```\ntold\n```\n<!-- a -->\ntold\n<!-- end of a -->\n\nlast\n"
    assert list(_page_prose(page)) == [(1, "One\ntwo \n"), (11, "last\n")]


def test_phrases_that_puzzle_readers_stay_away() -> None:
    assert puzzling_phrases() == []
