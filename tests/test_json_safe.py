"""Values for JSON."""

from __future__ import annotations

import json

from counterbc.json_safe import without_nan


def test_numbers_that_json_does_not_know_become_null_at_every_depth() -> None:
    value = {"a": [1.0, float("nan"), (float("inf"), 2)], "b": {"c": -float("inf")}, "d": "nan"}
    clean = without_nan(value)
    assert clean == {"a": [1.0, None, [None, 2]], "b": {"c": None}, "d": "nan"}
    assert json.loads(json.dumps(clean, allow_nan=False)) == clean


def test_other_values_stay_as_they_are() -> None:
    values: tuple[object, ...] = (None, True, 3, -0.5, "text", {})
    for value in values:
        assert without_nan(value) == value
