"""What policies of several compared methods earn in an environment."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import torch

from counterbc.acting.evaluation import Evaluation, compare, evaluate
from counterbc.acting.intervals import Difference, holm
from counterbc.data.demonstrations import Demonstrations
from counterbc.errors import OptionError
from counterbc.methods import METHODS
from counterbc.selection.method_comparison import Comparison
from counterbc.trainer import train

_LEVEL = 0.05


@dataclass(frozen=True)
class MethodReturns:
    """Returns of each method from the same starts; the first one is plain BC."""

    evaluations: tuple[Evaluation, ...]

    @property
    def differences(self) -> tuple[Difference, ...]:
        """How much more than plain BC each other method earns; p after Holm's correction."""
        first, *others = self.evaluations
        pairs = [compare(other, first) for other in others]
        corrected = holm([pair.p for pair in pairs])
        return tuple(replace(d, p=p) for d, p in zip(pairs, corrected, strict=True))

    @property
    def recommended(self) -> str:
        """The method to use: the best of those that earn clearly more than plain BC, or BC."""
        clear = [
            (d.interval.mean, e.method)
            for e, d in zip(self.evaluations[1:], self.differences, strict=True)
            if d.p < _LEVEL and d.interval.mean > 0
        ]
        return max(clear)[1] if clear else self.evaluations[0].method

    @property
    def verdict(self) -> str:
        """Which method to use, in a sentence."""
        first, *others = self.evaluations
        if not others:
            return "Nothing was compared with plain BC"
        by_name = dict(zip((e.method for e in others), self.differences, strict=True))
        if (name := self.recommended) in by_name:
            d = by_name[name]
            return (
                f"Use {name}: in {first.env} it earns {d.interval} more than plain BC "
                f"(p = {d.p:.2g})"
            )
        name, d = max(by_name.items(), key=lambda item: item[1].interval.mean)
        if d.interval.mean <= 0:
            return f"No method earns more than plain BC in {first.env}; use BC"
        return (
            f"No method earns clearly more than plain BC in {first.env} (the best, {name}: "
            f"{d.interval} more); use BC"
        )


def check_seeds(seeds: int) -> None:
    """Refuse too few policies of each method."""
    if seeds < 2:
        raise OptionError(f"seeds is {seeds}; methods are compared seed by seed, so give 2 or more")


def measure_returns(
    demos: Demonstrations,
    comparison: Comparison,
    env: str,
    *,
    seeds: int = 5,
    episodes: int = 20,
    preset: str = "default",
    device: str | torch.device | None = None,
    progress: bool = True,
    **changes: Any,
) -> MethodReturns:
    """Train each compared method with what the comparison chose for it, and roll it out."""
    check_seeds(seeds)
    evaluations = []
    for method in comparison.methods:
        chosen: dict[str, Any] = {"lag": comparison.lag, "steps": method.steps}
        if METHODS[method.name].shards == 1:
            chosen["ensemble"] = comparison.networks
        policies = train(
            demos, method.name, seeds=seeds, preset=preset, device=device, progress=progress,
            **(changes | chosen | {"radius": method.radius}),
        )  # fmt: skip
        evaluations.append(evaluate(policies, env, episodes=episodes, progress=progress))
    return MethodReturns(tuple(evaluations))
