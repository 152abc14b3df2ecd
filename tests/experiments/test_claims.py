"""A claim excludes other processes and ends with the process that made it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from counterbc.errors import FormatError
from counterbc.experiments.claims import LOCK_FILE, claim

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there are no such locks")
HOLD = """
import sys, time
from pathlib import Path
sys.path[:0] = {path!r}
from counterbc.experiments.claims import claim
with claim(Path({folder!r}), "cell") as free:
    print(free, flush=True)
    time.sleep(600)
"""


def test_a_claim_excludes_other_processes_until_it_is_killed(tmp_path: Path) -> None:
    code = HOLD.format(folder=str(tmp_path), path=sys.path)
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "True\n"
        with claim(tmp_path, "cell") as free, claim(tmp_path, "another") as second:
            assert (free, second) == (False, True)
    finally:
        process.kill()
        process.communicate()
    with claim(tmp_path, "cell", wait=True) as free:
        assert free


def test_a_claim_ends_with_its_block(tmp_path: Path) -> None:
    for _ in range(2):
        with claim(tmp_path, "cell") as free:
            assert free


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / LOCK_FILE).mkdir()  # as good as a read-only folder, also for root
    with pytest.raises(FormatError, match=r"could not be written .* choose another folder"):
        claim(tmp_path, "cell").__enter__()
