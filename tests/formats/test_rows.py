from __future__ import annotations

import numpy as np
import pytest

from counterbc.errors import FormatError
from counterbc.formats.rows import Rows, column, episode_name, lengths_from_ends, runs


def test_rows_are_taken_in_order_and_each_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("counterbc.formats.rows._BLOCK", 16)  # four rows of four bytes
    values, reads = np.arange(10, dtype=np.float32), []

    def read(start: int, stop: int) -> np.ndarray:
        reads.append((start, stop))
        return values[start:stop]

    rows = Rows(read, values.shape, row=4)
    assert [rows.take(n).tolist() for n in (3, 2, 0, 5)] == [[0, 1, 2], [3, 4], [], [5, 6, 7, 8, 9]]
    assert reads == [(0, 0), (0, 4), (4, 8), (8, 10)]


def test_an_episode_longer_than_a_block_is_read_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("counterbc.formats.rows._BLOCK", 4)
    values = np.arange(7)
    assert Rows(lambda a, b: values[a:b], values.shape, row=8).take(7).tolist() == list(range(7))


def test_lengths_are_the_differences_of_the_ends() -> None:
    assert lengths_from_ends(np.array([2, 2, 5]), 5, "ends").tolist() == [2, 0, 3]


@pytest.mark.parametrize("ends", [[], [2, 4], [3, 2, 5], [5.0], [[5]]])
def test_ends_that_do_not_increase_up_to_the_number_of_rows_are_refused(ends: list[float]) -> None:
    with pytest.raises(FormatError, match=r"ends must be whole numbers that increase up to .* 5"):
        lengths_from_ends(np.array(ends), 5, "ends")


def test_runs_of_equal_ids_are_episodes() -> None:
    names, lengths = runs(np.array([7, 7, 3, 3, 3]), "episode")
    assert names == ["demo_7", "demo_3"]
    assert lengths.tolist() == [2, 3]


def test_an_id_in_two_runs_is_refused() -> None:
    with pytest.raises(FormatError, match="episode 'demo_7' occurs in two separate blocks"):
        runs(np.array([7, 3, 7]), "episode")


@pytest.mark.parametrize(
    ("value", "name"),
    [(3, "demo_3"), (3.0, "demo_3"), ("3.0", "demo_3"), (b"03", "demo_3"), (3.5, "3.5"),
     ("-3", "-3"), ("³", "³"), ("run 3", "run 3")],
)  # fmt: skip
def test_whole_numbers_become_demo_names_and_other_values_stay_as_text(
    value: object, name: str
) -> None:
    assert episode_name(value) == name


def test_a_vector_becomes_one_column() -> None:
    assert column(np.zeros(3)).shape == (3, 1)
    assert column(np.zeros((3, 2))).shape == (3, 2)
