"""Starting up: slow imports are announced, and a signal during them is one word."""

from __future__ import annotations

import importlib
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from counterbc.__main__ import ImportWatch, importing
from tests.processes import HEED, RUN, without_loading

SLOW_TORCH = """
class SlowTorch:
    def find_spec(self, name, *_):
        if name == "torch":
            {act}
sys.meta_path.insert(0, SlowTorch())
"""


def test_an_import_is_announced_after_a_second_and_then_every_ten() -> None:
    watch = ImportWatch()
    assert [watch.line("torch", t) for t in (0.0, 0.5, 1.0, 1.5, 10.9)] == [
        "", "", "loading torch", "", "",
    ]  # fmt: skip
    assert watch.line("torch", 11.0) == "loading torch, 11 seconds so far"


def test_quick_imports_in_succession_are_not_announced_and_a_later_slow_one_is() -> None:
    watch = ImportWatch()
    times = [(name, t) for t, name in enumerate(("a", "", "b", "", "c", "")) for _ in range(2)]
    assert not any(watch.line(name, 0.5 * t) for name, t in times)
    assert not watch.line("torch", 20.0)
    assert watch.line("torch", 21.0) == "loading torch"


def test_the_package_that_is_imported_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    text = "from counterbc.__main__ import importing\nname = importing()\n"
    (tmp_path / "slow_package.py").write_text(text)
    assert importing() == ""
    assert importlib.import_module("slow_package").name == "slow_package"
    assert importing() == ""


def test_imports_are_watched_until_something_runs_in_real_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from counterbc import __main__, cli
    from counterbc.commands import command

    states = list[bool]()

    def drive() -> None:
        (thread,) = [t for t in threading.enumerate() if t.name == "imports"]
        states.append(thread.is_alive())
        command.prepare_real_time()
        thread.join(timeout=60)
        states.append(thread.is_alive())

    monkeypatch.setattr(command, "before_real_time", [])
    monkeypatch.setattr(cli, "run", drive)
    handlers = {n: signal.getsignal(n) for n in (signal.SIGINT, signal.SIGTERM)}
    try:
        __main__.run()
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
    assert states == [True, False]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_slow_import_is_announced_and_can_be_stopped(number: int) -> None:
    wait = SLOW_TORCH.format(act="time.sleep(100)")
    words = [sys.executable, "-c", HEED + wait + RUN, "train", "--help"]
    process = subprocess.Popen(words, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stderr is not None
    assert process.stderr.readline().startswith("loading counterbc")
    process.send_signal(number)
    out, err = process.communicate(timeout=300)
    assert (process.returncode, out) == (128 + number, "")
    assert without_loading(err) == ["stopped"]


def test_an_interrupt_that_an_import_swallows_stops_the_command() -> None:
    swallow = SLOW_TORCH.format(
        act="""
            try:
                signal.raise_signal(signal.SIGINT)
            except KeyboardInterrupt:
                raise ImportError("torch is broken")"""
    )
    words = [sys.executable, "-c", HEED + swallow + RUN, "train", "--help"]
    result = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stdout) == (130, "")
    assert result.stderr.splitlines()[-1] == "stopped"
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_during_start_up_is_no_traceback(number: int) -> None:
    stop_at_import = f"""
class Stop:
    def find_spec(self, name, *_):
        if name == "tyro":
            signal.raise_signal({int(number)})
sys.meta_path.insert(0, Stop())
"""
    words = [sys.executable, "-c", HEED + stop_at_import + RUN, "--help"]
    result = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stdout) == (128 + number, "")
    assert without_loading(result.stderr) == ["stopped"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_between_start_up_and_command_is_no_traceback(number: int) -> None:
    stop_at_once = f"""
import counterbc.cli
class Stop(type):
    def __instancecheck__(cls, stream):
        signal.raise_signal({int(number)})
counterbc.cli.TextIOWrapper = Stop("TextIOWrapper", (), {{}})
"""
    words = [sys.executable, "-c", HEED + stop_at_once + RUN, "--help"]
    result = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stdout) == (128 + number, "")
    assert without_loading(result.stderr) == ["stopped"]


def test_an_interrupt_that_a_library_turns_into_an_error_is_still_one(
    intersection_file: Path,
) -> None:
    swallow = """
import h5py
def is_hdf5(path):
    try:
        signal.raise_signal(signal.SIGINT)
    except KeyboardInterrupt:
        raise RuntimeError("Link iteration failed")
h5py.is_hdf5 = is_hdf5
"""
    words = [sys.executable, "-c", HEED + swallow + RUN, "inspect", os.fspath(intersection_file)]
    result = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stdout) == (130, "")
    assert without_loading(result.stderr) == ["stopped"]


@pytest.mark.parametrize(
    ("number", "start"),
    [
        (signal.SIGINT, HEED),
        (signal.SIGTERM, HEED),
        (signal.SIGTERM, "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)"),
    ],
    ids=["Ctrl-C", "SIGTERM", "SIGTERM in the background"],
)
def test_a_signal_in_a_callback_whose_exceptions_python_ignores_stops_the_command(
    number: int, start: str, intersection_file: Path
) -> None:
    ignore = f"""
import h5py, time
class Swallows:
    def __del__(self):
        signal.raise_signal({int(number)})
def is_hdf5(path):
    Swallows()
    time.sleep(100)
h5py.is_hdf5 = is_hdf5
"""
    words = [sys.executable, "-c", start + ignore + RUN, "inspect", os.fspath(intersection_file)]
    result = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)
    assert (result.returncode, result.stdout) == (128 + number, "")
    assert without_loading(result.stderr) == ["stopped"]


def test_ctrl_c_waits_for_no_thread_and_calls_what_is_registered_for_the_exit(
    intersection_file: Path,
) -> None:
    start_thread = """
import atexit, h5py, threading
def is_hdf5(path):
    threading.Thread(target=threading.Event().wait).start()  # as busy as a compiler
    atexit.register(print, "workers were ended", file=sys.stderr)
    signal.raise_signal(signal.SIGINT)
h5py.is_hdf5 = is_hdf5
"""
    words = [
        sys.executable,
        "-c",
        HEED + start_thread + RUN,
        "inspect",
        os.fspath(intersection_file),
    ]
    result = subprocess.run(words, capture_output=True, text=True, check=False, timeout=300)
    assert result.returncode == 130
    assert without_loading(result.stderr) == ["stopped", "workers were ended"]
