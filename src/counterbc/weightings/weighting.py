"""The base class of weightings: how much each action of C(s, a) counts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, final

import torch
from torch import Tensor

from counterbc.losses import cross_entropy, generalized_loss
from counterbc.policies.policy import Params, Policy, map_unless_stacking
from counterbc.weightings.pairs import Pairs

SIDE = "side"
"""The column of the bound on which a censored action lies."""
NUMBERS = "numbers"
"""The column of uniform numbers that policies without a density use, new in every epoch."""
SAMPLE, EPOCH_NUMBER = "sample", "epoch"
"""The columns of weightings with `own_samples`: uniform numbers, new in every epoch, and the number
of that epoch."""


class StepForm(NamedTuple):
    """What a native kernel computes in place of `weights` and `auxiliary`.

    Beside "cross entropy", kinds need C(s, a) = {a}. With ℓ = −log π(a|s), f ReLU layers with a
    linear output, and the mean over a batch:

        cross entropy     eq. M4 over C(s, a); where C(s, a) = {a}, ℓ
        column            R ℓ, where R is a column of the pairs
        batch softmax     R ℓ, where R is the mean over k of the softmax over the batch of a column
                          (B, K), or 1 where there is no such column
        state network     R ℓ, where R is the softmax over the batch of f(s): (B, 1)
        operator network  R ℓ − log(ρ π + (1 − ρ) u), with ρ, R and u as `OperatorExpertise` says
    """

    kind: str
    name: str = ""
    """The column, or the prefix of the network's layers: name0.weight, name0.bias, name1.weight, …
    """
    layers: int = 0
    """The number of that network's layers."""


CROSS_ENTROPY = StepForm("cross entropy")


class Batch(NamedTuple):
    """The pairs of one step of one network."""

    obs: Tensor  # what the policy reads: (B, S), or (B, history, S)
    state: Tensor  # (B, S)
    actions: Tensor  # (B, M, A), the demonstrated one first
    columns: dict[str, Tensor]  # per-pair constants, (B, …) each

    @property
    def side(self) -> Tensor | None:
        """On which bound each action lies, where actions are censored: (B, A); see `Policy`."""
        return self.columns.get(SIDE)

    def log_prob(self, policy: Policy, head: tuple[Tensor, ...]) -> Tensor:
        """Return log π of every action, censored ones included: (B, M)."""
        if self.side is None:
            return policy.log_prob(head, self.actions)
        return policy.censored_log_prob(head, self.actions, self.side)


