"""A copy of a checkpoint that LeRobot loads without this package.

Counter-BC changes what a policy learns from, not how it acts. So the copy has the type of the
policy that was changed, `act` or `diffusion`, the same weights, and none of our options.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from lerobot.configs.policies import PreTrainedConfig

FOLDER = "plain"
_MODEL = "model.safetensors"
_PROCESSORS = ("policy_preprocessor*", "policy_postprocessor*")


def write_plain_copy(
    checkpoint: Path,
    config: PreTrainedConfig,
    kind: type[PreTrainedConfig],
    make_processors: Callable[..., Any],
    stats: Mapping[str, Any] | None,
) -> None:
    """Write the folder `plain` into a checkpoint, with a configuration of type `kind`.

    The processors are built from the statistics of the dataset; without them, those of the
    checkpoint that the policy was loaded from are copied.
    """
    folder = checkpoint / FOLDER
    folder.mkdir(exist_ok=True)
    plain = kind(**{f.name: getattr(config, f.name) for f in fields(kind) if f.init})
    plain.pretrained_path = None
    plain._save_pretrained(folder)
    _link(checkpoint / _MODEL, folder / _MODEL)
    if stats is not None:
        for processor in make_processors(plain, dataset_stats=stats):
            processor.save_pretrained(folder)
    elif config.pretrained_path is not None:
        for pattern in _PROCESSORS:
            for file in Path(config.pretrained_path).glob(pattern):
                shutil.copyfile(file, folder / file.name)


def _link(source: Path, target: Path) -> None:
    """Make `target` the same file as `source`, or a copy where file systems have no links."""
    target.unlink(missing_ok=True)
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)
