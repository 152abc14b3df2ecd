"""Machine code is stored where it can be, and compiled by one process where several need it."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from counterbc.errors import OptionError
from tests.full_disk import largest_file

numba = pytest.importorskip("numba", reason="it compiles")
native = pytest.importorskip("counterbc.kernels.numba_cache", reason="it compiles")

CODE = """
from counterbc.kernels.numba_cache import cached_njit

@cached_njit()
def twice(x):
    return x + x
"""
USE = """
import sys, time
from pathlib import Path
from compiled_here import twice
from counterbc.kernels.compiling import hear_compiling

place, other = Path(sys.argv[1]), Path(sys.argv[2])
compile_code = twice._compiler.compile

def compile_when_the_other_waits(*arguments):
    end = time.monotonic() + 300
    while not other.exists() and time.monotonic() < end:
        time.sleep(0.01)
    return compile_code(*arguments)

twice._compiler.compile = compile_when_the_other_waits
with hear_compiling(lambda sentence: place.touch()):
    assert twice(2.5) == 5
print(sum(twice.stats.cache_misses.values()), sum(twice.stats.cache_hits.values()))
"""
"""Calls a function, makes a file before it is compiled, and compiles once another file is there."""


def double(x: float) -> float:
    return 2 * x


def test_without_a_folder_for_machine_code_functions_are_compiled_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    caching = importlib.import_module("numba.core.caching")
    monkeypatch.setattr(caching.CompileResultCacheImpl, "_locator_classes", [])
    with pytest.raises(RuntimeError, match="cannot cache"):
        numba.njit(cache=True)(double)  # a read-only package and no home
    assert native.cached_njit(fastmath=True)(double)(1.5) == 3


def test_a_full_disk_does_not_stop_a_training_whose_code_cannot_be_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    with largest_file(10):
        assert native.cached_njit()(double)(2.5) == 5
    assert native.cached_njit()(double)(2.5) == 5
    assert any(path.suffix == ".nbc" for path in tmp_path.rglob("*"))  # the second one was stored


def test_code_that_does_not_compile_is_refused_with_the_kernel_that_needs_no_compiler(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))

    def half(x: Any) -> Any:
        return x.half()

    with pytest.raises(OptionError, match=r"cannot compile .*half(?s:.)*; use the kernel torch"):
        native.cached_njit()(half)(2.5)


def test_of_two_processes_that_need_the_same_code_one_compiles_it(tmp_path: Path) -> None:
    (tmp_path / "compiled_here.py").write_text(CODE)
    (tmp_path / "use.py").write_text(USE)
    names = [("a", "b"), ("b", "a")]  # neither compiles before both have found no code
    processes = [
        subprocess.Popen(
            [sys.executable, tmp_path / "use.py", *(tmp_path / name for name in pair)],
            stdout=subprocess.PIPE,
            text=True,
        )
        for pair in names
    ]
    counts = sorted(process.communicate(timeout=600)[0].split() for process in processes)
    assert counts == [["0", "1"], ["1", "0"]]


CALLED = """
from numba import njit

@njit
def add(x):
    return x + 1
"""
CALLER = """
from called_here import add
from counterbc.kernels.numba_cache import cached_njit

@cached_njit()
def call(x):
    return add(x)
"""
CALL = "from caller_here import call; print(call(1.0), sum(call.stats.cache_hits.values()))"


def call_in(folder: Path, before: str = "") -> str:
    """Return what a new process gets from the function, and how often it loaded code."""
    command = [sys.executable, "-c", before + CALL]
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=True
    ).stdout.strip()


@pytest.fixture
def sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a function and of one that it calls, where their code is stored as well."""
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    (tmp_path / "caller_here.py").write_text(CALLER)
    (tmp_path / "called_here.py").write_text(CALLED)
    return tmp_path


def test_code_is_compiled_again_when_a_function_that_it_calls_has_changed(sources: Path) -> None:
    assert call_in(sources) == "2.0 0"
    assert call_in(sources) == "2.0 1"
    (sources / "called_here.py").write_text(CALLED.replace("+ 1", "+ 100"))
    assert call_in(sources) == "101.0 0"
    assert call_in(sources) == "101.0 1"


def test_code_of_changed_sources_is_not_used_where_a_full_disk_kept_the_new_one_from_being_stored(
    sources: Path,
) -> None:
    assert call_in(sources) == "2.0 0"
    (sources / "called_here.py").write_text(CALLED.replace("+ 1", "+ 100"))
    (code,) = sources.rglob("*.nbc")
    (index,) = sources.rglob("*.nbi")
    size = (code.stat().st_size + index.stat().st_size) // 2  # enough for the index alone
    full = f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, ({size}, -1)); "
    assert call_in(sources, full) == "101.0 0"
    assert call_in(sources) == "101.0 0"
    assert call_in(sources) == "101.0 1"


def test_damaged_files_of_code_are_replaced(sources: Path) -> None:
    assert call_in(sources) == "2.0 0"
    for suffix, size in (("nbi", 0), ("nbc", 100)):
        (file,) = sources.rglob(f"*.{suffix}")
        file.write_bytes(file.read_bytes()[:size])
        assert call_in(sources) == "2.0 0"
    assert call_in(sources) == "2.0 1"


def test_a_number_that_a_module_imports_changes_the_stamp_of_its_sources(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    step = importlib.import_module("counterbc.kernels.numba_step")
    mixture = importlib.import_module("counterbc.kernels.numba_mixture")
    before = native.source_stamp(step.train_some.py_func)
    assert native.source_stamp(step.train_some.py_func) == before
    monkeypatch.setattr(mixture, "LOW", mixture.LOW + 1)
    assert native.source_stamp(step.train_some.py_func) != before
