"""The environments of the rivals: each library with its own versions, in a folder git ignores."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
TORCH = "torch==2.13.0"  # without a pin, pip may download gigabytes of another build

INSTALLS: dict[str, list[list[str]]] = {
    "jax": [["jax==0.10.2"]],
    "imitation": [
        [TORCH, "numpy<2", "gymnasium==0.29.1", "tqdm", "rich", "pandas", "matplotlib",
         "cloudpickle", "scikit-learn"],
        # imitation asks for seals, sacred and datasets as well, which its BC does not use.
        ["--no-deps", "stable-baselines3==2.2.1", "imitation==1.0.1"],
    ],
    "robomimic": [
        [TORCH, "numpy", "h5py", "tqdm", "termcolor", "psutil", "six", "pillow", "matplotlib",
         "imageio", "setuptools", "wheel"],
        # robomimic asks for egl_probe, which needs a compiler and a GPU, and for tensorboardX.
        ["--no-deps", "--no-build-isolation", "robomimic==0.3.0", "torchvision==0.28.0"],
    ],
}  # fmt: skip
"""The calls of pip that make each environment; our own environment serves the other rivals."""


def python_of(environment: str) -> Path:
    """Return the Python of a rival's environment, which is made if it is missing."""
    if environment not in INSTALLS:
        return Path(sys.executable)
    folder = ROOT / f".venv-{environment}"
    python, marker = folder / "bin" / "python", folder / "installed"
    calls = repr(INSTALLS[environment])
    if not marker.exists() or marker.read_text() != calls:
        print(f"{environment}: installing into {folder.name}", flush=True)
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True)
        for packages in INSTALLS[environment]:
            subprocess.run([str(python), "-m", "pip", "install", "-q", *packages], check=True)
        marker.write_text(calls)
    return python


def versions(environment: str) -> dict[str, str]:
    """Return the versions of an environment's libraries that matter for speed."""
    command = [str(python_of(environment)), "-m", "pip", "freeze", "--disable-pip-version-check"]
    process = subprocess.run(command, capture_output=True, text=True, check=True)
    pairs = (line.split("==") for line in process.stdout.splitlines() if "==" in line)
    names = ("torch", "numpy", "numba", "jax", "jaxlib", "imitation", "robomimic")
    return {pair[0]: pair[1] for pair in pairs if pair[0] in names}
