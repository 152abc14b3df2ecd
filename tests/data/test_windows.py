"""Windows of observations end at their pair and begin at the start of its episode."""

from __future__ import annotations

import torch

from counterbc.data.windows import window_rows


def test_a_window_holds_the_rows_up_to_its_pair_by_hand() -> None:
    pairs, starts = torch.tensor([[0, 2], [5, 9]]), torch.tensor([[0, 0], [4, 4]])
    rows, inside = window_rows(pairs, starts, 3)
    assert rows.tolist() == [[[0, 0, 0], [0, 1, 2]], [[4, 4, 5], [7, 8, 9]]]
    expected = [[[False, False, True], [True] * 3], [[False, True, True], [True] * 3]]
    assert inside.tolist() == expected


def test_a_history_of_one_is_the_pair_alone() -> None:
    rows, inside = window_rows(torch.tensor([3, 4]), torch.tensor([0, 4]), 1)
    assert rows.tolist() == [[3], [4]]
    assert bool(inside.all())
