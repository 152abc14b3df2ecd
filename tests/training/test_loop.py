"""The training loop: a clean stop, the kernel of a resumed run, and the points of the curve."""

from __future__ import annotations

import json
import signal
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from counterbc.data.demonstrations import Demonstrations
from counterbc.errors import FormatError
from counterbc.training.loop import Interrupt, Loop
from tests.fixture_types import Train

NO_NUMBA = (
    r"differently: kernel was numba, here it would be torch; pip install 'counterbc\[fast\]', "
    "or choose another folder$"
)


def test_the_first_ctrl_c_asks_to_stop_and_the_second_stops_at_once() -> None:
    before = signal.getsignal(signal.SIGINT)
    with Interrupt() as interrupt:
        stops = [interrupt.stop]
        signal.raise_signal(signal.SIGINT)
        stops.append(interrupt.stop)
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert stops == [False, True]
    assert signal.getsignal(signal.SIGINT) is before


def stop_after_one_block(monkeypatch: pytest.MonkeyPatch) -> None:
    record = Loop._record

    def record_and_stop(self: Loop, *args: Any) -> None:
        record(self, *args)
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(Loop, "_record", record_and_stop)


def test_a_run_is_resumed_by_the_kernel_that_started_it_or_refused(
    tiny: Demonstrations, quick: Train, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("numba", reason="auto chooses numba")
    out = tmp_path / "run"
    with monkeypatch.context() as patch:
        stop_after_one_block(patch)
        with pytest.raises(KeyboardInterrupt, match="stopped at step 1 of 20; to resume, give the"):
            quick(tiny, "bc", out=out)
    assert json.loads((out / "config.json").read_text())["unfinished"]["kernel"] == "numba"
    with pytest.raises(FormatError, match="kernel was numba, here it is torch; resume it with"):
        quick(tiny, "bc", out=out, resume=True, kernel="torch")
    with monkeypatch.context() as patch:  # the same settings where numba is not installed
        patch.setitem(sys.modules, "counterbc.kernels.numba_kernel", None)
        patch.setitem(sys.modules, "counterbc.kernels.numba_loss", None)
        with pytest.raises(FormatError, match=NO_NUMBA):
            quick(tiny, "bc", out=out, resume=True)
    resumed_run, whole = quick(tiny, "bc", out=out, resume=True), quick(tiny, "bc")
    assert resumed_run.config["kernel"] == "numba"
    assert all(torch.equal(resumed_run.params[name], value) for name, value in whole.params.items())


def test_the_curve_has_a_point_per_interval_and_the_mean_over_shards(
    tiny: Demonstrations, quick: Train
) -> None:
    curve = quick(tiny, "bcnd", steps=250, seeds=2).curve
    assert curve is not None
    assert curve.steps[:3].tolist() == [2, 4, 6]
    assert len(curve.steps) == 3 * 125  # three rounds
    assert curve.loss.shape == (375, 2)
