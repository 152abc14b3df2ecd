"""Discriminator-weighted BC: actions count that a labelled expert might have shown."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar

from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits

from counterbc.policies.policy import Params
from counterbc.weightings.pairs import Pairs
from counterbc.weightings.pretraining import Pretraining
from counterbc.weightings.weighting import Batch, StepForm, Weighting


@dataclass(frozen=True)
class Discriminator(Weighting):
    """R(s, a) = min(d(s, a) / c, 1), where d is the probability that the pair is labelled expert.

    d is a classifier of labelled pairs against all others, trained before the policy. The others
    are unlabelled, not bad: c, the mean of d over the labelled pairs, is the share of expert pairs
    that have a label, and d / c the probability of being expert (Elkan and Noto, 2008).

    d reads the error a − μ(s) of a regression μ of the labelled actions. If it read (s, a), it
    would recognize the expert's episodes by their states, whatever the actions.
    """

    stacks: ClassVar[bool] = True
    reads_images: ClassVar[bool] = False
    needs: ClassVar[tuple[str, ...]] = ("expert",)
    network: Pretraining = Pretraining()
    """The networks μ and d."""

    def with_hidden(self, hidden: tuple[int, ...]) -> Weighting:
        return replace(self, network=replace(self.network, hidden=hidden))

    def fit(self, pairs: Pairs) -> Params:
        def distance(mu: Tensor, batch: Pairs) -> Tensor:
            return (mu - batch["action"]).square().sum(-1) * batch["expert"]

        def surprise(logit: Tensor, batch: Pairs) -> Tensor:
            label = batch["expert"].double()
            return binary_cross_entropy_with_logits(logit.squeeze(-1), label, reduction="none")

        size = pairs.table["action"].shape[-1]
        mu = self.network.fit(pairs, "expert action", _state, distance, size)
        d = self.network.fit(pairs, "discriminator", self._error(mu), surprise)
        chance, label = self._chance(mu, d, pairs), pairs["expert"]
        c = pairs.mean(chance * label) / pairs.mean(label).clamp(min=1e-9)
        return _add_prefix("mu.", mu) | _add_prefix("d.", d) | {"c": c}

    def columns(self, pairs: Pairs, model: Params) -> dict[str, Tensor]:
        d = self._chance(_with_prefix("mu.", model), _with_prefix("d.", model), pairs)  # (n,)
        return {"expert": (d / model["c"].unsqueeze(-1)).clamp(max=1)}

    def weights(self, params: Params, batch: Batch, log_pi: Tensor) -> Tensor:
        return batch.columns["expert"].unsqueeze(-1).expand_as(log_pi)

    def native_form(self, actions: int) -> StepForm | None:
        return StepForm("column", "expert") if actions == 1 else None

    def _error(self, mu: Params) -> Callable[[Pairs], Tensor]:
        """Return a function that computes a − μ(s) of a batch: (B, A)."""
        return lambda pairs: pairs["action"] - self.network.output(mu, pairs["state"])

    def _chance(self, mu: Params, d: Params, pairs: Pairs) -> Tensor:
        """Return d(s, a) of all pairs: (n,)."""
        return self.network.predict(d, pairs, self._error(mu)).squeeze(-1).sigmoid()


def _state(pairs: Pairs) -> Tensor:
    return pairs["state"]


def _add_prefix(prefix: str, params: Params) -> Params:
    return {prefix + k: v for k, v in params.items()}


def _with_prefix(prefix: str, params: Params) -> Params:
    return {k.removeprefix(prefix): v for k, v in params.items() if k.startswith(prefix)}
