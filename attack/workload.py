"""Every command that takes a while or writes something, on small data."""

from __future__ import annotations

from pathlib import Path

GRID = """methods = ["bc", "counter-bc"]
seeds = 2
episodes = 2

[settings]
radius = 0.3
steps = 60
hidden = [8]
kernel = "torch"

[[data]]
world = "intersection"
noise = "uniform"
sigma = 0.5
pairs = [40, 60]
"""
_FAST = ("--radius", "0.2", "--kernel", "torch")
_FOLDS = ("--repeats", "1", "--rounds", "1", "--folds", "2", "--steps", "40")
TRAIN = (*_FAST, "--lag", "0", "--ensemble", "1", "--hidden", "8", "--steps", "600", "--seeds", "2")


def commands(bases: Path, out: Path) -> dict[str, list[object]]:
    """Return the words of each command; everything it writes goes below `out`."""
    demos, run = bases / "own.hdf5", bases / "run_counter_bc"
    grid = bases / "grid.toml"
    if not grid.exists():
        grid.write_text(GRID)
    diagnosis = (*_FAST, *_FOLDS)
    return {
        "inspect": ["inspect", demos],
        "demonstrate": ["demonstrate", "intersection", "--pairs", "2000", "--out", out / "d.hdf5"],
        "convert to npz": ["convert", demos, out / "c.npz"],
        "convert to robomimic": ["convert", demos, out / "c.hdf5"],
        "convert to lerobot": ["convert", demos, out / "c", "--to", "lerobot"],
        "convert to minari": ["convert", demos, out / "c", "--to", "minari"],
        "train": ["train", demos, *TRAIN, "--out", out / "run"],
        "tune": ["tune", demos, "--step-counts", "40", "--folds", "2", "--radii", "0",
                 "--radii", "0.2", "--ensembles", "1", "--plot", out / "t.png"],
        "radius": ["radius", demos, "--steps", "40", "--folds", "2", "--radii", "0", "--radii",
                   "0.2", "--radii", "0.4", "--plot", out / "p.png"],
        "clean": ["clean", demos, *diagnosis, "--lag", "0", "--out", out / "clean.hdf5"],
        "score": ["score", demos, *diagnosis, "--weights", out / "w.parquet"],
        "report": ["report", demos, *diagnosis, "--out", out / "r.html"],
        "intents": ["intents", demos, "--groups", "2", "--out", out / "i.hdf5"],
        "evaluate": ["evaluate", run, "--env", "intersection", "--episodes", "20"],
        "film as gif": ["evaluate", run, "--env", "intersection", "--episodes", "1", "--video",
                        out / "v.gif"],
        "film as mp4": ["evaluate", run, "--env", "intersection", "--episodes", "1", "--video",
                        out / "v.mp4"],
        "export": ["export", run, out / "p.onnx"],
        "study": ["study", grid, "--workers", "1", "--out", out / "study"],
        "demo": ["demo", "--seeds", "2", "--pairs", "40", "--steps", "40", "--radius", "0.2",
                 "--episodes", "2", "--kernel", "torch", "--out", out / "demo"],
    }  # fmt: skip


READ_ONLY = ("inspect", "evaluate")
"""Commands that write nothing but what they print."""
