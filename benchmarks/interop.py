"""Check that minari, lerobot and robomimic read what counterbc writes, and the reverse.

    python -m benchmarks.interop [minari] [lerobot] [robomimic] [--keep FOLDER]

Each library is installed into its own environment in a temporary folder, which needs the network
and takes minutes. Datasets are written here, read there and compared number by number, then the
reverse. Real demonstrations are included if COUNTERBC_DATA names their folder.
"""

from __future__ import annotations

import argparse
import importlib
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.interop_inside import compare

TORCH = "torch==2.13.0"  # without a pin, pip may download gigabytes of another build
INSTALLS: dict[str, list[list[str]]] = {
    "minari": [["minari[hdf5,arrow]==0.5.4", "pillow"]],
    "lerobot": [
        # lerobot 0.4.4 declares an older torch but runs with this one. Its recorder converts arrays
        # of one element to numbers, which newer versions of numpy refuse.
        [TORCH, "numpy<2.4", "pandas", "pyarrow", "pillow", "datasets>=4,<5",
         "huggingface-hub>=0.34.2,<0.36", "jsonlines", "draccus==0.10.0", "einops", "av<16",
         "imageio", "termcolor", "tqdm", "deepdiff", "accelerate", "packaging", "safetensors"],
        ["--no-deps", "lerobot==0.4.4", "torchvision==0.28.0", "torchcodec==0.13.0"],
    ],
    "robomimic": [
        [TORCH, "numpy", "h5py", "tqdm", "termcolor", "psutil", "setuptools", "wheel"],
        ["--no-deps", "--no-build-isolation", "robomimic>=0.3"],
    ],
}  # fmt: skip
IMAGES = "images"  # the dataset whose observations are images


def datasets() -> dict[str, Any]:
    """Return the datasets to write: all kinds of fields, images, and real demonstrations."""
    from counterbc.data.demonstrations import Demonstrations, Episode
    from counterbc.formats import load

    rng = np.random.default_rng(0)
    episodes = [
        Episode(
            obs=rng.normal(size=(n, 5)), action=rng.normal(size=(n, 2)), reward=rng.normal(size=n),
            operator=f"operator {n % 2}", success=n % 2 == 0,
        )
        for n in (7, 1, 12, 30)
    ]  # fmt: skip
    full = Demonstrations(
        tuple(episodes),
        action_low=np.array([-2, -3]),
        action_high=np.array([2, 3]),
        obs_keys=(("position", 3), ("object", 2)),
        rate=20.0,
        masks={"task: push": ("demo_0", "demo_1"), "task: pull": ("demo_2", "demo_3")},
    )
    frames = rng.integers(0, 256, (6, 40, 48, 3), dtype=np.uint8)
    pixels = Demonstrations((Episode(obs=frames, action=rng.normal(size=(6, 2))),), rate=10.0)
    collection = {"synthetic-v0": full, f"{IMAGES}-v0": pixels}
    if "COUNTERBC_DATA" in os.environ:
        data = Path(os.environ["COUNTERBC_DATA"])
        collection["pusht-v0"] = load(data / "pusht_human_206.hdf5")
        collection["g1-v0"] = load(data / "fixtures" / "lerobot_v21_g1")
    return collection


def write_all(library: str, folder: Path) -> None:
    """Write each dataset in the format of the library, and the numbers to expect in it."""
    from counterbc.data.raw_episode import Header
    from counterbc.formats import save

    for name, demos in datasets().items():
        image = len(demos.obs_shape) > 1
        if library == "robomimic" and image:
            continue
        ending = ".hdf5" if library == "robomimic" else ""
        losses = save(demos, folder / f"{name}{ending}", format=library)
        print(f"  wrote {name}: {len(demos)} episodes, {demos.pairs} pairs; {'; '.join(losses)}")
        lengths = np.array([len(e) for e in demos.episodes])
        features = np.array([])
        if library == "lerobot" and not image:
            lf = importlib.import_module("counterbc.formats.lerobot.features")
            features = np.array(lf.obs_features(Header.of(demos)))
        reward = demos.mean_return is not None
        np.savez(
            folder / f"{name}.npz",
            obs=demos.obs,
            action=demos.action,
            lengths=lengths,
            keys=np.array([k for k, _ in demos.obs_keys]),
            widths=np.array([w for _, w in demos.obs_keys], int),
            features=features,
            reward=np.concatenate([e.reward for e in demos.episodes]) if reward else np.array([]),
        )


def read_theirs(library: str, folder: Path) -> None:
    """Compare what the library wrote with the numbers that it put there."""
    from counterbc.formats import load

    for answer in sorted(folder.glob("theirs/*.npz")):
        arrays = dict(np.load(answer))
        name, _, key = answer.stem.partition("@")
        demos = load(folder / "theirs" / name, [key] if key else None, format=library)
        compare(f"their {answer.stem}: obs", demos.obs, arrays["obs"], float(arrays["within"]))
        compare(f"their {answer.stem}: action", demos.action, arrays["action"])
        print(f"  their {answer.stem}: {len(demos)} episodes, {demos.pairs} pairs")


def read_ours(folder: Path) -> None:
    """Print the seconds that counterbc takes for the files that robomimic was timed with."""
    from counterbc.formats import load

    for path in sorted(folder.glob("*.hdf5")):
        start = time.perf_counter()
        load(path)
        print(f"  {path.stem}: read by counterbc in {time.perf_counter() - start:.2f} s")


def check(library: str, folder: Path) -> None:
    """Install a library, exchange datasets with it in both directions, and compare."""
    print(f"{library}: installing into its own environment")
    environment, dataset_folder = folder / "environment", folder / "datasets"
    python = environment / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", environment], check=True)
        for packages in INSTALLS[library]:
            subprocess.run([python, "-m", "pip", "install", "-q", *packages], check=True)
    dataset_folder.mkdir(parents=True)
    write_all(library, dataset_folder)
    offline = {"HF_HUB_OFFLINE": "1", "HF_HOME": str(folder / "cache"), "PYTHONPATH": ""}
    variables = os.environ | offline | {"MINARI_DATASETS_PATH": str(dataset_folder)}
    script = Path(__file__).with_name("interop_inside.py")
    subprocess.run([python, script, library, dataset_folder], check=True, env=variables)
    read_theirs(library, dataset_folder)
    if library == "robomimic":
        read_ours(dataset_folder)
    print(f"{library}: everything equal")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("libraries", nargs="*", help="minari, lerobot, robomimic; by default all")
    parser.add_argument("--keep", type=Path, help="keep environments and datasets in this folder")
    options = parser.parse_args()
    for library in options.libraries or INSTALLS:
        with tempfile.TemporaryDirectory() as temporary:
            folder = options.keep or Path(temporary)
            check(library, folder / library)


if __name__ == "__main__":
    main()
