"""The public names of the package."""

from __future__ import annotations

import ast
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import counterbc
from counterbc import _HOME

TREE = ast.parse(Path(counterbc.__file__).read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", _HOME)
def test_a_public_name_is_the_object_that_its_module_defines(name: str) -> None:
    home = import_module(f"counterbc.{_HOME[name]}")
    assert getattr(counterbc, name) is getattr(home, name)


def test_type_checkers_see_the_names_of_the_table_in_the_same_modules() -> None:
    (block,) = (node for node in TREE.body if isinstance(node, ast.If))
    imported_names = {
        alias.asname: str(node.module).removeprefix("counterbc.")
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert imported_names == _HOME


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'trian'"):
        _ = counterbc.trian


def test_importing_the_package_imports_neither_torch_nor_numpy() -> None:
    code = "import sys, counterbc; print({'torch', 'numpy'} & set(sys.modules))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.stdout.strip() == "set()"


def test_importing_the_trainer_imports_nothing_that_draws_simulates_or_parses() -> None:
    code = (
        "import sys, counterbc.trainer;"
        "print({'matplotlib', 'gymnasium', 'tyro', 'PIL'} & set(sys.modules))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.stdout.strip() == "set()"
