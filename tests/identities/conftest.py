"""A shell in an empty folder, into which tests paste what commands print."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fixture_types import Paste


@pytest.fixture
def paste(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Paste:
    """A function that pastes a line into a shell, in an empty folder with `counterbc` on PATH."""
    folder = tmp_path / "a b"  # a name that needs quotes
    (tmp_path / "bin").mkdir()
    folder.mkdir()
    script = tmp_path / "bin" / "counterbc"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m counterbc "$@"\n')
    script.chmod(0o755)
    monkeypatch.chdir(folder)
    path = f"{script.parent}{os.pathsep}{os.environ['PATH']}"

    def run(line: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["/bin/sh", "-c", line], capture_output=True, text=True, env=os.environ | {"PATH": path}
        )

    return run
