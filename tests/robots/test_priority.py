"""A real-time priority holds in its block, where the system allows it."""

from __future__ import annotations

import os
from contextlib import suppress

import pytest

from counterbc.errors import OptionError
from counterbc.robots.priority import real_time


def test_no_priority_changes_nothing() -> None:
    before = os.sched_getscheduler(0)
    with real_time(None):
        assert os.sched_getscheduler(0) == before


def test_a_priority_is_set_and_restored_or_refused_with_a_sentence() -> None:
    before, policies = os.sched_getscheduler(0), []
    with suppress(OptionError), real_time(1):  # an ordinary user may not
        policies.append(os.sched_getscheduler(0))
    assert policies in ([], [os.SCHED_FIFO])
    assert os.sched_getscheduler(0) == before


def test_an_impossible_priority_is_refused() -> None:
    with pytest.raises(OptionError, match="choose 1 to 99"), real_time(1000):
        pass


def test_systems_without_priorities_are_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "sched_setscheduler")
    with pytest.raises(OptionError, match="need Linux"), real_time(10):
        pass
