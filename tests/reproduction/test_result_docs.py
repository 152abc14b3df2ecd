"""Pages say what the benchmarks behind them measured."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]


def blocks(name: str) -> list[str]:
    """What a benchmark makes of its rows on file, table by table and sentence by sentence."""
    benchmark: dict[str, Any] = vars(import_module(f"reproduction.studies.{name}"))
    rows = json.loads((ROOT / "reproduction" / "results" / name / "numbers.json").read_text())
    said: str = benchmark["markdown"](rows)
    return said.strip().split("\n\n")


@pytest.mark.parametrize(
    ("name", "tables"), [("scores", 2), ("clean", 2), ("intents", 1), ("modes", 2)]
)
def test_everything_that_a_benchmark_says_of_its_rows_is_in_its_page(
    name: str, tables: int
) -> None:
    page, said = (ROOT / "docs" / f"{name}.md").read_text(), blocks(name)
    assert [block for block in said if block not in page] == []
    assert sum(block.startswith("|") for block in said) == tables


def test_the_operators_of_can_are_scored_as_the_page_says_from_better_to_worse() -> None:
    said = json.loads(
        (ROOT / "reproduction" / "results" / "can-scores" / "numbers.json").read_text()
    )
    page = (ROOT / "docs" / "scores.md").read_text()
    people = sorted(said["operators"], key=lambda s: float(s["distance"]))
    for s in people:
        far = f"{s['distance']:.3f} [{s['low']:.3f}, {s['high']:.3f}]"
        assert f"| `{s['name']}` | {far} | {s['noise']:.3f} |" in page
    skills = [str(s["name"]).split("_")[1] for s in people]
    assert skills == ["better"] * 2 + ["okay"] * 2 + ["worse"] * 2


@pytest.mark.parametrize(
    ("name", "folder"),
    [("can", "reproduction/results/can"), ("push_t", "reproduction/results/push-t-default")],
)
def test_tables_of_recorded_worlds_are_those_of_the_rows_on_file(name: str, folder: str) -> None:
    benchmark: dict[str, Any] = vars(import_module(f"reproduction.studies.{name}"))
    page = (ROOT / "docs" / f"{name.replace('_', '-')}.md").read_text()
    assert benchmark["tables"](ROOT / folder, "default") in page


def test_the_tables_of_car_racing_are_those_of_the_rows_on_file() -> None:
    benchmark: dict[str, Any] = vars(import_module("reproduction.studies.car_racing"))
    wanted = benchmark["FigureOptions"]().grid(("car-racing",), benchmark["TEACHERS"])
    rows = benchmark["Study"](wanted, ROOT / "results" / "car-racing" / "rows").table().to_pylist()
    page = (ROOT / "docs" / "car-racing.md").read_text()
    assert benchmark["markdown"](rows, "lap", 100) in page
    assert benchmark["improvements"](rows) in page


def test_the_pedals_of_car_racing_are_those_on_file() -> None:
    benchmark: dict[str, Any] = vars(import_module("reproduction.studies.car_racing_pedals"))
    said = json.loads((ROOT / "reproduction" / "results" / "pedals" / "numbers.json").read_text())
    page = (ROOT / "docs" / "car-racing.md").read_text()
    assert benchmark["table"](said) in page
    assert benchmark["best"](said) in page


@pytest.mark.parametrize("brake", [-0.4, -0.1, 0.0, 0.1, 0.5])
def test_the_usual_brake_is_the_mean_of_a_noisy_one_that_is_cut_off(brake: float) -> None:
    benchmark: dict[str, Any] = vars(import_module("reproduction.studies.car_racing_pedals"))
    chance, action = np.linspace(-1, 1, 2001), np.array([0.1, 0.2, brake])
    cut = np.clip(brake + benchmark["NOISE"] * chance, 0, 1).mean()
    usual = benchmark["usual_brake"](action, action, chance[:3])
    np.testing.assert_allclose(usual, [0.1, 0.2, cut], atol=1e-3)


def test_exchanged_pedals_are_the_other_method_s_at_the_same_sight(tiny: Any, quick: Any) -> None:
    benchmark: dict[str, Any] = vars(import_module("reproduction.studies.car_racing_pedals"))
    policies = quick(tiny, "counter-bc", radii=(0.0, 0.4), seeds=2)
    sight = np.random.default_rng(0).normal(size=(12, 3))
    seen = policies.tensor(sight).unflatten(0, (4, 3))  # (P, tracks, S)
    own, other = (
        benchmark["driver"](policies, 3, "mean", swapped)(seen) for swapped in (False, True)
    )
    for drives, lends in ((0, 2), (1, 3), (2, 0), (3, 1)):
        act = policies[lends].actor().act
        np.testing.assert_allclose(other[drives], [act(s) for s in seen[drives].numpy()], atol=1e-5)
    done = benchmark["exchanged"](own, other, None)
    np.testing.assert_array_equal(done[..., :1], own[..., :1])
    np.testing.assert_array_equal(done[..., 1:], other[..., 1:])
