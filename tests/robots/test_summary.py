"""The summary counts what happened, and keeps the people's lag apart from the loop's latency."""

from __future__ import annotations

from dataclasses import replace

import pytest

from counterbc.robots.summary import check_facts, policy_rate, quantiles, summarize, trained_lag
from tests.robots.test_tick_log import tick


def test_faults_and_missed_deadlines_are_counted() -> None:
    ticks = [replace(tick(i), missed=i % 2, fault="camera lost" * (i == 3)) for i in range(4)]
    summary = summarize(ticks)
    assert (summary["ticks"], summary["missed"], summary["faults"]) == (4, 2, {"camera lost": 1})


def test_quantiles_are_in_milliseconds_and_skip_what_was_not_measured() -> None:
    assert quantiles([0.001, None, 0.003]) == {"p50": 2.0, "p99": 2.98, "max": 3.0}
    assert quantiles([None]) == {"p50": None, "p99": None, "max": None}


def test_old_files_name_no_rate() -> None:
    assert (policy_rate({}), policy_rate({"rate": "12.5"})) == (None, 12.5)


@pytest.mark.parametrize("about", [{}, {"lag": "null"}, {"lag": "[2.0, 1]", "rate": "12.5"}])
def test_facts_that_are_numbers_or_missing_are_accepted(about: dict[str, str]) -> None:
    check_facts(about)


@pytest.mark.parametrize(
    "about",
    [{"lag": text} for text in ("abc", "3.0", "[null]", '["x"]', "[NaN]", "[1" + 400 * "0" + "]")]
    + [{"rate": text} for text in ("null", "[20]", "0", "-5", "NaN")],
)
def test_facts_that_are_no_numbers_are_refused(about: dict[str, str]) -> None:
    with pytest.raises(ValueError, match=r"its rate .* or lag .* is no number"):
        check_facts(about)


def test_nothing_happened_in_an_empty_run() -> None:
    assert summarize([])["ticks"] == 0


def test_the_lag_of_the_demonstrators_is_given_in_steps_and_milliseconds() -> None:
    assert trained_lag({"lag": "[3.0]"}, 20) == {"steps": [3.0], "ms": [150.0]}
    at_10_hz = {"lag": "[3.0]", "rate": "10"}
    assert trained_lag(at_10_hz, 20) == {"steps": [3.0], "ms": [300.0]}
    assert trained_lag({}, 20) == {"steps": None, "ms": None}
