"""A cell of simulated demonstrations is named by all its numbers, and its methods see the same."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
import torch

from counterbc.errors import OptionError
from counterbc.experiments.cell import compute_rows
from tests.experiments.cells import TINY, repeatable


def test_rows_contain_the_cell_and_its_measurements() -> None:
    table = TINY.rows("cpu")
    rows = table.to_pylist()
    assert [(r["act"], r["seed"]) for r in rows] == [
        ("mean", 0), ("mean", 1), ("sample", 0), ("sample", 1),
    ]  # fmt: skip
    first = rows[0]
    assert (first["world"], first["teacher"], first["sigma"]) == ("intersection", "uniform", 0.5)
    assert (first["method"], first["pairs"], first["steps"], first["length"]) == ("bc", 20, 4, 20.0)
    assert (first["device"], first["torch"]) == ("cpu", str(torch.__version__))
    assert first["kernel"] in ("torch", "numba")
    assert first["fingerprint"] != rows[1]["fingerprint"]
    assert json.loads(table.schema.metadata[b"counterbc"])["cell"] == TINY.about


def test_the_methods_of_a_seed_see_the_same_demonstrations() -> None:
    with_pool = replace(TINY, world="cartpole", pool=200)
    for cell in (TINY, with_pool):
        a = cell.rows("cpu").to_pylist()
        b = replace(cell, method="counter-bc", radius=0.4).rows("cpu").to_pylist()
        assert [r["fingerprint"] for r in a] == [r["fingerprint"] for r in b]


def test_a_measure_of_the_world_becomes_a_column() -> None:
    hockey = replace(TINY, world="air-hockey", teacher="crowd", sigma=None, pool=50, episodes=1)
    rows = hockey.rows("cpu").to_pylist()
    assert all(r["hits"] >= 0 and 0 < r["time_per_hit"] < 30.01 for r in rows)
    assert all(r["sigma"] is None for r in rows)
    assert hockey.performance == "return"
    assert replace(TINY, world="car-racing").performance == "tiles"


def test_every_number_of_a_cell_is_in_its_name() -> None:
    changes: list[dict[str, Any]] = [
        {"world": "cartpole"}, {"teacher": "gaussian"}, {"sigma": 0.25}, {"pairs": 40},
        {"method": "bcnd"}, {"radius": 0.1}, {"radius": "auto"}, {"pool": 100}, {"seeds": 3},
        {"episodes": 3}, {"preset": "paper"}, {"steps": 5}, {"changes": {"batch": 3}},
        {"acts": ("mean",)},
    ]  # fmt: skip
    names = {TINY.name, *(replace(TINY, **change).name for change in changes)}
    assert len(names) == 1 + len(changes)
    assert replace(TINY, steps=None).name == replace(TINY, steps=10_000).name


def test_a_name_does_not_change_between_versions() -> None:
    # Archived results are found by these names.
    assert TINY.name == "intersection-uniform-0.5-20-bc-927514ea"
    with_pool = replace(TINY, method="counter-bc", radius=0.4, pool=100)
    assert with_pool.name == "intersection-uniform-0.5-20-counter-bc-0.4-aaf12c68"


def test_settings_and_ways_of_acting_reach_the_training_and_the_rows() -> None:
    cell = replace(TINY, changes={"hidden": (8,)}, acts=("mean",))
    (first, second) = cell.rows("cpu").to_pylist()
    assert (first["act"], second["act"]) == ("mean", "mean")
    assert json.loads(first["changes"]) == {"hidden": [8]}


def test_cells_trained_together_have_the_rows_of_each_alone() -> None:
    cells = [TINY, replace(TINY, teacher="gaussian")]
    tables = compute_rows(cells, "cpu")
    assert [repeatable(tables[c.name]) for c in cells] == [repeatable(c.rows("cpu")) for c in cells]
    assert set(compute_rows(cells, "cpu", [TINY.name])) == {TINY.name}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"world": "nowhere"}, "unknown world 'nowhere'; allowed: intersection"),
        ({"teacher": "nobody", "sigma": None}, "unknown teacher 'nobody'"),
        ({"teacher": "synthetic_okay_1", "sigma": None}, "synthetic_okay_1 cannot act in"),
        ({"pool": 10}, "pool is 10; it must be 20 to 10000000, or 0"),
        ({"method": "bcnd", "pairs": 3}, "pairs is 3; it must be 4 or more"),
        ({"seeds": 0}, "seeds is 0; it must be 1 or more"),
        ({"changes": {"batch": 0}}, "batch is 0"),
    ],
)
def test_a_cell_that_cannot_be_computed_is_refused_at_once(
    change: dict[str, Any], message: str
) -> None:
    with pytest.raises(OptionError, match=message):
        replace(TINY, **change)


def test_work_is_the_seconds_of_training_on_one_core() -> None:
    # 50 networks, 10,000 steps, batch 40: 50 · 10,000 · 60 µs = 30 s of BC.
    bc = replace(TINY, pairs=400, seeds=50, steps=10_000)
    assert bc.work == pytest.approx(30)
    # BCND trains 4 networks on 100 pairs each, three times over.
    assert replace(bc, method="bcnd").work == pytest.approx(50 * 12 * 10_000 * 30e-6)
    assert replace(bc, method="bc-rnn").work == pytest.approx(5 * 3 * 30)
    # Settings that differ from the preset's count: a batch of 4, and another policy.
    assert replace(bc, changes={"batch": 4}).work == pytest.approx(50 * 10_000 * 24e-6)
    assert replace(bc, changes={"policy": "gaussian-gru"}).work == pytest.approx(5 * 3 * 30)
