"""Options that score, clean and report share."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from counterbc.cli import parse
from counterbc.commands.diagnosis_command import DiagnosisCommand
from counterbc.commands.options import field_docs
from counterbc.diagnosis.flow_labels import FLOW_HELD_OUT
from counterbc.selection.held_out import HeldOut
from counterbc.selection.radius import RadiusSearch
from tests.fixture_types import Call, CheckRefused


def command(*words: str, name: str = "score") -> DiagnosisCommand:
    parsed = parse([name, "demos.hdf5", *words])
    assert isinstance(parsed, DiagnosisCommand)
    return parsed


def test_without_options_the_radius_is_chosen_and_defaults_are_the_librarys() -> None:
    score = command()
    assert score.radius is None
    assert score.held_out_policies == HeldOut()
    assert score.search is None
    assert score.kernel == "auto"


def test_the_kernel_is_that_of_the_settings_or_the_one_that_was_typed() -> None:
    assert command("--kernel", "torch").kernel == "torch"
    assert command("--kernel", "torch").radius is None


@pytest.mark.parametrize(
    ("words", "radius"),
    [
        (("--radius", "auto"), None),
        (("--radius", "0.3"), 0.3),
        (("--radius", "0.3", "--radius", "0"), (0.3, 0.0)),
    ],
)
def test_the_radius_is_a_number_or_one_per_dimension_or_auto(
    words: tuple[str, ...], radius: object
) -> None:
    assert command(*words).radius == radius


def test_steps_hold_for_the_held_out_policies_and_for_the_search() -> None:
    score = command("--steps", "70", "--folds", "3")
    assert score.held_out_policies == HeldOut(steps=70, folds=3)
    assert score.search is not None
    assert score.search.steps == 70


def test_clean_chooses_the_lag_and_score_compares_at_the_same_step_unless_told() -> None:
    assert command("--out", "c.hdf5", name="clean").lag == "auto"
    assert command().lag == 0.0
    for words, lag in ((("0.2s",), "0.2s"), (("3",), 3.0), (("3", "--lag", "5"), (3.0, 5.0))):
        assert command("--lag", *words).lag == lag
    with pytest.raises(SystemExit):
        command("--lag", "3", name="report")


def test_flows_have_their_own_defaults_and_are_for_clean_alone() -> None:
    words = ("--out", "c.hdf5", "--policy", "flow", "--radius", "0.2")
    assert command(*words, name="clean").held_out_policies == FLOW_HELD_OUT
    more = command(*words, "--folds", "3", name="clean").held_out_policies
    assert more == replace(FLOW_HELD_OUT, folds=3)
    for name in ("score", "report"):
        with pytest.raises(SystemExit):
            command("--policy", "flow", name=name)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ((), "radius is auto, but the error of a held-out flow does not depend on"),
        (("--radius", 0.2, "--rounds", 2), "rounds is 2, but held-out flows are trained in one"),
    ],
)
def test_what_flows_cannot_do_is_refused_before_any_work(
    options: tuple[object, ...], words: str, demo_file: Path, tmp_path: Path, call: Call
) -> None:
    out = tmp_path / "c.hdf5"
    status, _, err = call("clean", demo_file, "--out", out, "--policy", "flow", *options)
    assert status == 1
    assert words in err
    assert not out.exists()


def test_every_option_and_group_has_a_help_text() -> None:
    for kind in (HeldOut, RadiusSearch):
        assert all(field_docs(kind).values()), f"a field of {kind.__name__} has no help"
    assert "intended action" in DiagnosisCommand.option_groups()["settings"].text


@pytest.mark.parametrize("name", ["score", "report"])
@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--radius", -1), "radius is -1.0; it must be a number of 0 or more"),
        (("--radius", 3), "radius is 3, but actions span [-1, 1]"),
        (("--device", "tpu"), "device"),
        (("--folds", 1), "folds is 1; it must be 2 or more"),
        (("--kernel", "jax"), "kernel is 'jax'; it must be auto, torch, numba, triton or cuda"),
    ],
)
def test_wrong_options_are_refused_before_the_demonstrations_are_read(
    name: str, options: tuple[object, ...], words: str, check_refused: CheckRefused
) -> None:
    check_refused(name, options, words)
