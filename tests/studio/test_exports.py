"""Exports: an exclude line that parses, a mask, and a cleaned copy."""

from __future__ import annotations

import shlex
from pathlib import Path

import h5py
import numpy as np
import pytest

from counterbc.cli import parse
from counterbc.errors import OptionError
from counterbc.formats import load, save
from counterbc.studio.dataset_view import DatasetView
from counterbc.studio.even_sample import EvenSample
from counterbc.studio.exports import exclude_line, export_cleaned, export_mask
from counterbc.studio.meant import MeantActions
from counterbc.studio.study_folder import StudyFolder
from tests.fixture_types import Make


@pytest.fixture
def view(make_demos: Make, study: StudyFolder) -> DatasetView:
    make_demos(noise=0.4).save(study.path / "my demos.hdf5")
    return DatasetView.open(study.path / "my demos.hdf5")


def test_the_exclude_line_is_a_command_that_parses(view: DatasetView) -> None:
    words = shlex.split(exclude_line(view, ["demo_1", "demo_3"]))
    command = parse(words[1:])
    assert command.demos == (view.path,)  # type: ignore[attr-defined]
    assert command.exclude == ("demo_1", "demo_3")  # type: ignore[attr-defined]
    with pytest.raises(OptionError, match="no episode is selected"):
        exclude_line(view, [])


def test_a_mask_is_written_to_a_copy(view: DatasetView, study: StudyFolder) -> None:
    path = export_mask(study, view, "good ones", ["demo_0", "demo_2"])
    assert path.name == "my demos-good-ones.hdf5"
    assert load(path).masks["good ones"] == ("demo_0", "demo_2")
    assert "good ones" not in load(view.path).masks
    with pytest.raises(OptionError, match="no episode"):
        export_mask(study, view, "good", [])


def test_formats_without_masks_are_refused(make_demos: Make, study: StudyFolder) -> None:
    save(make_demos(), study.path / "a.npz")
    with pytest.raises(OptionError, match="no masks"):
        export_mask(study, DatasetView.open(study.path / "a.npz"), "good", ["demo_0"])


def test_a_cleaned_copy_has_the_meant_actions_that_were_shown(
    view: DatasetView, study: StudyFolder
) -> None:
    assert view.sample is not None
    predictions = np.clip(view.sample.action + 0.3, -1, 1)[None].repeat(2, 0).astype(np.float64)
    predictions[1] += 0.01
    path = export_cleaned(study, view, predictions, 0.0, 0.2)
    reference = MeantActions(view.sample, predictions, 0.0).meant(slice(None), 0.2)
    np.testing.assert_allclose(load(path).action, reference, atol=1e-6)
    with h5py.File(path) as file:
        np.testing.assert_array_equal(
            file["data/demo_0/actions_shown"][:], view.sample.episodes[0].action
        )


@pytest.mark.filterwarnings("ignore::counterbc.errors.CannotTell")
def test_other_formats_are_cleaned_into_hdf5(make_demos: Make, study: StudyFolder) -> None:
    demos = make_demos(noise=0.4)
    save(demos, study.path / "a.npz")
    view = DatasetView.open(study.path / "a.npz")
    predictions = demos.action.astype(np.float64)[None].repeat(2, 0)
    path = export_cleaned(study, view, predictions, 1.0, 0.2)
    copy = load(path)
    assert copy.selected is not None  # the last pair of each episode has no answer
    assert len(copy.selected) == demos.pairs - len(demos.episodes)


def test_a_dataset_that_is_not_whole_in_memory_is_cleaned_elsewhere(
    view: DatasetView, study: StudyFolder
) -> None:
    part = DatasetView.open(view.path, EvenSample(pairs=25))
    with pytest.raises(OptionError, match="use counterbc clean"):
        export_cleaned(study, part, np.zeros((2, 20, 2)), 0.0, 0.2)


def test_masks_with_odd_names_get_plain_file_names(view: DatasetView, study: StudyFolder) -> None:
    path = export_mask(study, view, "ü", ["demo_0"])
    assert path == Path(study.path / "my demos-mask.hdf5")
