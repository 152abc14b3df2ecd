"""The presets and single choices."""

from __future__ import annotations

import pytest

from counterbc.settings import settings_for
from reproduction.studies import presets


@pytest.mark.parametrize("case", presets.CASES)
def test_every_case_is_a_preset_with_known_settings(case: str) -> None:
    preset, methods, changes = presets.CASES[case]
    settings = settings_for(preset, **changes)
    assert case.split(",")[0] == preset
    assert "counter-bc" in methods
    assert all(getattr(settings, name) == value for name, value in changes.items())


def test_the_table_has_a_line_per_case_and_method() -> None:
    row = {"case": "paper", "method": "bc", "sample": {"mean": 1, "se": 0.1}}
    row["mean"] = {"mean": 2, "se": 0.2}
    assert presets.markdown([row], "preset").splitlines() == [
        "| preset | method | act=sample | act=mean |",
        "|---|---|---|---|",
        "| paper | bc | 1.00 ± 0.10 | 2.00 ± 0.20 |",
    ]
