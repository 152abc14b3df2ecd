"""Stop a training on purpose."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from counterbc.training.loop import Loop


@contextmanager
def interrupted(after: int = 1, begin: int = 0) -> Iterator[None]:
    """Ctrl-C, as the operating system delivers it, after some blocks of one step from `begin` on.

    The training must say where it stopped.
    """
    sentence = rf"stopped at step {begin + after} of \d+; to resume, give the"
    record, count = Loop._record, [0]

    def record_and_stop(self: Loop, *args: Any, **kwargs: Any) -> None:
        record(self, *args, **kwargs)
        count[0] += 1
        if count[0] == after:
            signal.raise_signal(signal.SIGINT)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Loop, "_record", record_and_stop)
        with pytest.raises(KeyboardInterrupt, match=sentence):
            yield
