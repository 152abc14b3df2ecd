"""The facts of every kernel are in one table, which the rest of the library reads."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec

import pytest

from counterbc.commands.train import Train
from counterbc.kernels.registry import KERNEL_NAMES, KERNELS, LIBRARIES
from counterbc.settings import Settings
from counterbc.training.run import versions


def test_settings_take_the_kernels_of_the_registry_and_the_help_lists_them(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert KERNEL_NAMES == ("auto", "torch", "numba", "triton", "cuda")
    for name in KERNEL_NAMES:
        assert Settings(kernel=name).kernel == name
    with pytest.raises(SystemExit):
        Train.parse("counterbc train", ["--help"])
    assert f"--kernel {{{','.join(KERNEL_NAMES)}}}" in capsys.readouterr().out


def test_every_kernel_has_a_module_and_the_reference_needs_no_library() -> None:
    assert next(iter(KERNELS)) == "torch"
    assert KERNELS["torch"].library is None
    for home in KERNELS.values():
        assert find_spec(f"counterbc.kernels.{home.module}") is not None


def test_every_library_has_a_kernel_and_its_version_is_recorded() -> None:
    assert {home.library for home in KERNELS.values()} - {None} == set(LIBRARIES)
    assert {library.name for library in LIBRARIES} <= set(versions())


def test_the_registry_imports_neither_torch_nor_numpy() -> None:
    names = "{'torch', 'numpy', 'numba'}"
    code = f"import sys, counterbc.kernels.registry; print({names} & set(sys.modules))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.stdout == "set()\n"
