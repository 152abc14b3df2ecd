"""Discriminator-weighted BC: what was meant is what a labelled expert might have shown."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar

from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits

from counterbc.policies.policy import Params
from counterbc.weightings.pairs import Pairs
from counterbc.weightings.pretraining import Pretraining
from counterbc.weightings.weighting import Batch, Weighting, reads_vectors


@dataclass(frozen=True)
class Discriminator(Weighting):
    """R(s, a) = min(d(s, a) / c, 1), where d is the chance that the pair is labelled expert.

    d is a classifier of labelled against all other pairs, trained before the policy. The others
    are unlabelled, not bad: c, the mean of d over the labelled pairs, is the share of expert
    pairs that bears a label, and d / c the chance of being expert (Elkan and Noto, 2008).

    d reads the error a − μ(s) against a regression μ of the labelled actions. Given (s, a) itself
    it recognizes the episodes of the expert by their states, whatever was done there.
    """

    stacks: ClassVar[bool] = True
    needs: ClassVar[tuple[str, ...]] = ("expert",)
    network: Pretraining = Pretraining()
    """Of μ and of d."""

    def with_hidden(self, hidden: tuple[int, ...]) -> Weighting:
        return replace(self, network=replace(self.network, hidden=hidden))

    def for_images(
        self, image: tuple[int, int, int], history: int, hidden: tuple[int, ...]
    ) -> Weighting:
        raise reads_vectors("discriminator-bc")

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
        return _named("mu.", mu) | _named("d.", d) | {"c": c}

    def columns(self, pairs: Pairs, fitted: Params) -> dict[str, Tensor]:
        d = self._chance(_under("mu.", fitted), _under("d.", fitted), pairs)  # (n,)
        return {"expert": (d / fitted["c"].unsqueeze(-1)).clamp(max=1)}

    def weights(self, params: Params, batch: Batch, log_pi: Tensor) -> Tensor:
        return batch.columns["expert"].unsqueeze(-1).expand_as(log_pi)

    def _error(self, mu: Params) -> Callable[[Pairs], Tensor]:
        """a − μ(s) of a batch: (B, A)."""
        return lambda pairs: pairs["action"] - self.network.output(mu, pairs["state"])

    def _chance(self, mu: Params, d: Params, pairs: Pairs) -> Tensor:
        """d(s, a) of all pairs: (n,)."""
        return self.network.judge(d, pairs, self._error(mu)).squeeze(-1).sigmoid()


def _state(pairs: Pairs) -> Tensor:
    return pairs["state"]


def _named(prefix: str, params: Params) -> Params:
    return {prefix + k: v for k, v in params.items()}


def _under(prefix: str, params: Params) -> Params:
    return {k.removeprefix(prefix): v for k, v in params.items() if k.startswith(prefix)}
