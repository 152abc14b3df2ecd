"""Work is spread over the cores that this process may use."""

from __future__ import annotations

import os
import sys

import pytest

from counterbc.data.cores import cores


def test_there_is_at_least_one_core() -> None:
    assert 1 <= cores() <= (os.cpu_count() or 1)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux binds a process to cores")
def test_a_process_that_is_bound_to_one_core_uses_one() -> None:
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(before)})
    try:
        assert cores() == 1
    finally:
        os.sched_setaffinity(0, before)
