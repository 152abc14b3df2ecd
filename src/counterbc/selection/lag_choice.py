"""The lag of a dataset in the user's words, with the evidence for it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from counterbc.data.lags import NONE, lag_text
from counterbc.selection.shares import Share

_FEW = 6  # operators who are named one by one


@dataclass(frozen=True)
class LagChoice:
    """The lag of a dataset, with the evidence for it."""

    lag: tuple[float, ...] = NONE
    """In steps: one for everybody, or one per operator; the middle of the lags that are as
    good as the best. 0 where the data cannot tell."""
    verdict: Literal["late", "not late", "cannot tell", "given"] = "cannot tell"
    reason: str = ""
    """Why the data cannot tell; empty otherwise."""
    confident: bool = False
    """Whether a lag is significant, and the demonstrators' own past actions point to the same."""
    lags: tuple[int, ...] = ()
    error: tuple[float, ...] = ()
    """Held-out squared error of each lag."""
    above: tuple[float, ...] = ()
    """Error above that of the best lag, action by action, and its standard error over episodes."""
    above_se: tuple[float, ...] = ()
    own_past_error: tuple[float, ...] = ()
    """Error of each lag where the last two actions are read beside the past state."""
    history_error: tuple[float, ...] = ()
    """Error of each lag for a model that reads as many observations as the policy to be trained,
    if that is more than one. It sees what the demonstrator answered, so that its curve is flat."""
    valley: int = 0
    """Where no lag was found: a lag of two steps or more that explains clearly more than shorter
    and longer ones, though not more than 0."""
    explained: Share | None = None
    """Share of the actions' variance that the best lag explains."""
    operators: tuple[str, ...] = ()
    """The operators of `lag`, where they have lags of their own."""
    rate: float | None = None
    """Steps per second, if recorded."""

    @property
    def tells(self) -> bool:
        """Whether enough of the actions is explained for a lag to mean anything."""
        return self.explained is not None and self.explained.is_enough

    @property
    def explanation(self) -> str:
        """The finding in the user's words."""
        if self.verdict == "cannot tell":
            return (
                f"Cannot tell how late the demonstrators react: {self.reason}{self._hint}. The lag "
                "used is 0; if you know their reaction time, give it with --lag"
            )
        if self.verdict == "given":
            return f"Lag {lag_text(self.lag, self.rate)}, as given"
        if self.verdict == "not late":
            return f"No lag was found: none explains the actions better than 0{self._hint}"
        if len(self.operators) > _FEW:
            least, middle, most = (
                lag_text((k,), self.rate) for k in np.quantile(self.lag, (0, 0.5, 1))
            )
            return (
                f"{len(self.operators)} operators react {least} to {most} late, half of them more "
                f"than {middle} (lags of single operators are not confirmed)"
            )
        if self.operators:
            who = zip(self.operators, self.lag, strict=True)
            texts = [
                f"{name} reacts {lag_text((k,), self.rate)} late" if k else f"{name} is not late"
                for name, k in who
            ]
            return "; ".join(texts) + " (lags of single operators are not confirmed)"
        check = "their own past actions" + (" confirm it" if self.confident else " do not show it")
        text = f"The demonstrators react {lag_text(self.lag, self.rate)} late ({check})"
        is_longest = bool(self.error) and int(np.argmin(self.error)) == len(self.error) - 1
        return text + ("; this is the longest lag tried, so try longer ones" if is_longest else "")

    @property
    def _hint(self) -> str:
        """Where the error has a second valley, if it has one."""
        if not self.valley:
            return ""
        given = f"{self.valley}" if self.rate is None else f"{self.valley / self.rate:.3g}s"
        words = lag_text((self.valley,), self.rate)
        return (
            f", but a lag of {words} explains more than those around it; if the task forces people "
            f"to react, try --lag {given}"
        )

    def as_dict(self) -> dict[str, Any]:
        """Return the choice as JSON has it."""
        return asdict(self) | {"explanation": self.explanation}
