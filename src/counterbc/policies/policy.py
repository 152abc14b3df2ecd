"""The base class of policies: log-probabilities of many actions from one forward per state."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import torch
from torch import Tensor

from counterbc.errors import OptionError
from counterbc.losses import cross_entropy

Params = dict[str, Tensor]


def map_unless_stacking(kind: type, base: type) -> None:
    """Let a class of a user that overrides methods be mapped over networks, as `stacks` says.

    It may inherit from one of ours that takes N networks at once, and be written for one network.
    Setting `stacks` in the class itself states that it takes N.
    """
    overrides = any(callable(vars(kind)[name]) for name in vars(kind) if name in dir(base))
    is_ours = kind.__module__.startswith("counterbc.")
    if overrides and not is_ours and "stacks" not in vars(kind):
        kind.stacks = False  # type: ignore[attr-defined]  # both bases have it


@dataclass(frozen=True)
class Policy(ABC):
    """A family of distributions over actions; θ is an argument of its methods.

    `head` is what a forward returns, e.g. (mean, log_std); everything else is computed from it.
    Methods are written for one network. If they also take tensors with N networks in front, set
    `stacks`, and they are called directly; otherwise they are mapped over networks with vmap. A
    subclass outside this package that overrides methods must set it again.
    """

    stacks: ClassVar[bool] = False
    learning_rate: ClassVar[float] = 1e-3
    """The default learning rate of Adam."""
    cost: ClassVar[float] = 1.0
    """Training time of a step relative to a plain network of the same size."""
    steps: ClassVar[int | None] = None
    """The default number of gradient steps; None: it is chosen by cross-validation."""
    steps_by_pairs: ClassVar[tuple[tuple[int, int], ...]] = ()
    """(n, steps): other defaults for fewer than n pairs, with n ascending."""
    standardizes: ClassVar[bool] = False
    """Whether predicted actions are standardized in addition to the scale of their bounds."""
    repeats_first: ClassVar[bool] = False
    """Whether a history is filled with the first observation of its episode; else with zeros."""
    reads_angles: ClassVar[bool] = False
    """Whether angles that wrap are detected and read as cosine and sine."""
    has_density: ClassVar[bool] = True
    """Whether log π(a|s) is known; otherwise the policy has `errors` instead of `log_prob`."""
    hidden: tuple[int, ...] = (64, 64)
    """Units of each hidden layer."""
    history: int = 1
    """The number of observations that are read, the current one last."""
    reach: int = field(default=1, kw_only=True)
    """The largest mean action, in the policy's units. It is 1, the bound of the feasible actions,
    and more where actions are censored: otherwise a policy could come nearer to an action beyond
    the bound only by widening σ."""
    horizon: int = field(default=1, kw_only=True)
    """H, the number of actions that are predicted: the next one and those that follow. To the
    methods below they are one action of H · A numbers, step after step."""
    execute: int = field(default=1, kw_only=True)
    """How many of them are executed before the policy predicts again."""
    average_chunks: bool = field(default=False, kw_only=True)
    """Whether the policy predicts at every step instead, and what its last predictions say about
    the same step is averaged."""
    ema_share: float = field(default=0.0, kw_only=True)
    """The share of each step's parameters in an exponential moving average, which acts in place of
    the last parameters; 0: there is none."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        map_unless_stacking(cls, Policy)

    def __post_init__(self) -> None:
        self._check_hidden()
        if self.history < 1:
            raise OptionError(f"history is {self.history}; a policy reads 1 or more observations")
        if self.reach < 1:
            raise OptionError(f"reach is {self.reach}; it must be 1 or more")
        if not 0 <= self.ema_share < 1:
            raise OptionError(f"ema_share is {self.ema_share}; it must be at least 0 and below 1")
        if not 1 <= self.execute <= self.horizon:
            raise OptionError(
                f"horizon is {self.horizon} and execute {self.execute}; a policy predicts 1 or "
                "more actions and executes at least 1 and at most all of them"
            )
        if self.average_chunks and self.horizon == 1:
            raise OptionError(
                "average_chunks needs predictions that overlap; give a horizon of 2 or more"
            )

    def _check_hidden(self) -> None:
        if not self.hidden or min(self.hidden) < 1:
            raise OptionError(f"hidden is {self.hidden}; give one positive width per layer")

    @property
    def modes(self) -> int:
        """K, the Gaussians of a mixture, whose head is log w (B, K), μ and log σ (B, K, A).

        0 for a policy with any other head.
        """
        return 0

    @property
    def temperature(self) -> float | None:
        """The scale of the noise that a deployed flow starts from; None for other policies."""
        return None

    @property
    def euler(self) -> int | None:
        """The number of Euler steps of an acting flow; None for other policies."""
        return None

    def acting_with(
        self,
        *,
        execute: int | None = None,
        temperature: float | None = None,
        euler: int | None = None,
    ) -> Policy:
        """Return the same policy with other numbers of acting; None keeps one."""
        changes: dict[str, Any] = {"execute": execute, "temperature": temperature, "euler": euler}
        changes = {name: value for name, value in changes.items() if value is not None}
        for name, value in changes.items():
            if getattr(self, name) is None:
                raise OptionError(
                    f"{name} is {value}, but a {type(self).__name__} has none, only flows do; "
                    f"choose the policy flow, or leave {name} out"
                )
        if execute is not None and self.average_chunks:
            raise OptionError(
                f"execute is {execute}, but this policy predicts at every step and averages its "
                "chunks; leave execute out"
            )
        return replace(self, **changes)

    def with_modes(self, modes: int) -> Policy:
        """Return the same policy with this many modes."""
        raise OptionError(
            f"modes is {modes}, but a {type(self).__name__} has one; choose the policy mixture, "
            "or leave modes out"
        )

    def sized(self, pairs: int | None) -> Policy:
        """Return the same policy with layers that suit this many pairs, unless they were given.

        None stands for an unknown number of pairs.
        """
        return self

    def steps_for(self, pairs: int) -> int | None:
        """Return the default number of gradient steps on this many pairs."""
        return next((steps for below, steps in self.steps_by_pairs if pairs < below), self.steps)

    def one_step(self) -> Policy:
        """Return the policy that stands for this one where single actions are compared."""
        if self.horizon == 1:
            return self
        return replace(self, horizon=1, execute=1, average_chunks=False)

    @property
    def images(self) -> tuple[tuple[int, int, int], ...]:
        """H, W, C of the images of each camera that is read; none for a policy of vectors."""
        return ()

    @property
    def reads_vector(self) -> bool:
        """Whether a vector is read, alone or beside images."""
        return not self.images

    def obs_shape(self, size: int) -> tuple[int, ...]:
        """Return the shape of the vector, with its `size` numbers; without one, of an image."""
        return (size,) if self.reads_vector else self.images[0]

    @abstractmethod
    def init(self, generator: torch.Generator, obs_size: int, action_size: int) -> Params:
        """Return initial parameters θ of one network, float32 on the CPU."""

    @abstractmethod
    def head(self, params: Params, obs: Tensor) -> tuple[Tensor, ...]:
        """Apply the network to obs (B, S), or (B, history, S) if history > 1; images are bytes."""

    @abstractmethod
    def log_prob(self, head: tuple[Tensor, ...], actions: Tensor) -> Tensor:
        """Return log π(a'|s) of actions (B, M, A): (B, M)."""

    def censored_log_prob(self, head: tuple[Tensor, ...], actions: Tensor, side: Tensor) -> Tensor:
        """Return log π(a'|s) where some dimensions are censored, `policies/censored.py`: (B, M).

        There an action (B, M, A) stands for itself and all actions beyond it on the side (B, A) of
        its bound: 1 above, −1 below, 0 for a dimension that is not censored.
        """
        raise OptionError(
            f"the policy {type(self).__name__} has no likelihood of censored actions; define "
            "censored_log_prob, or train with censored=False"
        )

    @abstractmethod
    def mean(self, head: tuple[Tensor, ...]) -> Tensor:
        """Return the deterministic action: (B, A)."""

    @abstractmethod
    def sample(self, head: tuple[Tensor, ...], u: Tensor) -> Tensor:
        """Sample an action, as a differentiable function of θ and uniform numbers u: (B, A)."""

    def act(self, params: Params, obs: Tensor, u: Tensor | None, sampled: bool) -> Tensor:
        """Return the action to take at obs, sampled from π or as the policy is deployed: (B, A).

        u are `act_numbers` uniform numbers per state, or None where there are 0.
        """
        head = self.head(params, obs)
        if not sampled:
            return self.mean(head)
        assert u is not None
        return self.sample(head, u)

    def act_numbers(self, action_size: int, sampled: bool) -> int:
        """Return how many uniform numbers `act` needs at a state."""
        return action_size if sampled else 0

    def error_numbers(self, action_size: int) -> int:
        """Return how many uniform numbers `errors` needs at a state."""
        return 0

    def errors(
        self, params: Params, obs: Tensor, actions: Tensor, u: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Return the training error and a proxy of log π of actions (B, M, A): (B, H, M) each.

        Only policies without a density have them. u (B, error_numbers) are the same for all M.
        """
        raise OptionError(
            f"a {type(self).__name__} has no errors of its own; use log_prob, or define errors if "
            "has_density is False"
        )

    def chain(self) -> tuple[str, ...]:
        """Return the names of the layers if the policy is ReLU layers with a known head.

        Known heads, named last, are those of a Gaussian and a mixture. Native kernels can train
        such a policy; by default there are none. The first layer reads the observation, or the
        last state of the policy's `recurrent` layer.
        """
        return ()

    def recurrent(self) -> str:
        """Return the name of the GRU before the chain, whose parameters are NAME.input.weight,
        NAME.input.bias, NAME.state.weight and NAME.state.bias; empty where there is none."""
        return ""

    def cross_entropy(self, head: tuple[Tensor, ...], actions: Tensor) -> Tensor:
        """Return −Σ π̂ · log π over actions (B, M, A), eq. M4: (B,)."""
        return cross_entropy(self.log_prob(head, actions))
