"""A comparison gives every method, and the expert, the same starts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
import torch

from counterbc.demonstrators import NO_ERROR, UniformNoise, returns
from counterbc.errors import OptionError
from counterbc.experiments.comparison import Comparison, Outcome, same_starts
from tests.experiments.cells import TINY


def test_a_teacher_without_errors_earns_what_the_expert_earns() -> None:
    result = same_starts("intersection", NO_ERROR, [3, 3])
    assert result.demonstrated == result.expert
    assert (result.difference.mean, result.difference.se) == (0.0, 0.0)


def test_the_difference_to_the_expert_is_paired_by_run() -> None:
    noisy = UniformNoise(0.5)
    result = same_starts("intersection", noisy, [2, 3])
    gaps = [
        returns("intersection", noisy, n, k).mean() - returns("intersection", NO_ERROR, n, k).mean()
        for k, n in enumerate((2, 3))
    ]
    assert result.difference.mean == pytest.approx(np.mean(gaps))
    assert result.difference.se == pytest.approx(abs(gaps[0] - gaps[1]) / 2)
    assert result.difference.mean == pytest.approx(result.demonstrated - result.expert)


def outcome(methods: tuple[str, ...]) -> Outcome:
    comparison = Comparison(replace(TINY, radius=0.4), methods, device="cpu")
    tables = {method: cell.rows("cpu") for method, cell in comparison.cells().items()}
    starts = same_starts("intersection", NO_ERROR, [2, 2])
    return Outcome(comparison=comparison, tables=tables, expert=0.0, same_starts=starts)


def test_methods_see_the_same_demonstrations_and_are_compared_with_bc_run_by_run() -> None:
    result = outcome(("bc", "counter-bc"))
    first, second = (table.to_pylist() for table in result.tables.values())
    assert [r["fingerprint"] for r in first] == [r["fingerprint"] for r in second]
    table = {(row["method"], row["act"]): row for row in result.table()}
    assert "above_bc" not in table["bc", "mean"]
    gains = result.runs("counter-bc", "mean") - result.runs("bc", "mean")
    assert table["counter-bc", "mean"]["above_bc"]["mean"] == pytest.approx(gains.mean())
    assert table["bc", "sample"]["mean"] == pytest.approx(
        np.mean([r["return"] for r in first if r["act"] == "sample"])
    )


def test_the_rows_of_all_methods_are_in_one_file(tmp_path: Path) -> None:
    outcome(("bc", "bcnd")).write(tmp_path / "rows.parquet")
    rows = pq.read_table(tmp_path / "rows.parquet").to_pylist()
    assert [r["method"] for r in rows] == ["bc"] * 4 + ["bcnd"] * 4
    assert all(r["kernel"] and r["torch"] == str(torch.__version__) for r in rows)


def test_too_few_pairs_for_the_shards_of_a_method_are_refused() -> None:
    with pytest.raises(OptionError, match="pairs is 3; it must be 4 or more"):
        Comparison(replace(TINY, pairs=3))
