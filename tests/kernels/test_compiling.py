"""Compiling is announced where it happens, and only there."""

from __future__ import annotations

import importlib.util
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from counterbc.kernels import compiling
from counterbc.kernels.compiling import (
    MESSAGE,
    announce_compiling,
    announced_once,
    compile_aside,
    hear_compiling,
    only_here,
)

CODE = """
from counterbc.kernels.numba_cache import cached_njit

@cached_njit()
def twice(x):
    return x + x
"""


def load(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location("compiled_here", path)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules["compiled_here"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_code_is_announced_when_it_is_compiled_and_not_when_it_is_loaded(tmp_path: Path) -> None:
    pytest.importorskip("numba", reason="it compiles")
    path = tmp_path / "compiled_here.py"
    path.write_text(CODE)
    sentences: list[str] = []
    with hear_compiling(sentences.append):
        module = load(path)
        assert module.twice(2) == 4
        assert sentences == [MESSAGE]
        assert module.twice(3) == 6
        assert load(path).twice(2) == 4, "another process would load what this one stored"
    assert sentences == [MESSAGE]


def test_nobody_needs_to_listen() -> None:
    announce_compiling()


def test_a_compiler_with_a_cache_of_its_own_is_announced_once_for_each_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sentences: list[str] = []
    with hear_compiling(sentences.append):
        with pytest.raises(ZeroDivisionError), announced_once(tmp_path / "new", "first"):
            _ = 1 // 0
        with announced_once(tmp_path / "new", "first"):
            assert len(sentences) == 2, "the first attempt compiled nothing"
        monkeypatch.setattr(compiling, "_announced", set())  # as in a new process
        for _ in range(2):
            with announced_once(tmp_path / "new", "first"):
                assert len(sentences) == 2
        with announced_once(tmp_path / "new", "second"):
            assert len(sentences) == 3


def test_a_process_announces_once_where_no_file_can_remember_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    for folder in (None, tmp_path / "file"):
        monkeypatch.setattr(compiling, "_announced", set())
        sentences: list[str] = []
        with hear_compiling(sentences.append):
            for _ in range(2):
                with announced_once(folder, "code"):
                    assert sentences == [MESSAGE]


def test_ctrl_c_stops_the_waiting_for_a_compiler_at_once() -> None:
    is_over, entered = threading.Event(), list[str]()

    @contextmanager
    def at_once() -> Iterator[None]:
        entered.append("at once")
        yield

    def compile_long(signature: str) -> str:
        signal.raise_signal(signal.SIGINT)
        is_over.wait(60)
        return signature

    with hear_compiling(entered.append, at_once), pytest.raises(KeyboardInterrupt):
        compile_aside(compile_long, "f")
    assert not is_over.is_set(), "the compiler was not waited for"
    is_over.set()
    assert entered == ["at once"]


def test_what_a_compiler_returns_or_raises_reaches_the_caller() -> None:
    assert compile_aside(str.upper, "code") == "CODE"
    with pytest.raises(ZeroDivisionError):
        compile_aside(lambda signature: 1 // 0, "code")


def test_the_thread_of_a_compiler_compiles_what_it_needs_itself() -> None:
    def outer(signature: str) -> list[threading.Thread]:
        inner = compile_aside(lambda _: threading.current_thread(), signature)
        return [threading.current_thread(), inner]

    first, second = compile_aside(outer, "code")
    assert first is second
    assert first is not threading.main_thread()


def test_a_block_waits_for_one_of_the_same_name_and_for_no_other(tmp_path: Path) -> None:
    events: list[str] = []

    def work() -> None:
        with only_here(tmp_path, "a"):
            events.append("second")

    thread = threading.Thread(target=work)
    with only_here(tmp_path, "a"):
        thread.start()
        with only_here(tmp_path, "b"):
            thread.join(0.5)
            events.append("first")
    thread.join(60)
    assert events == ["first", "second"]


def test_a_block_whose_turn_does_not_come_runs_all_the_same(tmp_path: Path) -> None:
    with only_here(tmp_path, "a"), only_here(tmp_path, "a", patience=0):
        pass
    with only_here(tmp_path, "a", patience=0), only_here(tmp_path / "new folder", "a"):
        pass


def test_a_process_that_was_killed_delays_nobody(tmp_path: Path) -> None:
    code = (
        "import sys, time; from pathlib import Path; "
        "from counterbc.kernels.compiling import only_here\n"
        "with only_here(Path(sys.argv[1]), 'a'): print('mine', flush=True); time.sleep(600)"
    )
    process = subprocess.Popen([sys.executable, "-c", code, tmp_path], stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline().split() == [b"mine"]
    process.kill()
    process.communicate()
    begin = time.monotonic()
    with only_here(tmp_path, "a", patience=300):
        assert time.monotonic() - begin < 200


def test_a_folder_that_cannot_be_written_needs_no_lock(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with only_here(tmp_path / "file", "a"):
        pass
