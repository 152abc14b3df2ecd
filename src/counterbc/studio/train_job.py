"""Train from the page, in a process of its own, with progress."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from torch import Tensor

from counterbc.acting.policies import Policies, policy_kind
from counterbc.data.merge import merge
from counterbc.formats import load
from counterbc.methods import find_method
from counterbc.supports import Demonstrated
from counterbc.trainer import train

METHODS_OFFERED = ("bc", "counter-bc")


TRAINING = "Training"


def first_work(method: str, start: Path | None) -> str:
    """Return what a training begins with: a new one chooses what its settings leave to the data."""
    if start is not None:
        return TRAINING
    has_radius = not isinstance(find_method(method)[1].support, Demonstrated)
    return f"Choosing {'Δ and lag' if has_radius else 'the lag'} for"


@dataclass
class Reported:
    """A progress that is passed on: what is done, the share of its steps, and the last announcement
    with its time, which is empty at first."""

    report: Callable[[dict[str, Any]], None]
    work: str = TRAINING
    note: str = ""
    total: int = 1
    last_share: float = -1.0

    def begin(self, phase: str) -> Reported:
        """Begin a phase; after the choice comes the training."""
        if phase != "choosing":
            self.work = TRAINING
        return self

    def start(self, step: int, total: int, kernel: str) -> None:
        """Begin with as many steps as are done already."""
        self.total, self.last_share = max(total, 1), -1.0
        self._pass_on(step)

    def update(self, step: float, loss: Tensor) -> None:
        """Pass a step on, unless it is less than a hundredth after the last one."""
        self._pass_on(step)

    def announce(self, text: str) -> None:
        """Pass a line on, such as an estimate of the time left, with the time of day."""
        self.note = f"{datetime.now():%H:%M}: {text}"
        self._send()

    def stop(self) -> None:
        """Do nothing: the result of the training follows."""

    def _pass_on(self, step: float) -> None:
        share = step / self.total
        if share - self.last_share >= 0.01:
            self.last_share = share
            self._send()

    def _send(self) -> None:
        share = round(max(self.last_share, 0.0), 3)
        self.report({"work": self.work, "share": share, "note": self.note})


def train_policies(
    *,
    datasets: Sequence[Path],
    method: str,
    steps: int,
    start: Path | None,
    out: Path,
    report: Callable[[Any], None],
) -> str:
    """Train one policy on datasets, or continue with one; return what it is, in a line."""
    demos = merge([load(path) for path in datasets])
    changes: dict[str, Any] = {"steps": steps}
    policies = None
    if start is not None:
        policies = Policies.load(start)[0]
        method = policies.method
        changes |= {"policy": policy_kind(policies.policy), "hidden": policies.policy.hidden}
    reported = Reported(report, first_work(method, start))
    out.parent.mkdir(parents=True, exist_ok=True)
    result = train(
        demos, method, seeds=1 if policies is None else None, start=policies, out=out,
        device="cpu", progress=reported.begin, **changes,
    )  # fmt: skip
    pairs = f"{demos.pairs:,} pairs"
    return f"{result.method}, {steps:,} steps on {pairs}"
