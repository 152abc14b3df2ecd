"""Files larger than the memory that is used for them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest

DEMOS, LENGTH, WIDTH = 500, 2000, 30


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """240 MB of float64."""
    path = tmp_path_factory.mktemp("large") / "large.hdf5"
    rng = np.random.default_rng(0)
    values = rng.standard_normal((LENGTH, WIDTH))
    with h5py.File(path, "w") as file:
        for i in range(DEMOS):
            values[:, 0] = i  # no two demos are the same
            file[f"data/demo_{i}/obs/state"] = values[:, :-5]
            file[f"data/demo_{i}/actions"] = values[:, -5:]
    assert path.stat().st_size > 240e6
    return path


PEAK = """
import sys
from pathlib import Path
from counterbc.cli import main
status = main(sys.argv[1:])
peak = Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0]
print(peak, file=sys.stderr)
sys.exit(status)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="asks /proc for the peak")
@pytest.mark.parametrize(
    "command", [("inspect",), ("convert", "--to", "robomimic"), ("convert", "--to", "npz")]
)
def test_a_large_file_passes_through_little_memory(
    command: tuple[str, ...], large: Path, tmp_path: Path
) -> None:
    out = [tmp_path / "out"] if command[0] == "convert" else []
    arguments = map(str, [command[0], large, *out, *command[1:]])
    done = subprocess.run(
        [sys.executable, "-c", PEAK, *arguments], capture_output=True, text=True, check=True
    )
    assert int(done.stderr) / 1000 < 120  # megabytes, most of them Python and its libraries
