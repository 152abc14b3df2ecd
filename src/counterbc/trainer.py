"""train(): from demonstrations and a method to policies."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from counterbc.acting.device import find_device
from counterbc.acting.policies import Policies
from counterbc.data.demonstrations import Demonstrations
from counterbc.files import check_free
from counterbc.methods import Method, find_method
from counterbc.settings import settings_for
from counterbc.training.checks import Radius, as_datasets
from counterbc.training.plan import Job
from counterbc.training.progress import Bar, Progress, Quiet

if TYPE_CHECKING:
    pass


def train(
    demos: Demonstrations | Sequence[Demonstrations],
    method: str | Method = "counter-bc",
    *,
    seeds: int | Sequence[int] | None = None,
    radii: Sequence[Radius] | None = None,
    preset: str = "default",
    start: Policies | None = None,
    device: str | torch.device | None = None,
    dtype: torch.dtype = torch.float32,
    out: str | Path | None = None,
    resume: bool = False,
    progress: bool | Progress = True,
    **changes: Any,
) -> Policies:
    """Train seeds × radii members at once.

    `demos` is one dataset for all seeds (by default one), or one dataset per seed. `changes` are
    fields of `Settings`, e.g. radius="auto" or steps=2000. `start` continues from trained policies,
    their scales included, on new pairs. With `out` the run is written to that folder, checkpoints
    on the way; `resume=True` finishes one that was stopped.
    """
    name, chosen = find_method(method)
    where = find_device(device)
    settings = settings_for(preset, **changes)
    datasets = as_datasets(demos)
    fitting = settings.apply(chosen, datasets[0].obs_shape)
    job = Job(datasets, name, fitting, settings, preset, start)
    job.assign(seeds, radii, keep_radius="radius" not in changes)
    folder = None if out is None else Path(out)
    if folder is not None and not (resume and folder.exists()):
        check_free(folder)
    if settings.radius == "auto" and radii is None:
        job.choose_radii(where, Bar("choosing Δ") if progress is True else Quiet())
    return job.run(
        where,
        dtype,
        folder,
        resume,
        (Bar(f"training {name}") if progress else Quiet())
        if isinstance(progress, bool)
        else progress,
    )
