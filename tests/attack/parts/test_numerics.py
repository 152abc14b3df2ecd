"""Awkward numbers: results that are not finite are a finding."""

from __future__ import annotations

import pytest

from attack.commands import Result
from attack.part import Finding
from attack.parts import numerics
from counterbc.errors import CounterBCError


def test_json_without_finite_numbers_is_a_finding() -> None:
    numerics._check_result("x", "inspect", Result(0, '{"a": null}', ""))
    with pytest.raises(Finding, match="NaN in JSON"):
        numerics._check_result("x", "inspect", Result(0, '{"a": NaN}', ""))


def test_a_refusal_needs_a_sentence() -> None:
    numerics._check_result("x", "score", Result(1, "", "error: two pairs are too few; add some\n"))
    with pytest.raises(Finding, match="x, score"):
        numerics._check_result("x", "score", Result(1, "", "oops\n"))


def test_datasets_are_made_or_refused() -> None:
    made_count = 0
    for make in numerics.DATASETS.values():
        try:
            made_count += make().pairs > 0
        except CounterBCError:
            continue
    assert made_count > 20