@dataclass(frozen=True)
class Weighting(ABC):
    """R(s, a') of eq. M1, written for one network; `stacks` as in `Policy`.

    Calls come in this order: `fit` once before training, `columns` before each round, `init` at the
    start of each round, `weights` and `auxiliary` at every step. Only `weights` has no default.
    """

    stacks: ClassVar[bool] = False
    reads_images: ClassVar[bool] = True
    """Whether states may be images; if not, `for_images` is never called."""
    noise_model: ClassVar[bool] = False
    """Whether C(s, a) is a sample of the demonstrators' noise, whose scale is Δ."""
    needs: ClassVar[tuple[str, ...]] = ()
    """What the data must have: 'operators', 'rewards', 'expert'; see `Pairs`."""
    compares_densities: ClassVar[bool] = False
    """Whether log π is compared with another density; if so, actions cannot be censored, because
    the likelihood of a censored action is a probability."""
    needs_density: ClassVar[bool] = False
    """Whether R depends on log π itself; if not, at most on its differences within C(s, a)."""
    own_samples: ClassVar[bool] = False
    """Whether `targets` samples from the policy, and batches have the columns for it."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        map_unless_stacking(cls, Weighting)

    def for_images(
        self, image: tuple[int, ...], history: int, hidden: tuple[int, ...], vector: bool = False
    ) -> Weighting:
        """Return the same for states that are frames (H, W, C), of several cameras one after the
        other, with a vector beside them if `vector`.

        The default suits weightings that do not read the state.
        """
        return self

    def with_hidden(self, hidden: tuple[int, ...]) -> Weighting:
        """Return the same with these hidden layers in each of its networks, if it has any."""
        return self

    def fit(self, pairs: Pairs) -> Params:
        """Return what is learned from the pairs once before training, e.g. a discriminator."""
        return {}

    def columns(self, pairs: Pairs, model: Params) -> dict[str, Tensor]:
        """Return constants of every pair, (n, …) each, computed before each round.

        `model` is what `fit` returned for the training pairs, also if these are held out.
        """
        return {}

    def init(self, generator: torch.Generator, obs_size: int, operators: int = 0) -> Params:
        """Return the initial parameters of the weighting, trained together with the policy."""
        return {}

    def targets(self, params: Params, batch: Batch, policy: Policy) -> Tensor:
        """Return the actions that are learned, given the policy's parameters: (B, M, A).

        By default they are those of the batch.
        """
        return batch.actions

    @abstractmethod
    def weights(self, params: Params, batch: Batch, log_pi: Tensor) -> Tensor:
        """Return R of every action in the batch, given log π of each: (B, M)."""

    def auxiliary(self, params: Params, batch: Batch, log_pi: Tensor) -> Tensor | None:
        """Return a loss that is added to eq. M1, if there is one."""
        return None

    def closed_form(self, actions: int) -> bool:
        """Return whether eq. M1 is eq. M4 with this many actions in C(s, a), and nothing is added.

        Then the policy's `cross_entropy` is the loss, and native code may compute the step. The
        answer holds for the class that defines it; `uses_closed_form` checks its subclasses.
        """
        return False

    @final
    def uses_closed_form(self, actions: int) -> bool:
        """Return whether the closed form is valid.

        It is where no subclass overrides `weights`, `targets`, `auxiliary` or `loss`.
        """
        return self._declares_last("closed_form") and self.closed_form(actions)

    def native_form(self, actions: int) -> StepForm | None:
        """Return what native kernels compute with this many actions in C(s, a), if they can.

        The answer holds for the class that defines it; `step_form` checks its subclasses.
        """
        return None

    @final
    def step_form(self, actions: int) -> StepForm | None:
        """Return the valid form of this weighting for native kernels, if there is one."""
        if self.uses_closed_form(actions):
            return CROSS_ENTROPY
        return self.native_form(actions) if self._declares_last("native_form") else None

    def _declares_last(self, name: str) -> bool:
        """Return whether no subclass of the class that defines a method changes the loss."""
        kind = type(self)
        if kind.loss is not Weighting.loss or kind.targets is not Weighting.targets:
            return False
        for kind in type(self).__mro__:
            if name in vars(kind):
                return True
            if "weights" in vars(kind) or "auxiliary" in vars(kind):
                return False
        raise AssertionError(f"Weighting defines {name}")

    @final
    def equals_bc(self) -> bool:
        """Return whether the loss is BC's where C(s, a) = {a}: R = 1, and no more is learned."""
        kind, names = type(self), ("fit", "columns", "init", "error_loss")
        is_plain = all(getattr(kind, name) is getattr(Weighting, name) for name in names)
        return is_plain and self.uses_closed_form(1)

    def loss(
        self, params: Params, batch: Batch, policy: Policy, head: tuple[Tensor, ...]
    ) -> Tensor:
        """Return eq. M1 averaged over the batch, with the auxiliary loss: a scalar."""
        if self.uses_closed_form(batch.actions.shape[-2]):
            if batch.side is None:
                return policy.cross_entropy(head, batch.actions).mean(-1)
            return cross_entropy(batch.log_prob(policy, head)).mean(-1)
        log_pi = batch.log_prob(policy, head)
        weights = self.weights(params, batch, log_pi)
        loss = generalized_loss(log_pi, weights).mean(-1)
        auxiliary = self.auxiliary(params, batch, log_pi)
        return loss if auxiliary is None else loss + auxiliary

    def error_loss(self, params: Params, batch: Batch, errors: Tensor, log_pi: Tensor) -> Tensor:
        """Return the weighted training errors of a policy without a density: a scalar.

        Both tensors are (B, H, M), and the actions of each step are weighted by R for themselves.
        """
        by_step = self.weights(params, batch, log_pi.movedim(-2, 0))  # (H, B, M)
        return (by_step.movedim(0, -2) * errors).sum(-1).mean((-2, -1))

    @final
    def takes_errors(self) -> bool:
        """Return whether `error_loss` stands for the loss, which it does not where a class has a
        loss of its own or adds one."""
        kind = type(self)
        is_plain = kind.loss is Weighting.loss and kind.auxiliary is Weighting.auxiliary
        return is_plain and not self.needs_density
