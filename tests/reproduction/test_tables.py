"""Tables of a study: shares with Wilson's interval, and differences seed by seed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from counterbc.acting.intervals import wilson
from counterbc.errors import DataError
from reproduction.tables import archived_rows, compare_methods, markdown


def rows(label: str, values: list[float], right: list[float], radius: float = 0.0) -> Any:
    return pd.DataFrame(
        {
            "label": label,
            "seed": range(len(values)),
            "best": values,
            "success": right,
            "success_count": [0 if np.isnan(r) else 50 for r in right],
            "radius_used": [[radius, 0.0]] * len(values),
        }
    )


BC = rows("bc", [0.1, 0.2, 0.3], [0.0, 0.02, 0.04])
CBC = rows("counter-bc-0.4", [0.2, 0.3, 0.5], [0.5, 0.5, np.nan], 0.4)


def test_wilsons_interval_is_that_of_the_textbook() -> None:
    assert wilson(0, 50) == pytest.approx((0.0, 0.0713), abs=1e-4)
    assert wilson(25, 50) == pytest.approx((0.3664, 0.6336), abs=1e-4)
    assert wilson(50, 50) == pytest.approx((0.9287, 1.0), abs=1e-4)
    with pytest.raises(DataError, match="3 of 2 is no share"):
        wilson(3, 2)


def test_a_line_counts_episodes_and_differs_seed_by_seed() -> None:
    bc, other = compare_methods(pd.concat([BC, CBC]), "best")
    assert (bc.label, bc.above, bc.successes, bc.episodes) == ("bc", None, 3, 150)
    assert bc.radius == (0.0, 0.0, 0.0)
    assert bc.value.mean == pytest.approx(0.2)
    assert other.above is not None
    assert other.above.interval.mean == pytest.approx(0.4 / 3)
    assert (other.successes, other.episodes) == (50, 100)  # a diverged seed has no episodes
    assert other.radius == (0.4, 0.4, 0.4)


def test_the_base_stands_in_the_table_without_a_difference() -> None:
    text = markdown(compare_methods(pd.concat([BC, CBC]), "best"), "best").splitlines()
    assert text[2] == "| bc | 0.200 [−0.048, 0.448] |  |  | 3 of 150: 2.0 % [0.7, 5.7] |"
    assert text[3].startswith(
        "| counter-bc-0.4 | 0.333 [−0.046, 0.713] | +0.133 [−0.010, +0.277] |"
    )


def test_rows_of_several_studies_are_not_mixed() -> None:
    with pytest.raises(DataError, match="several rows of a seed"):
        compare_methods(pd.concat([BC, BC]), "best")
    with pytest.raises(DataError, match="no rows of bc to compare with"):
        compare_methods(CBC, "best")


def test_rows_come_from_the_archive_of_a_study(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"rows.parquet does not exist; run the study first"):
        archived_rows(tmp_path)
    BC.to_parquet(tmp_path / "rows.parquet")
    assert archived_rows(tmp_path)["best"].tolist() == [0.1, 0.2, 0.3]
