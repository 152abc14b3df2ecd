"""Heavy-tailed noise around the demonstrated action."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from counterbc.errors import OptionError
from counterbc.supports.normal import Normal


@dataclass(frozen=True)
class StudentT(Normal):
    """C(s, a) is drawn from the noise: a' = a + Δ z / √(w / df) with z ~ N(0, 1), w ~ χ²(df).

    One w for all dimensions, since an outlier is one in all of them. χ² with an even number of
    degrees of freedom is −2 times the sum of df / 2 logarithms of uniform numbers.
    """

    df: int = 4
    """Degrees of freedom: even; the fewer, the more likely are large errors."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.df < 2 or self.df % 2:
            raise OptionError(f"df is {self.df}; it must be even and 2 or more")

    def _numbers(self, action_size: int) -> int:
        return action_size + self.df // 2

    def _noise(self, u: Tensor, action_size: int) -> Tensor:
        chi_square = -2 * u[..., action_size:].log().sum(-1, keepdim=True)  # (B, M, 1)
        return super()._noise(u[..., :action_size], action_size) * (self.df / chi_square).sqrt()
