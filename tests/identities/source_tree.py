"""Read the project's source files: modules, imports, functions and calls, without running them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "counterbc"
TESTS = ROOT / "tests"


@dataclass(frozen=True)
class SourceFile:
    """A Python file and its syntax tree."""

    path: Path

    @cached_property
    def text(self) -> str:
        return self.path.read_text(encoding="utf-8")

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text)

    @property
    def label(self) -> str:
        """The path below the root of the project."""
        return self.path.relative_to(ROOT).as_posix()

    @property
    def lines(self) -> int:
        return len(self.text.splitlines())

    @property
    def functions(self) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
        for node in ast.walk(self.tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield node

    @property
    def calls(self) -> Iterator[ast.Call]:
        return (node for node in ast.walk(self.tree) if isinstance(node, ast.Call))


def source_files(*folders: str) -> list[SourceFile]:
    """Return the Python files below folders of the project, in order of their paths."""
    paths = (path for folder in folders for path in (ROOT / folder).rglob("*.py"))
    return [_source_file(path) for path in sorted(paths)]


@cache
def _source_file(path: Path) -> SourceFile:
    """Return the one object per path, so that each file is parsed once."""
    return SourceFile(path)


@dataclass(frozen=True)
class Module:
    """A module of the library by its dotted name; `name` of a package is that of its folder."""

    name: str
    file: SourceFile

    @property
    def room(self) -> str:
        """The folder below `counterbc`, or the module itself if it is at the root."""
        parts = self.name.split(".")
        return parts[1] if len(parts) > 1 else "__init__"

    @property
    def package(self) -> str:
        is_package = self.file.path.name == "__init__.py"
        return self.name if is_package else self.name.rpartition(".")[0]

    def imported_names(self) -> Iterator[tuple[str, int]]:
        """Yield the dotted name and line of each import, lazy and for type checking included."""
        for node in ast.walk(self.file.tree):
            if isinstance(node, ast.Import):
                yield from ((alias.name, node.lineno) for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                base = self._base(node)
                yield from ((f"{base}.{alias.name}", node.lineno) for alias in node.names)
            elif isinstance(node, ast.Call) and "import_module" in ast.unparse(node.func):
                for argument in node.args:
                    if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
                        yield argument.value, node.lineno

    def _base(self, node: ast.ImportFrom) -> str:
        """Return the absolute name of the module that `from … import` names."""
        if not node.level:
            return node.module or ""
        parents = self.package.split(".")
        parents = parents[: len(parents) - node.level + 1]
        return ".".join([*parents, *([node.module] if node.module else [])])


@dataclass(frozen=True)
class Import:
    """One module of the library imports another on a line of its file."""

    source: Module
    target: Module
    line: int

    def __str__(self) -> str:
        return f"{self.source.file.label}:{self.line}: imports {self.target.name}"


def library_modules() -> dict[str, Module]:
    """Return every module of the library by its dotted name."""
    modules = {}
    for file in source_files("src/counterbc"):
        name = ".".join(file.path.relative_to(SOURCE.parent).with_suffix("").parts)
        name = name.removesuffix(".__init__")
        modules[name] = Module(name, file)
    return modules


def library_imports(modules: dict[str, Module]) -> list[Import]:
    """Return every import between two modules of the library.

    `from counterbc.data import draws` is an import of `counterbc.data.draws`. The constant
    `__version__` of the package itself does not count: Python runs `counterbc/__init__.py`
    before any other module.
    """
    imports = []
    for module in modules.values():
        for name, line in module.imported_names():
            target = modules.get(name) or modules.get(name.rpartition(".")[0])
            if target and target is not module and name != "counterbc.__version__":
                imports.append(Import(module, target, line))
    return imports


def cycles(imports: list[Import]) -> list[list[str]]:
    """Return the groups of modules that import each other, directly or through others."""
    graph: dict[str, set[str]] = {}
    for edge in imports:
        graph.setdefault(edge.source.name, set()).add(edge.target.name)
        graph.setdefault(edge.target.name, set())
    reach = {name: _reachable(name, graph) for name in graph}
    groups = {
        tuple(sorted(other_name for other_name in reach[name] if name in reach[other_name]))
        for name in graph
        if name in reach[name]
    }
    return [list(group) for group in sorted(groups)]


def _reachable(start: str, graph: dict[str, set[str]]) -> set[str]:
    """Return the modules at the end of a path of at least one import."""
    visited: set[str] = set()
    frontier = list(graph[start])
    while frontier:
        name = frontier.pop()
        if name not in visited:
            visited.add(name)
            frontier.extend(graph[name])
    return visited
