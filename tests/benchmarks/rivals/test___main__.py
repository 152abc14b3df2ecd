"""What the contest of rivals makes of its measurements."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.rivals.__main__ import HAS, WORKERS, check_losses, summarize
from benchmarks.rivals.environments import INSTALLS
from benchmarks.rivals.problem import METHODS


def test_losses_that_differ_are_named_and_not_stored() -> None:
    rows: list[dict[str, Any]] = [
        {"rival": "counterbc", "method": "bc", "losses": [1.0, 2.0]},
        {"rival": "a", "method": "bc", "losses": [1.001]},
        {"rival": "b", "method": "bc", "losses": [1.0, 2.1]},
        {"rival": "c", "method": "bc", "losses": None},
        {"rival": "d", "method": "bc", "losses": [float("nan"), 2.0]},
    ]
    assert [text.split(":")[0] for text in check_losses(rows)] == ["b", "d"]
    assert rows[1]["difference of losses"] == pytest.approx(1e-3)
    assert not any("losses" in row for row in rows)


def test_rounds_become_medians_with_quartiles() -> None:
    rows: list[dict[str, Any]] = [
        {"wall": [4.0, 1.0, 2.0, 3.0, 5.0], "cpu": [1.0] * 5},
        {"error": "broken", "wall": [], "cpu": []},
    ]
    summarize(rows)
    assert rows[0] == {"wall µs": [3.0, 2.0, 4.0], "cpu µs": [1.0, 1.0, 1.0]}
    assert rows[1] == {"error": "broken"}


def test_every_rival_has_an_environment_and_known_methods() -> None:
    assert {environment for environment, _ in WORKERS.values()} == {"ours", *INSTALLS}
    assert all(set(methods) <= set(METHODS) for methods in HAS.values())
