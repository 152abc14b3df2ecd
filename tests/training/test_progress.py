"""What a progress bar shows."""

from __future__ import annotations

import pytest
import torch

from counterbc.training.progress import Bar, Quiet, displays_of, loss_text, progress_line


def test_the_loss_is_the_mean_of_the_networks_that_are_finite() -> None:
    nan = float("nan")
    assert loss_text(torch.tensor([1.0, nan, 2.0, float("inf")])) == "1.500"
    assert loss_text(torch.tensor([nan])) == "not finite"
    assert loss_text(torch.empty(0)) == "…", "work without a loss"


def test_a_bar_names_the_kernel_and_counts_steps() -> None:
    bar = Bar("training bc")
    bar.start(10, 100, "numba")
    bar.update(30, torch.tensor([0.25]))
    bar.stop()
    (task,) = bar.bars.tasks
    assert task.description == "training bc (numba)"
    assert (task.completed, task.total) == (30, 100)
    assert task.fields["loss"] == "0.250"


def test_a_line_without_a_terminal_has_steps_loss_and_time_left() -> None:
    bar = Bar("training bc")
    bar.start(0, 6400, "numba")
    assert progress_line(bar.bars.tasks[0]) == "training bc (numba): 0 of 6,400, loss …"
    for step in (1000.5, 2010.5):
        bar.update(step, torch.tensor([0.25]))
    line = progress_line(bar.bars.tasks[0])
    assert line.startswith("training bc (numba): 2,010 of 6,400, loss 0.250, about ")
    assert line.endswith(" left")
    bar.stop()


def test_the_last_line_of_a_finished_training_says_nothing_about_time_left(
    capsys: pytest.CaptureFixture[str],
) -> None:
    bar = Bar("tuning")
    bar.start(0, 2, "torch")
    bar.update(2, torch.tensor([1.0]))
    bar.stop()
    assert capsys.readouterr().err == "tuning (torch): 2 of 2, loss 1.000\n"


def test_each_phase_has_a_display_of_what_was_given() -> None:
    bar, displays, quiet = displays_of(True)("choosing"), displays_of(False), Quiet()
    assert isinstance(bar, Bar)
    assert bar.title == "choosing"
    assert isinstance(displays("choosing"), Quiet)
    assert displays_of(quiet)("choosing") is displays_of(quiet)("training bc") is quiet
    titled_bar = displays_of(Bar)("training bc")
    assert isinstance(titled_bar, Bar)
    assert titled_bar.title == "training bc"
