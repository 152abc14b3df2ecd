"""A shell in an empty folder, into which tests paste what commands print."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import fork_server
from tests.fixture_types import Paste

PATIENCE = 120.0  # seconds in which a server must have started


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, which is empty and whose name needs quotes."""
    path = tmp_path / "a b"
    path.mkdir()
    monkeypatch.chdir(path)
    return path


@pytest.fixture
def paste(folder: Path) -> Paste:
    """A function that pastes a line into a shell, in an empty folder with `counterbc` on PATH."""
    return _shell(folder, sys.executable, "-m", "counterbc")


@pytest.fixture
def paste_often(folder: Path, server: Path) -> Paste:
    """The same, for many lines: commands run in forks of one process, which start at once."""
    return _shell(folder, sys.executable, "-S", fork_server.__file__, "ask", str(server))


def _shell(folder: Path, *command: str) -> Paste:
    script = folder.parent / "bin" / "counterbc"
    script.parent.mkdir()
    script.write_text(f'#!/bin/sh\nexec {shlex.join(command)} "$@"\n')
    script.chmod(0o755)
    path = f"{script.parent}{os.pathsep}{os.environ['PATH']}"

    def run(line: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["/bin/sh", "-c", line], capture_output=True, text=True, env=os.environ | {"PATH": path}
        )

    return run


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The socket of a process that runs commands in forks of itself."""
    path = tmp_path_factory.mktemp("server") / "socket"
    process = subprocess.Popen([sys.executable, fork_server.__file__, "serve", str(path)])
    end = time.monotonic() + PATIENCE
    while not path.exists():
        assert process.poll() is None, "the server ended"
        assert time.monotonic() < end, "the server did not start"
        time.sleep(0.05)
    yield path
    process.kill()
    process.wait()
