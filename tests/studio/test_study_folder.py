"""No path from a page reaches outside the study folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from counterbc.errors import FormatError, OptionError
from counterbc.studio.study_folder import CONSENT, LONGEST_CONSENT, StudyFolder
from tests.fixture_types import Make, Train


def test_a_new_study_has_a_consent_text_that_can_be_edited(tmp_path: Path) -> None:
    study = StudyFolder.open(tmp_path / "a" / "study")
    assert study.consent() == CONSENT
    (study.path / "consent.txt").write_text("I agree to be tested.", encoding="utf-8")
    assert StudyFolder.open(study.path).consent() == "I agree to be tested."


def test_a_consent_text_is_never_cut(tmp_path: Path) -> None:
    study, text = StudyFolder.open(tmp_path / "study"), tmp_path / "text.txt"
    text.write_text("ü" * LONGEST_CONSENT, encoding="utf-8")
    study.set_consent(text)
    assert study.consent() == "ü" * LONGEST_CONSENT
    text.write_text("x" * (LONGEST_CONSENT + 1), encoding="utf-8")
    with pytest.raises(FormatError, match="more than 20000 characters; shorten it"):
        study.set_consent(text)
    assert study.consent() == "ü" * LONGEST_CONSENT  # what was there is kept
    (study.path / "consent.txt").write_text("x" * (LONGEST_CONSENT + 1), encoding="utf-8")
    with pytest.raises(FormatError, match=r"consent\.txt has more than 20000"):
        study.consent()


@pytest.mark.parametrize(
    "name",
    ["../secret", "a/../../secret", "/etc/passwd", "..", ".", "", "a//b", "a\\b", "a\0b", "./a"],
)
def test_paths_that_lead_outside_are_refused(study: StudyFolder, name: str) -> None:
    with pytest.raises(OptionError, match="study folder"):
        study.inside(name)


def test_links_that_lead_outside_are_refused_and_not_listed(
    study: StudyFolder, tmp_path: Path
) -> None:
    (tmp_path / "secret.hdf5").write_text("secret")
    (study.path / "link.hdf5").symlink_to(tmp_path / "secret.hdf5")
    (study.path / "folder").symlink_to(tmp_path)
    for name in ("link.hdf5", "folder/secret.hdf5"):
        with pytest.raises(OptionError, match="outside"):
            study.inside(name)
    assert study.list_datasets() == {}


def test_a_path_in_the_study_is_found(study: StudyFolder) -> None:
    assert study.inside("runs/bc") == study.path / "runs" / "bc"


def test_a_new_path_does_not_exist_yet(study: StudyFolder) -> None:
    assert study.new_path("a", ".hdf5").name == "a.hdf5"
    (study.path / "a.hdf5").touch()
    assert study.new_path("a", ".hdf5").name == "a-2.hdf5"
    with pytest.raises(OptionError, match="study folder"):
        study.new_path("../a")


def test_sessions_get_names_that_no_other_has(study: StudyFolder) -> None:
    assert study.new_session("cartpole") == "cartpole-001"
    assert study.new_session("intersection") == "intersection-002"
    (study.path / "air-hockey-007.hdf5").touch()
    assert study.new_session("cartpole") == "cartpole-008"


def test_datasets_and_runs_are_listed_by_relative_name(
    study: StudyFolder, make_demos: Make, quick: Train, tmp_path: Path
) -> None:
    demos = make_demos()
    demos.save(study.path / "a.hdf5")
    demos.save(tmp_path / "outside.npz")
    quick(demos, "bc").save(study.path / "runs" / "bc")
    (study.path / "notes.md").touch()
    folder = StudyFolder.open(study.path, [tmp_path / "outside.npz"])
    assert list(folder.list_datasets()) == ["#0 outside.npz", "a.hdf5"]
    assert list(folder.list_runs()) == ["runs/bc"]


def test_many_recordings_hide_no_run_and_what_is_not_listed_is_counted(
    study: StudyFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    for i in range(520):
        (study.path / f"cartpole-{i:03d}.hdf5").touch()
    for name in ("a", "b", "c"):
        (study.path / "runs" / name).mkdir()
        for file in ("config.json", "model.safetensors"):
            (study.path / "runs" / name / file).touch()
    assert list(study.list_runs()) == ["runs/a", "runs/b", "runs/c"]
    assert (len(study.list_datasets()), study.list_datasets().unlisted) == (520, 0)
    monkeypatch.setattr("counterbc.studio.study_folder.LIST_LIMIT", 2)
    assert (list(study.list_runs()), study.list_runs().unlisted) == (["runs/a", "runs/b"], 1)
    assert study.list_datasets().unlisted == 518


def test_what_is_named_must_exist(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="does not exist"):
        StudyFolder.open(tmp_path / "study", [tmp_path / "no.hdf5"])
