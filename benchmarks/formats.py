"""Measure how fast files are read, and the memory that inspecting and converting them takes.

    python benchmarks/formats.py speed [--data FOLDER]     against a bare h5py loop, side by side
    python benchmarks/formats.py memory                    of files of 50 and 500 MB

Speed is CPU time, the minimum of several rounds in which both alternate, because the machine may be
shared. The bare loop reads the same datasets into arrays and does nothing else. Memory is the peak
of a separate process for each command and file, Python and its libraries included.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from counterbc.formats import load

FILES = ("pusht_human_206.hdf5", "adroit_door_human_25.hdf5")
LENGTH = 1000  # pairs of a generated demo


def generate(path: Path, pairs: int) -> None:
    """Write a file as robomimic does: float64, contiguous, 264 bytes per pair."""
    rng = np.random.default_rng(0)
    with h5py.File(path, "w") as file:
        data = file.create_group("data")
        for i in range(pairs // LENGTH):
            group = data.create_group(f"demo_{i}")
            group.attrs["num_samples"] = LENGTH
            group["obs/object"] = rng.standard_normal((LENGTH, 14))
            group["obs/robot0_eef_pos"] = rng.standard_normal((LENGTH, 9))
            group["actions"] = rng.uniform(-1, 1, (LENGTH, 7))
            group["rewards"] = np.zeros(LENGTH)
            group["states"] = rng.standard_normal((LENGTH, 2))


def bare(path: Path) -> list[list[Any]]:
    """Read the datasets that `load` reads and nothing else; the first demo gives the keys."""
    demos, keys = [], list[str]()
    with h5py.File(path) as file:
        data = file["data"]
        for name in data:
            demo = data[name]
            if not keys:
                keys = ["actions", *(["rewards"] if "rewards" in demo else [])]
                keys += [f"obs/{key}" for key in demo["obs"]]
            demos.append([demo[key][()] for key in keys])
    return demos


def quickest(functions: list[Callable[[], Any]], rounds: int) -> list[float]:
    """Return the least seconds of each function; the functions alternate."""
    times: list[list[float]] = [[] for _ in functions]
    for _ in range(rounds):
        for function, seconds in zip(functions, times, strict=True):
            start = time.process_time()
            function()
            seconds.append(time.process_time() - start)
    return [min(seconds) for seconds in times]


def speed(data: Path | None) -> list[dict[str, Any]]:
    """Compare `load` with the bare loop for each file."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        generated = Path(folder) / "a million pairs.hdf5"
        generate(generated, 1_000_000)
        for path in [*([data / name for name in FILES] if data else []), generated]:
            rounds = 5 if path == generated else 25
            ours, loop = quickest([partial(load, path), partial(bare, path)], rounds)
            rows.append({"file": path.name, "load": ours, "bare": loop, "ratio": ours / loop})
            print(rows[-1], flush=True)
    return rows


PEAK = """
import sys
from pathlib import Path
from counterbc.cli import main
assert main(sys.argv[1:]) == 0
print(Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0])
"""


def peak(*arguments: object) -> float:
    """Return the peak memory of a command in MB, run in a separate process (Linux only)."""
    command = [sys.executable, "-c", PEAK, *map(str, arguments)]
    process = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return int(process.stdout.split()[-1]) / 1000


def memory() -> list[dict[str, Any]]:
    """Measure the peak memory of inspect and convert for files of 50 and 500 MB."""
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for pairs in (200_000, 2_000_000):
            source = folder / f"{pairs}.hdf5"
            generate(source, pairs)
            size = source.stat().st_size / 1e6
            rows.append({"command": "inspect", "file MB": size, "peak MB": peak("inspect", source)})
            print(rows[-1], flush=True)
            for to in ("robomimic", "npz", "lerobot", "minari"):
                out = folder / f"{pairs}-{to}"
                megabytes = peak("convert", source, out, "--to", to)
                rows.append(
                    {"command": f"convert --to {to}", "file MB": size, "peak MB": megabytes}
                )
                print(rows[-1], flush=True)
                if to in ("npz", "lerobot"):
                    megabytes = peak("inspect", out)
                    rows.append({"command": f"inspect {to}", "file MB": size, "peak MB": megabytes})
                    print(rows[-1], flush=True)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("what", choices=("speed", "memory"))
    parser.add_argument("--data", type=Path, default=None, help="the folder of real demonstrations")
    parser.add_argument("--out", type=Path, default=None, help="write the rows as JSON")
    options = parser.parse_args()
    folder = options.data or os.environ.get("COUNTERBC_DATA")
    rows = speed(Path(folder) if folder else None) if options.what == "speed" else memory()
    if options.out is not None:
        options.out.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
