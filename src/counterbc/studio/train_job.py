"""Train from the page, in a process of its own, with progress."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch import Tensor

from counterbc.acting.policies import Policies, policy_kind
from counterbc.data.merge import merge
from counterbc.formats import load
from counterbc.trainer import train

METHODS_OFFERED = ("bc", "counter-bc")


@dataclass
class Reported:
    """A progress that is passed on as the share of steps that are done."""

    report: Callable[[Any], None]
    total: int = 1
    last_share: float = -1.0

    def start(self, step: int, total: int, kernel: str) -> None:
        """Begin with as many steps as are done already."""
        self.total = max(total, 1)
        self._pass_on(step)

    def update(self, step: float, loss: Tensor) -> None:
        """Pass a step on, unless it is less than a hundredth after the last one."""
        self._pass_on(step)

    def announce(self, text: str) -> None:
        """Do nothing: the page shows shares alone."""

    def stop(self) -> None:
        """Do nothing: the result of the training follows."""

    def _pass_on(self, step: float) -> None:
        share = step / self.total
        if share - self.last_share >= 0.01:
            self.last_share = share
            self.report(round(share, 3))


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
    out.parent.mkdir(parents=True, exist_ok=True)
    result = train(
        demos, method, seeds=1 if policies is None else None, start=policies, out=out,
        device="cpu", progress=Reported(report), **changes,
    )  # fmt: skip
    pairs = f"{demos.pairs:,} pairs"
    return f"{result.method}, {steps:,} steps on {pairs}"
