"""Real-time priority, so that other programs cannot delay the loop."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from counterbc.errors import OptionError
from counterbc.files import reason


@contextmanager
def real_time(priority: int | None) -> Iterator[None]:
    """Schedule this thread, and what it starts in the block, before all ordinary programs.

    It needs Linux and the right to do so; None changes nothing.
    """
    if priority is None:
        yield
        return
    if not hasattr(os, "sched_setscheduler"):
        raise OptionError("real-time priorities need Linux; leave out --priority")
    policy, parameter = os.sched_getscheduler(0), os.sched_getparam(0)
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(priority))
    except (OSError, ValueError) as error:
        raise OptionError(
            f"the priority {priority} is not allowed ({reason(error)}); choose 1 to 99, and allow "
            "real-time priorities to your user in /etc/security/limits.conf"
        ) from error
    try:
        yield
    finally:
        os.sched_setscheduler(0, policy, parameter)
