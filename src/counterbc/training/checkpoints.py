"""Trainings that are not finished: a run folder with a configuration and a training state."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from torch import Tensor

from counterbc.acting import run_folder
from counterbc.acting.policies import Policies, policy_kind
from counterbc.errors import FormatError
from counterbc.files import aside, check_free
from counterbc.policies import Policy

_TRAINING = "training.safetensors"


def check_out(folder: Path, resume: bool, policy: Policy) -> None:
    """Refuse, before any work, a folder or a policy that a run cannot be saved with."""
    policy_kind(policy)
    if not (resume and folder.exists()):
        check_free(folder)


def begin(folder: Path, config: dict[str, Any]) -> None:
    """Create a run folder that holds only its configuration."""
    with aside(folder) as temporary:
        temporary.mkdir()
        run_folder.write_config(temporary / run_folder.CONFIG, {"unfinished": config})


def save_state(folder: Path, state: dict[str, Tensor]) -> None:
    """Replace the state that a stopped training resumes from."""
    with aside(folder / _TRAINING) as temporary:
        run_folder.save_tensors(state, temporary)


def load_state(folder: Path, config: dict[str, Any]) -> dict[str, Tensor] | None:
    """Return the state of a training with the same configuration; None before its first save."""
    contents = run_folder.read_config(folder)
    if "unfinished" not in contents:
        raise FormatError(f"{folder} is finished already; there is nothing to resume")
    current, previous = json.loads(json.dumps(config)), contents["unfinished"]
    if previous != current:
        keys = [k for k in current if current[k] != previous.get(k)]
        raise FormatError(
            f"{folder} was started with another {', '.join(keys) or 'configuration'}; "
            "resume it with the same data and options, or choose another folder"
        )
    path = folder / _TRAINING
    return run_folder.load_tensors(path) if path.exists() else None


def finish(policies: Policies, folder: Path) -> None:
    """Turn an unfinished run into a finished one; interrupted in between, it stays unfinished."""
    with aside(folder / run_folder.CONFIG) as config:
        run_folder.write(config.parent, *policies.contents())
        os.replace(config.parent / run_folder.MODEL, folder / run_folder.MODEL)
    (folder / _TRAINING).unlink(missing_ok=True)
