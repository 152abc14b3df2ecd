"""What a progress bar shows."""

from __future__ import annotations

import torch

from counterbc.training.progress import Bar, loss_text


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
