"""The base class of cells trains, measures and describes its rows."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest
import torch

from counterbc.acting.policies import Policies
from counterbc.data.demonstrations import Demonstrations
from counterbc.errors import DataError, InfeasibleActions, OptionError
from counterbc.experiments.cell import (
    Cell,
    check_counts,
    check_data,
    digest,
    reproducible,
    uses_search,
)
from counterbc.methods import METHODS
from counterbc.settings import Settings


@dataclass(frozen=True, kw_only=True)
class Minimal(Cell):
    """The least that a cell must define."""

    data: Demonstrations
    about: ClassVar = {"number": 7}
    title: ClassVar = "minimal"
    work: ClassVar = 1.0
    training: ClassVar = {"method": "bc", "seeds": [3, 5], "steps": 2, "hidden": (4,)}

    def datasets(self, device: str | None = None) -> list[Demonstrations]:
        return [self.data]

    def measure(
        self, policies: Policies, datasets: Sequence[Demonstrations]
    ) -> Iterator[tuple[int, dict[str, Any]]]:
        for i in (1, 0):
            yield i, {"size": len(policies), "threads": torch.get_num_threads()}


def test_rows_have_what_the_cell_measures_and_how_it_was_trained(tiny: Demonstrations) -> None:
    cell = Minimal(method="bc", seeds=2, data=tiny)
    table = cell.rows("cpu")
    rows = table.to_pylist()
    assert [(r["number"], r["seed"], r["size"], r["threads"]) for r in rows] == [
        (7, 5, 2, 1), (7, 3, 2, 1),
    ]  # fmt: skip
    assert rows[0]["fingerprint"] == tiny.fingerprint()
    contents = json.loads(table.schema.metadata[b"counterbc"])
    assert contents["cell"] == cell.about
    assert contents["config"]["settings"]["steps"] == 2
    assert rows[0]["kernel"] == contents["config"]["kernel"]


def test_a_name_is_the_title_and_a_hash_of_everything_that_decides_the_rows() -> None:
    # sha256 of {"number": 7}
    assert digest({"number": 7}) == digest({"number": 7})
    assert digest({"a": 1, "b": 2}) == digest({"b": 2, "a": 1})
    assert digest({"a": 1}) != digest({"a": 2})


def test_threads_are_restored_also_after_an_error() -> None:
    torch.set_num_threads(2)
    with pytest.raises(ZeroDivisionError), reproducible():
        1 / (torch.get_num_threads() - 1)
    assert torch.get_num_threads() == 2


def test_only_expected_warnings_are_silent() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with reproducible():
            warnings.warn("noise", InfeasibleActions, stacklevel=1)
            warnings.warn("other", UserWarning, stacklevel=1)
    assert [str(w.message) for w in caught] == ["other"]


def test_a_count_below_its_minimum_is_refused() -> None:
    check_counts(SimpleNamespace(seeds=1), seeds=1)
    with pytest.raises(OptionError, match="seeds is 0; it must be 1 or more"):
        check_counts(SimpleNamespace(seeds=0), seeds=1)


def test_data_without_what_a_method_needs_are_refused(tiny: Demonstrations) -> None:
    check_data("ileed", Settings(), tiny)
    nobody = replace(tiny, episodes=tuple(replace(e, operator=None) for e in tiny.episodes))
    with pytest.raises(DataError, match="needs operators"):
        check_data("ileed", Settings(), nobody)


def test_only_methods_with_a_radius_search_for_one() -> None:
    assert uses_search(Settings(radius="auto"), METHODS["counter-bc"])
    assert not uses_search(Settings(radius=0.4), METHODS["counter-bc"])
    assert not uses_search(Settings(radius="auto"), METHODS["bc"])
