"""The size and shape of the source: short files, short functions, short calls, mirrored tests.

Each rule is a function that returns its offenders as `path:line: what is wrong`;
`python tests/identities/report.py` lists all of them by room.
"""

from __future__ import annotations

import ast

import pytest

from tests.identities.source_tree import ROOT, SOURCE, TESTS, source_files
from tests.identities.vocabulary import bare_identifiers

ROOT_MODULES = 10
FILE_LINES = 300
FUNCTION_LINES = 60
POSITIONAL_ARGUMENTS = 6
BARE_SHARE = 0.02
ANY_NUMBER = frozenset({"call", "call_json", "command", "figure", "run_command", "svg", "tag"})
"""Functions of any number of like arguments: words of a command line, children of an element."""

ALL_FOLDERS = ("src", "reproduction", "benchmarks", "attack", "tests")

WITHOUT_TEST: dict[str, str] = {}
"""Modules that need no test file of their name, and why; package `__init__` files need none."""

TEST_WITHOUT_MODULE = {
    "tests/test_readme.py": "runs the examples of the README and the documentation",
    "tests/studio/test_browser.py": "drives the whole page of the studio in a browser",
    "tests/studio/test_browser_buttons.py": "clicks the buttons of Collect in a browser",
    "tests/studio/test_browser_faults.py": "breaks connections and servers under a browser",
    "tests/studio/test_browser_keys.py": "presses and releases keys in a browser",
    "tests/studio/test_browser_look.py": "drives Look in a browser",
    "tests/studio/test_browser_parts.py": "runs tables, the clock and the form in a browser",
    "tests/studio/test_browser_rates.py": "draws Car Racing in a browser",
    "tests/studio/test_browser_views.py": "checks every view of the studio in a browser",
    "tests/studio/test_browser_watch.py": "drives Watch and the lists in a browser",
}
"""Test files outside tests/identities that mirror no module, and why."""


def modules_at_the_root() -> list[str]:
    """Return the modules at the root of the package if there are too many of them."""
    names = sorted(path.name for path in SOURCE.glob("*.py"))
    if len(names) <= ROOT_MODULES:
        return []
    return [f"src/counterbc: {len(names)} modules at the root: {', '.join(names)}"]


def long_files() -> list[str]:
    return [
        f"{file.label}: {file.lines} lines"
        for file in source_files(*ALL_FOLDERS)
        if file.lines > FILE_LINES
    ]


def long_functions() -> list[str]:
    return [
        f"{file.label}:{node.lineno}: {node.name} has {_length(node)} lines"
        for file in source_files(*ALL_FOLDERS)
        for node in file.functions
        if _length(node) > FUNCTION_LINES
    ]


def _length(node: ast.stmt) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def long_calls() -> list[str]:
    return [
        f"{file.label}:{node.lineno}: {ast.unparse(node.func)} gets {len(node.args)} "
        "positional arguments"
        for file in source_files(*ALL_FOLDERS)
        for node in file.calls
        if len(node.args) > POSITIONAL_ARGUMENTS
        and ast.unparse(node.func).rpartition(".")[2] not in ANY_NUMBER
    ]


def modules_without_test() -> list[str]:
    """Return the modules of the library that have no test file of their name."""
    missing = []
    for file in source_files("src/counterbc"):
        inside = file.path.relative_to(SOURCE)
        test = TESTS / inside.parent / f"test_{inside.name}"
        if inside.name != "__init__.py" and file.label not in WITHOUT_TEST and not test.exists():
            missing.append(f"{file.label}: there is no {test.relative_to(ROOT).as_posix()}")
    return missing


def stray_tests() -> list[str]:
    """Return the test files that mirror no module of the library or of the reproduction."""
    stray = []
    for file in source_files("tests"):
        inside = file.path.relative_to(TESTS)
        if not inside.name.startswith("test_") or inside.parts[0] == "identities":
            continue
        home = ROOT if inside.parts[0] in ("reproduction", "benchmarks", "attack") else SOURCE
        name = inside.name.removeprefix("test_").replace("init.py", "__init__.py")
        places = [home / inside.parent / name, home / inside.parent / name[:-3] / "__init__.py"]
        if file.label not in TEST_WITHOUT_MODULE and not any(p.exists() for p in places):
            stray.append(f"{file.label}: there is no {places[0].relative_to(ROOT).as_posix()}")
    return stray


def test_the_package_has_few_modules_at_its_root() -> None:
    assert modules_at_the_root() == []


def test_files_are_short() -> None:
    assert long_files() == []


def test_functions_are_short() -> None:
    assert long_functions() == []


def test_calls_have_few_positional_arguments() -> None:
    assert long_calls() == []


def test_every_module_has_a_test_file_of_its_name() -> None:
    assert modules_without_test() == []


def test_every_test_file_mirrors_a_module() -> None:
    assert stray_tests() == []


def test_exceptions_of_the_mirror_are_real_files() -> None:
    exceptions = [*WITHOUT_TEST, *TEST_WITHOUT_MODULE]
    assert [name for name in exceptions if not (ROOT / name).exists()] == []


@pytest.mark.parametrize("folder", ALL_FOLDERS)
def test_few_identifiers_are_bare_participles_or_pronouns(folder: str) -> None:
    total, bare, _ = bare_identifiers([ROOT / folder])
    assert sum(bare.values()) < BARE_SHARE * total, bare.most_common(20)
