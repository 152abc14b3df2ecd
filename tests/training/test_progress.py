"""What a progress bar shows."""

from __future__ import annotations

import pytest
import torch

from counterbc.training.progress import LINE_EVERY, Bar, loss_text


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


def test_without_a_terminal_a_line_appears_every_ten_seconds(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert LINE_EVERY == 10
    now = [0.0]
    monkeypatch.setattr("counterbc.training.progress.time.monotonic", lambda: now[0])
    bar = Bar("training bc")
    bar.start(0, 6400, "numba")
    for second in range(1, 36):
        now[0] = float(second)
        bar.update(100.5 * second, torch.tensor([0.25]))
    bar.stop()
    lines = capsys.readouterr().err.splitlines()
    assert [line.partition(", loss 0.250")[0] for line in lines] == [
        f"training bc (numba): {count} of 6,400" for count in ("1,005", "2,010", "3,015", "3,517")
    ]
    assert all(" left" in line for line in lines)


def test_the_last_line_of_a_finished_training_says_nothing_about_time_left(
    capsys: pytest.CaptureFixture[str],
) -> None:
    bar = Bar("tuning")
    bar.start(0, 2, "torch")
    bar.update(2, torch.tensor([1.0]))
    bar.stop()
    assert capsys.readouterr().err == "tuning (torch): 2 of 2, loss 1.000\n"
