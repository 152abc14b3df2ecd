"""A message is one sentence, after warnings at most; anything else is a finding."""

from __future__ import annotations

import pytest

from attack.part import Finding, explain, hides_memory, is_sentence


def test_a_sentence_after_warnings_is_accepted() -> None:
    text = "warning: something else\nerror: x is missing; copy it again\n"
    assert explain(text) == "error: x is missing; copy it again"


@pytest.mark.parametrize(
    ("err", "outcome"),
    [
        ("", "bad message"),
        ("Segmentation fault\n", "bad message"),
        ("error: " + "x" * 2000, "bad message"),
        ("noise of a library\nerror: x\n", "bad message"),
        ("Traceback (most recent call last):\nKeyError: 'x'\n", "traceback"),
    ],
)
def test_anything_else_is_a_finding(err: str, outcome: str) -> None:
    with pytest.raises(Finding) as info:
        explain(err)
    assert info.value.outcome == outcome
    assert info.value.row("a").is_finding


def test_a_refusal_because_memory_ran_out_is_recognized() -> None:
    assert hides_memory("x cannot be read (Unable to allocate 7.45 GiB for an array)")
    assert not hides_memory("x claims 7.45 GB but the file stores 0.1 GB for it")
    assert not is_sentence("two\nlines")
