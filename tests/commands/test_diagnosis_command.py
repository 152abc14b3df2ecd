"""Options that score, clean and report share."""

from __future__ import annotations

import pytest

from counterbc.cli import parse
from counterbc.commands.diagnosis_command import DiagnosisCommand
from counterbc.commands.options import field_docs
from counterbc.selection.held_out import HeldOut
from counterbc.selection.radius import RadiusSearch
from tests.fixture_types import CheckRefused


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


def test_every_option_and_group_has_a_help_text() -> None:
    for kind in (HeldOut, RadiusSearch):
        assert all(field_docs(kind).values()), f"a field of {kind.__name__} has no help"
    assert "intended action" in DiagnosisCommand.option_groups()["settings"].text


@pytest.mark.parametrize("name", ["score", "report"])
@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--radius", -1), "radius is -1.0; it must be a number of 0 or more"),
        (("--device", "tpu"), "device"),
        (("--folds", 1), "folds is 1; it must be 2 or more"),
        (("--kernel", "jax"), "kernel is 'jax'; it must be auto, torch, numba or triton"),
    ],
)
def test_wrong_options_are_refused_before_the_demonstrations_are_read(
    name: str, options: tuple[object, ...], words: str, check_refused: CheckRefused
) -> None:
    check_refused(name, options, words)
