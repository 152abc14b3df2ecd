"""Runs as folders of two files: config.json and model.safetensors.

A third one, training.safetensors, is what a training would continue from; nothing else reads it.
"""

from __future__ import annotations

import json
import os
import shutil
import warnings
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from counterbc.errors import CounterBCError, FormatError, StoppedTraining
from counterbc.files import Guard, aside, check_free, check_regular, reason

FORMAT, VERSION = "counterbc-policies", 2
CONFIG, MODEL, TRAINING = "config.json", "model.safetensors", "training.safetensors"
STOPPED = "stopped_after"
"""In the model of a stopped training: the steps taken, and those in all."""
READABLE = (1, VERSION)
"""Version 1 called the shards of a method `parts`."""


def save(
    folder: Path, config: dict[str, Any], tensors: dict[str, Tensor], *, overwrite: bool = False
) -> None:
    """Write a folder, whole or not at all.

    It must not exist, or with `overwrite` hold a run, which is replaced; other files in it stay.
    """
    overwrite = overwrite and os.path.lexists(folder)
    if overwrite:
        read_config(folder)  # refuses a folder that is not a run
    else:
        check_free(folder)
    with aside(folder, replace=overwrite) as temporary:
        temporary.mkdir()
        if overwrite:
            _copy_others(folder, temporary)
        write(temporary, config, tensors)


def _copy_others(folder: Path, copy: Path) -> None:
    """Copy what is in a run folder beside the run."""
    for entry in folder.iterdir():
        if entry.is_dir():
            shutil.copytree(entry, copy / entry.name, symlinks=True)
        elif entry.name not in (CONFIG, MODEL, TRAINING):
            shutil.copy2(entry, copy / entry.name, follow_symlinks=False)


def write(folder: Path, config: dict[str, Any], tensors: dict[str, Tensor]) -> None:
    """Write both files into a folder."""
    write_config(folder / CONFIG, config)
    save_tensors(tensors, folder / MODEL)


def write_config(path: Path, config: dict[str, Any]) -> None:
    text = json.dumps({"format": FORMAT, "version": VERSION, **config}, indent=2)
    path.write_text(text + "\n", "utf-8")


def load(folder: Path) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """Read the configuration and the tensors of a finished run."""
    config = read_config(folder)
    if "unfinished" in config:
        return _load_stopped(folder, config)
    if config["version"] == 1 and "parts" in config:
        config["shards"] = config.pop("parts")
    return config, load_tensors(folder / MODEL)


def _load_stopped(folder: Path, config: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """Read a run whose training was stopped, as it is after its last checkpoint."""
    if not (folder / MODEL).exists():
        raise FormatError(
            f"{folder} holds a training that was stopped before its first checkpoint; finish it "
            "with the same command and --resume"
        )
    tensors = load_tensors(folder / MODEL)
    with Guard(folder / MODEL, "finish the training with the same command and --resume"):
        taken, total = tensors.pop(STOPPED).tolist()
        settings = dict(config.pop("unfinished"), stopped_after=int(taken))
    warnings.warn(
        f"the training of {folder} was stopped after {taken:,} of {total:,} steps; it is used as "
        "it is (finish it with the same command and --resume)",
        StoppedTraining,
        stacklevel=4,
    )
    return {**config, "config": settings, "diverged": None}, tensors


def read_config(folder: Path) -> dict[str, Any]:
    """Read config.json of a run, finished or not."""
    if not folder.is_dir():
        raise FormatError(f"{folder} is not a folder; give the folder that counterbc train wrote")
    try:
        check_regular(folder / CONFIG)
        with Guard(folder / CONFIG, "train again"):
            config = json.loads((folder / CONFIG).read_text("utf-8"))
    except FileNotFoundError:
        raise FormatError(f"{folder} has no {CONFIG}; it was not written by counterbc") from None
    if not isinstance(config, dict) or config.get("format") != FORMAT:
        raise FormatError(f"{folder} is not a counterbc run: its {CONFIG} has another format")
    if config.get("version") not in READABLE:
        raise FormatError(
            f"{folder} has version {config.get('version')!r:.40}, this counterbc reads "
            f"{' and '.join(map(str, READABLE))}; train again, or install the version that wrote it"
        )
    if config["version"] == 1 and "unfinished" in config:
        raise FormatError(
            f"{folder} holds a training that was started by version 0.1.0 and cannot be finished "
            "by this one; finish it with 0.1.0, or train again in another folder"
        )
    return config


def save_tensors(tensors: dict[str, Tensor], path: Path) -> None:
    """Write tensors as safetensors, readable like other files."""
    try:
        save_file({k: v.detach().cpu().contiguous() for k, v in tensors.items()}, path)
        path.chmod(0o666 & ~_umask())  # safetensors writes files that only their owner can read
    except SafetensorError as error:  # raised by safetensors when a write fails
        raise OSError(str(error)) from error


def load_tensors(path: Path) -> dict[str, Tensor]:
    """Read tensors, or say what is wrong with the file."""
    try:
        check_regular(path)
        return load_file(path)
    except CounterBCError:
        raise
    except FileNotFoundError:
        raise FormatError(f"{path.parent} has no {path.name}; the run is incomplete") from None
    except Exception as error:  # a damaged file can raise anything
        raise FormatError(f"{path} is damaged ({reason(error)}); train again") from error


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
