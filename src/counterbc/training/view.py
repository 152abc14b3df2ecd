"""The pairs of N networks, for training or held out, from which batches are gathered."""

from __future__ import annotations

from functools import cached_property

import torch
from torch import Tensor

from counterbc.data import draws
from counterbc.kernels.step_kernel import StepCase
from counterbc.methods import Method
from counterbc.policies import Params
from counterbc.training.counterfactuals import EPOCH, Counterfactuals
from counterbc.training.networks import Networks
from counterbc.training.stacked_params import policy_params
from counterbc.training.store import Store
from counterbc.weightings import Batch, Pairs
from counterbc.weightings.weighting import EPOCH_NUMBER, NUMBERS, SAMPLE, SIDE

Columns = dict[str, Tensor]
_IMAGES = 2048  # states in memory at once, because their patches are large
_IMAGE = 4096  # numbers of an observation from which on it is treated as an image
_AT_ONCE = 1 << 21  # numbers of images that the networks of one part read in a step on a CPU


def chunk_size(store: Store, networks: int) -> int:
    """Return how many pairs of each network to evaluate at once: fewer if they are images."""
    return 4096 if store.pixels is None else max(1, _IMAGES // networks)


def _stack(networks: list[dict[str, Tensor]]) -> dict[str, Tensor]:
    return {name: torch.stack([n[name] for n in networks]) for name in networks[0]}


class View:
    """The pairs of each network, for training or held out, from which batches are gathered."""

    def __init__(
        self,
        store: Store,
        nets: Networks,
        method: Method,
        counterfactuals: Counterfactuals,
    ) -> None:
        self.store, self.nets, self.method = store, nets, method
        self.counterfactuals = counterfactuals
        self.fitted: Params = {}  # what the weighting learned before training, (N, …) each
        self.columns: dict[str, Tensor] = {}  # (N, n, …) each
        self.rows = torch.arange(len(nets.pairs), device=nets.pairs.device).unsqueeze(1)
        self._largest_part = len(nets.pairs)

    @property
    def parts(self) -> list[tuple[Tensor, View]]:
        """The networks that are trained as one stack each, with their rows.

        Those that learn as BC because their Δ is 0 are apart from the others.
        """
        return self._parts or [(self.rows.squeeze(1), self)]

    @cached_property
    def _parts(self) -> list[tuple[Tensor, View]]:
        """The same where there are several; a view that held itself would not be freed at once."""
        every, bc = self.rows.squeeze(1), self.method.at_zero_radius()
        is_zero = (self.counterfactuals.radius == 0).all(-1) & (bc != self.method)
        groups = [(bc, every[is_zero]), (self.method, every[~is_zero])]
        parts = [
            (method, part)
            for method, rows in groups if len(rows)
            for part in rows.tensor_split(-(-len(rows) // self._largest_part))
        ]  # fmt: skip
        if len(parts) == 1 and parts[0][0] == self.method:
            return []
        return [(rows, self._some(rows, method)) for method, rows in parts]

    def divide(self, largest: int) -> None:
        """Divide the networks into parts of at most this many."""
        self._largest_part = largest
        self.__dict__.pop("_parts", None)

    def networks_at_once(self, batch: int) -> int:
        """Return how many networks to train as one stack with batches of this size.

        On a CPU a step of many networks that read images takes long, and longer than its parts:
        few of them fit the caches. A part is short enough for progress and for Ctrl-C.
        """
        numbers = self.store.row_size * self.method.policy.history
        if numbers < _IMAGE or self.rows.is_cuda:
            return len(self.rows)
        return max(1, _AT_ONCE // (numbers * batch))

    def share_columns(self) -> None:
        """Give each part its rows of what the weighting knows of every pair."""
        for rows, part in self._parts:
            if part.method == self.method:
                part.fitted = {name: value[rows] for name, value in self.fitted.items()}
                part.columns = {name: value[rows] for name, value in self.columns.items()}

    def _some(self, index: Tensor, method: Method) -> View:
        """Return the pairs of some of the networks, for this method."""
        sets = self.counterfactuals.some(index, method.support)
        return View(self.store, sets.nets, method, sets)

    def case(self, batch: int, products: str = "float32") -> StepCase:
        """Return what the choice of a kernel depends on."""
        return StepCase(
            policy=self.method.policy,
            weighting=self.method.weighting,
            obs_size=self.store.obs_size,
            action_size=self.store.action.shape[1],
            samples=1 + self.method.support.count,
            in_memory=self.counterfactuals.in_memory,
            networks=len(self.nets.pairs),
            batch=batch,
            device=self.store.action.device.type,
            dtype=self.store.action.dtype,
            products=products,
            censored=SIDE in self.store.facts,
        )

    def batch(self, position: Tensor, epoch: Tensor) -> Batch:
        """Return the batch at positions (N, B) of each list, stacked over networks."""
        pairs = self.nets.pairs.gather(1, position)
        policy = self.method.policy
        obs = self.store.windows(pairs, policy.history, policy.repeats_first)
        return Batch(
            obs=obs,
            state=obs if policy.history == 1 else obs[:, :, -1],
            actions=self.counterfactuals.at(pairs, position, epoch),
            columns={name: column[self.rows, position] for name, column in self.columns.items()}
            | self._sides(pairs)
            | self._numbers(position, epoch)
            | self._samples(position, epoch),
        )

    def _numbers(self, position: Tensor, epoch: Tensor) -> dict[str, Tensor]:
        """Return the column of uniform numbers that the policy's errors use, if it uses any."""
        count = self.method.policy.error_numbers(self.store.action.shape[1])
        if not count:
            return {}
        index = position + epoch * EPOCH
        numbers = draws.uniform(self.nets.seeds.unsqueeze(1), "errors", index, count)
        return {NUMBERS: numbers.to(self.store.action.dtype)}

    def _samples(self, position: Tensor, epoch: Tensor) -> dict[str, Tensor]:
        """Return the columns of a weighting that samples from the policy."""
        if not self.method.weighting.own_samples:
            return {}
        count = self.method.policy.act_numbers(self.store.action.shape[1], sampled=True)
        index, seeds = position + epoch * EPOCH, self.nets.seeds.unsqueeze(1)
        numbers = draws.uniform(seeds, "own samples", index, count)
        return {SAMPLE: numbers.to(self.store.action.dtype), EPOCH_NUMBER: epoch}

    def _sides(self, pairs: Tensor) -> dict[str, Tensor]:
        """Return the column of sides of pairs (N, B), where actions are censored."""
        return {SIDE: self.store.facts[SIDE][pairs]} if SIDE in self.store.facts else {}

    def fit(self) -> None:
        """Fit the weighting to the pairs of each network before training."""
        pairs, weighting = self._pairs(None), self.method.weighting
        if weighting.stacks:
            self.fitted = weighting.fit(pairs)
        else:
            self.fitted = _stack([weighting.fit(pairs.network(i)) for i in range(len(self.rows))])

    def update_columns(self, params: Params | None, shards: int) -> None:
        """Compute the weighting's constants of every pair from the previous round's parameters.

        In the first round they are None.
        """
        pairs = self._pairs(None if params is None else self._previous(params, shards))
        weighting = self.method.weighting
        if weighting.stacks:
            columns = weighting.columns(pairs, self.fitted)
        else:
            columns = _stack([
                weighting.columns(pairs.network(i), {k: v[i] for k, v in self.fitted.items()})
                for i in range(len(self.rows))
            ])  # fmt: skip
        dtype = self.store.action.dtype
        self.columns = {k: v.to(dtype) if v.is_floating_point() else v for k, v in columns.items()}
        self.share_columns()

    def _pairs(self, previous: Tensor | None) -> Pairs:
        """Return the pairs as a weighting sees them, stacked over networks."""
        table = {"state": self.store.obs, "action": self.store.action, **self.store.facts}
        nets, radius = self.nets, self.counterfactuals.radius
        return Pairs(table, nets.pairs, nets.lengths, nets.seeds, previous, radius)

    @torch.no_grad()
    def _previous(self, params: Params, shards: int) -> Tensor:
        """Return log π(a|s) of each network's pairs by its member's networks: (N, n, shards)."""
        policy, theta = self.method.policy, policy_params(params)
        count, width = self.nets.pairs.shape
        out = self.store.action.new_empty(count, width, shards)

        def log_prob(params: Params, obs: Tensor, action: Tensor, side: Columns) -> Tensor:
            batch = Batch(obs, obs, action.unsqueeze(-2), side)
            return batch.log_prob(policy, policy.head(params, obs)).squeeze(-1)

        stacked_log_prob = log_prob if policy.stacks else torch.func.vmap(log_prob)
        chunk = chunk_size(self.store, count)
        for begin in range(0, width, chunk):
            pairs = self.nets.pairs[:, begin : begin + chunk]
            obs = self.store.windows(pairs, policy.history, policy.repeats_first)
            action, side = self.store.action[pairs], self._sides(pairs)
            for k in range(shards):
                network = self.nets.members * shards + k
                params_k = {name: value[network] for name, value in theta.items()}
                out[:, begin : begin + chunk, k] = stacked_log_prob(params_k, obs, action, side)
        return out
