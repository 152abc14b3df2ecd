"""Imports point one way: from commands down to data, with no way back.

Lazy imports inside functions and imports for type checking count like any other.
"""

from __future__ import annotations

import ast
import subprocess
import sys

from tests.identities.source_tree import (
    Import,
    cycles,
    library_imports,
    library_modules,
    source_files,
)

EVERYWHERE = frozenset({"errors", "files", "printing"})
"""Small modules without imports of their own that every room may use."""

BELOW: dict[str, tuple[str, ...]] = {
    "errors": (),
    "files": (),
    "printing": (),
    "data": (),
    "envs": ("data",),
    "formats": ("data",),
    "demonstrators": ("envs", "data"),
    "supports": ("data",),
    "losses": ("supports",),
    "policies": ("losses", "supports"),
    "weightings": ("policies",),
    "methods": ("weightings",),
    "kernels": ("weightings",),
    "settings": ("methods", "kernels"),
    "acting": ("settings", "envs"),
    "robots": ("acting",),
    "training": ("acting",),
    "selection": ("training",),
    "trainer": ("selection",),
    "diagnosis": ("trainer", "formats"),
    "report": ("diagnosis",),
    "experiments": ("diagnosis", "demonstrators"),
    "studio": ("diagnosis",),
    "commands": ("experiments", "report", "studio", "robots"),
    "cli": ("commands",),
    "__main__": ("cli",),
    "__init__": ("cli",),
}
"""The rooms directly below each room; a room may import everything that can be reached from it."""


def rooms_below(room: str) -> set[str]:
    """Return the rooms that `room` may import."""
    below = set(BELOW[room])
    return below.union(*(rooms_below(other) for other in below)) | EVERYWHERE


def wrong_directions(imports: list[Import]) -> list[str]:
    """Return the imports from one room to another that is not below it."""
    return [
        str(edge)
        for edge in imports
        if edge.source.room != edge.target.room
        and edge.target.room not in rooms_below(edge.source.room)
    ]


def imports_of_envs(imports: list[Import]) -> list[str]:
    """Return what environments import from the data room besides arrays, cores and draws."""
    allowed = {f"counterbc.data.{name}" for name in ("arrays", "cores", "draws")}
    return [
        str(edge)
        for edge in imports
        if edge.source.room == "envs"
        and edge.target.room == "data"
        and edge.target.name not in allowed
    ]


def private_imports_of_reproduction() -> list[str]:
    """Return imports of underscored names of the library outside it."""
    wrong = []
    for file in source_files("reproduction", "benchmarks", "attack"):
        for node in ast.walk(file.tree):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("counterbc"):
                names = [*(node.module or "").split("."), *(alias.name for alias in node.names)]
                wrong += [
                    f"{file.label}:{node.lineno}: imports the private name {name}"
                    for name in names
                    if name.startswith("_") and not name.endswith("__")
                ]
    return wrong


def test_every_room_has_a_place_in_the_order() -> None:
    assert {module.room for module in library_modules().values()} <= set(BELOW)


def test_rooms_import_only_rooms_below_them() -> None:
    assert wrong_directions(library_imports(library_modules())) == []


def test_training_does_not_import_selection() -> None:
    imports = library_imports(library_modules())
    edges = [edge for edge in imports if edge.source.room == "training"]
    assert edges, "the training room imports nothing: this test would not notice a wrong import"
    assert [str(edge) for edge in edges if edge.target.room == "selection"] == []


def test_robots_need_no_torch() -> None:
    names = [name for name in library_modules() if name.startswith("counterbc.robots")]
    assert names, "there are no robots: this test would not notice a wrong import"
    code = f"import sys, {', '.join(names)}; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_environments_use_only_arrays_cores_and_draws_from_the_data_room() -> None:
    assert imports_of_envs(library_imports(library_modules())) == []


def test_no_modules_import_each_other() -> None:
    assert cycles(library_imports(library_modules())) == []


def test_the_library_does_not_import_the_reproduction_or_the_benchmarks() -> None:
    outside = ("reproduction", "benchmarks", "attack", "tests")
    wrong = [
        f"{module.file.label}:{line}: imports {name}"
        for module in library_modules().values()
        for name, line in module.imported_names()
        if name.partition(".")[0] in outside
    ]
    assert wrong == []


def test_the_reproduction_imports_no_private_names() -> None:
    assert private_imports_of_reproduction() == []
