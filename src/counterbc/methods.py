"""Every method is a choice of C(s, a), R(s, a) and π_θ in eq. M1."""

from __future__ import annotations

from dataclasses import dataclass, replace

from counterbc.errors import OptionError, unknown
from counterbc.policies import GaussianGRU, GaussianMLP, Policy
from counterbc.supports import Ball, Demonstrated, StudentT, Support
from counterbc.weightings import (
    Advantage,
    Discriminator,
    EpsilonInsensitive,
    OperatorExpertise,
    PolicyLikelihood,
    Posterior,
    PreviousPolicy,
    StateExpertise,
    Uniform,
    Weighting,
)


@dataclass(frozen=True)
class Method:
    """The choices that make the generalized loss a method."""

    support: Support = Demonstrated()
    weighting: Weighting = Uniform()
    policy: Policy = GaussianMLP()
    shards: int = 1
    """Number of networks of a member, which acts by their average."""
    disjoint: bool = True
    """Whether each shard learns from its own part of the pairs; otherwise all learn from all."""
    rounds: int = 1
    """How often all networks are trained from scratch, each round using the previous one."""

    def __post_init__(self) -> None:
        if self.shards < 1 or self.rounds < 1:
            raise OptionError(
                f"shards is {self.shards}, rounds {self.rounds}; both must be 1 or more"
            )

    def at_zero_radius(self) -> Method:
        """Return the method that this one is where Δ = 0: BC, or itself.

        Trained as BC, a policy is BC's to the bit, and no rounding of equal weights adds up.
        """
        is_bc = self.support.shrinks and self.weighting.equals_bc() and self.rounds == 1
        return without_counterfactuals(self) if is_bc else self


METHODS: dict[str, Method] = {
    "bc": Method(),
    "counter-bc": Method(support=Ball(), weighting=PolicyLikelihood()),
    "weighted-bc": Method(weighting=StateExpertise()),
    "bc-rnn": Method(policy=GaussianGRU()),
    "bcnd": Method(weighting=PreviousPolicy(), shards=4, rounds=3),
    "ileed": Method(weighting=OperatorExpertise()),
    "discriminator-bc": Method(weighting=Discriminator()),
    "advantage-bc": Method(weighting=Advantage()),
    "posterior": Method(support=StudentT(), weighting=Posterior()),
    "epsilon-insensitive": Method(support=Ball(count=0), weighting=EpsilonInsensitive()),
}


def find_method(method: str | Method) -> tuple[str, Method]:
    """Return the name and the method, given either of them."""
    if isinstance(method, Method):
        names = [name for name, value in METHODS.items() if value == method]
        return (names[0] if names else "custom"), method
    if method not in METHODS:
        raise unknown("method", method, METHODS)
    return method, METHODS[method]


def without_counterfactuals(method: Method) -> Method:
    """Return the method with C(s, a) = {a}, which is BC where R depends on π and C(s, a) alone."""
    weighting = Uniform() if method.weighting.equals_bc() else method.weighting
    return replace(method, support=Demonstrated(), weighting=weighting)


def trained_name(name: str, method: Method) -> str:
    """Return what to call a trained method: bc if its name promises actions that C(s, a) lacks."""
    has_none = isinstance(method.support, Demonstrated) and isinstance(method.weighting, Uniform)
    is_plain = name not in METHODS or isinstance(METHODS[name].support, Demonstrated)
    return "bc" if has_none and not is_plain else name
