"""Pictures of Can."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from reproduction.studies import can_pictures


def test_frames_are_spread_from_the_start_to_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    def play(act: Any, shown: frozenset[int], render: bool) -> list[Any]:
        start = [0] if render and 0 in shown else []
        return [*start, *(t if render and t in shown else None for t in range(1, 11))]

    monkeypatch.setattr(can_pictures, "_play", play)
    frames = can_pictures._frames(lambda: lambda obs: np.zeros(7))
    assert frames == [0, 2, 4, 6, 8, 10]
