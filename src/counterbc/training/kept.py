"""Populations of a search on disk, so that a search that is stopped can be resumed.

A population is known by a hash of everything that decides its bits: data, settings, members, kernel
and versions. What is found under that hash is what would be computed.
"""

from __future__ import annotations

import hashlib
import json
import os
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from counterbc.acting import run_folder
from counterbc.acting.policies import Curve
from counterbc.acting.run_config import RunConfig
from counterbc.errors import FormatError, NotKept
from counterbc.files import Guard, aside, make_folder
from counterbc.policies import Params
from counterbc.training.plan import TrainingPlan
from counterbc.training.session import Session

FINISHED = "finished.safetensors"


class KeptPopulation:
    """The folder of a population: the state of its training, or its snapshots."""

    def __init__(self, session: Session, folder: Path) -> None:
        self.folder, self.path, self.can_write = folder, folder / run_folder.TRAINING, True
        session.populations.add(folder)

    @staticmethod
    def of(
        session: Session, plan: TrainingPlan, config: RunConfig, steps: Sequence[int]
    ) -> KeptPopulation | None:
        """Return the place of a population; None where nothing is kept."""
        if session.kept is None:
            return None
        return KeptPopulation(session, session.kept / population_hash(plan, config, steps))

    @property
    def hint(self) -> str:
        """What to do after a stop."""
        text = f"; the search is kept in {self.folder.parent}: give the same command to continue"
        return text if self.can_write else ""

    def state(self) -> dict[str, Tensor] | None:
        """Return the state that the training was stopped in."""
        return run_folder.load_tensors(self.path) if os.path.lexists(self.path) else None

    def save(self, state: dict[str, Tensor], acting: Mapping[int, Params], step: int) -> None:
        """Keep the state of the training."""
        self._write(run_folder.TRAINING, state)

    def finished(self) -> tuple[dict[int, Params], Curve] | None:
        """Return the snapshots by step and the curve of a population that was trained before."""
        path = self.folder / FINISHED
        if not os.path.lexists(path):
            return None
        tensors = run_folder.load_tensors(path)
        snapshots: dict[int, Params] = {}
        with Guard(path, "delete that file to search again"):
            for key in (k for k in tensors if not k.startswith("curve/")):
                step, _, name = key.partition("/")
                snapshots.setdefault(int(step), {})[name] = tensors[key]
            curve = {k.removeprefix("curve/"): v for k, v in tensors.items() if "curve/" in k}
            return snapshots, Curve(**curve)

    def finish(self, snapshots: Mapping[int, Params], curve: Curve) -> None:
        """Keep the snapshots and the curve in place of the state."""
        tensors = {
            f"{s}/{name}": v for s, params in snapshots.items() for name, v in params.items()
        }
        tensors |= {f"curve/{k}": v for k, v in vars(curve).items() if v is not None}
        if self._write(FINISHED, tensors):
            self.path.unlink(missing_ok=True)

    def _write(self, name: str, tensors: dict[str, Tensor]) -> bool:
        """Write a file; a search that cannot be kept continues."""
        if not self.can_write:
            return False
        try:
            make_folder(self.folder)
            with aside(self.folder / name, replace=True) as temporary:
                run_folder.save_tensors(tensors, temporary)
        except FormatError as error:
            self.can_write = False
            warnings.warn(f"the search is not kept: {error}", NotKept, stacklevel=2)
        return self.can_write


def population_hash(plan: TrainingPlan, config: RunConfig, steps: Sequence[int]) -> str:
    """Return a hash of everything that decides the bits of a population."""
    digest = hashlib.sha256()
    facts: list[Any] = [config.as_dict(), [repr(m) for m in plan.members], list(steps)]
    facts += [[data.fingerprint() for data in plan.held_out], torch.get_num_threads()]
    digest.update(json.dumps(facts, sort_keys=True, default=repr).encode())
    for pairs in plan.lists:
        digest.update(hashlib.sha256(pairs.tobytes()).digest())
    return digest.hexdigest()[:16]
