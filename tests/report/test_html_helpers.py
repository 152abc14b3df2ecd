"""Small functions of the page."""

from __future__ import annotations

from dataclasses import replace

from counterbc.report.findings import Findings
from counterbc.report.html_helpers import absent, digits, section, signed


def test_numbers_have_few_digits_and_a_true_minus() -> None:
    assert digits(-1234.567) == "−1235"
    assert digits(0.126, 2) == "0.13"
    assert digits(float("nan")) == "–"
    assert (signed(-0.5), signed(0.25)) == ("−0.50", "+0.25")


def test_a_section_has_an_anchor() -> None:
    assert section("Two words") == '<section id="two-words"><h2>Two words</h2></section>'


def test_the_reason_of_an_absent_stage_is_a_sentence(findings: Findings) -> None:
    without = replace(findings, reasons={"scores": "no time."})
    assert absent(without, "scores") == '<p class="missing">Not done: no time.</p>'
