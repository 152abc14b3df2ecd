"""What leaves Look: a line that excludes episodes, a copy with a mask, a cleaned copy."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from pathlib import Path

from counterbc.data.arrays import Array
from counterbc.data.lags import lag_of
from counterbc.data.offsets import NO_OFFSETS
from counterbc.diagnosis.clean import write_cleaned, write_mask
from counterbc.diagnosis.meaning import meaning_of_predictions
from counterbc.errors import OptionError
from counterbc.formats import save
from counterbc.studio.dataset_view import DatasetView
from counterbc.studio.meant import SHAPE
from counterbc.studio.study_folder import StudyFolder


def exclude_line(view: DatasetView, names: Sequence[str]) -> str:
    """Return the command that trains without these episodes."""
    if not names:
        raise OptionError("no episode is selected; tick those to exclude first")
    words = [word for name in names for word in ("--exclude", name)]
    return shlex.join(["counterbc", "train", str(view.path), *words])


def export_mask(study: StudyFolder, view: DatasetView, mask: str, names: Sequence[str]) -> Path:
    """Write a copy of the dataset with a mask that names these episodes; return its path."""
    if view.format != "robomimic":
        raise OptionError(f"{view.format} files have no masks; convert the dataset to HDF5 first")
    if not names:
        raise OptionError("no episode is selected; tick those of the mask first")
    out = study.new_path(f"{view.path.stem}-{_plain(mask)}", ".hdf5")
    write_mask(view.path, out, mask, names)
    return out


def export_cleaned(
    study: StudyFolder, view: DatasetView, predictions: Array, lag: float, radius: float
) -> Path:
    """Write a copy of the dataset with the meant actions; return its path."""
    demos = view.sample
    if demos is None or not view.is_whole:
        raise OptionError("this dataset is too large for the page; use counterbc clean")
    delta = (radius,) * demos.action_size
    meaning = meaning_of_predictions(
        demos, predictions, delta, SHAPE, lag_of(lag, demos), NO_OFFSETS
    )
    out = study.new_path(f"{view.path.stem}-meant", ".hdf5")
    if view.format == "robomimic":
        options = {"radius": meaning.radius, "shape": SHAPE, "lag": meaning.lag}
        write_cleaned(meaning, view.path, out, options)
    else:
        save(meaning.cleaned, out)
    return out


def _plain(name: str) -> str:
    """Return letters and digits of a name, for a file name."""
    return re.sub(r"[^A-Za-z0-9_]+", "-", name).strip("-") or "mask"
