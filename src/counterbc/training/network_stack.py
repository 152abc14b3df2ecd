"""N networks in training as one stack of parameters, and the pairs they learn from."""

from __future__ import annotations

from functools import cached_property

import torch
from torch import Tensor

from counterbc.data import draws
from counterbc.kernels.adam import Adam
from counterbc.kernels.step_kernel import StepCase, StepKernel, StepTensors
from counterbc.kernels.torch_kernel import stacked_losses
from counterbc.methods import Method
from counterbc.policies import Params
from counterbc.training.counterfactuals import EPOCH, Counterfactuals
from counterbc.training.networks import Networks
from counterbc.training.store import Store
from counterbc.weightings import Batch, Pairs
from counterbc.weightings.weighting import EPOCH_NUMBER, NUMBERS, SAMPLE, SIDE

Columns = dict[str, Tensor]
_POLICY, _WEIGHTING = "policy.", "weighting."
_IMAGES = 2048  # states in memory at once, because their patches are large


def initial(
    method: Method,
    nets: Networks,
    round_: int,
    obs_size: int,
    action_size: int,
    operators: int = 0,
) -> Params:
    """Return initial stacked parameters; a network's depend only on its seed and the round."""
    stacks: dict[str, list[Tensor]] = {}
    for seed in nets.seeds.tolist():
        generator = draws.generator(seed, f"policy {round_}")
        theta = method.policy.init(generator, obs_size, action_size)
        generator = draws.generator(seed, f"weighting {round_}")
        phi = method.weighting.init(generator, obs_size, operators)
        for prefix, params in ((_POLICY, theta), (_WEIGHTING, phi)):
            for name, value in params.items():
                stacks.setdefault(prefix + name, []).append(value)
    return {name: torch.stack(values) for name, values in stacks.items()}


def split(params: Params, prefix: str) -> Params:
    """Return the parameters whose names have a prefix, without the prefix."""
    return {k[len(prefix) :]: v for k, v in params.items() if k.startswith(prefix)}


def policy_params(params: Params) -> Params:
    """Return the parameters of the policies among stacked parameters."""
    return split(params, _POLICY)


def weighting_params(params: Params) -> Params:
    """Return the parameters of the weightings among stacked parameters."""
    return split(params, _WEIGHTING)


def chunk_size(store: Store, networks: int) -> int:
    """Return how many pairs of each network to evaluate at once: fewer if they are images."""
    return 4096 if store.obs.is_floating_point() else max(1, _IMAGES // networks)


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

    @property
    def parts(self) -> list[tuple[Tensor, View]]:
        """The networks that learn as BC because their Δ is 0, and the others, with their rows."""
        return self._parts or [(self.rows.squeeze(1), self)]

    @cached_property
    def _parts(self) -> list[tuple[Tensor, View]]:
        """The same where some learn as BC; a view that held itself would not be freed at once."""
        bc, is_zero = self.method.at_zero_radius(), (self.counterfactuals.radius == 0).all(-1)
        if bc == self.method or not is_zero.any():
            return []
        every = self.rows.squeeze(1)
        groups = [(bc, every[is_zero]), (self.method, every[~is_zero])]
        return [(rows, self._some(rows, method)) for method, rows in groups if len(rows)]

    def _some(self, index: Tensor, method: Method) -> View:
        """Return the pairs of some of the networks, for this method."""
        sets = self.counterfactuals.some(index, method.support)
        return View(self.store, sets.nets, method, sets)

    def case(self, batch: int) -> StepCase:
        """Return what the choice of a kernel depends on."""
        return StepCase(
            policy=self.method.policy,
            weighting=self.method.weighting,
            obs_size=self.store.obs.shape[1],
            action_size=self.store.action.shape[1],
            samples=1 + self.method.support.count,
            in_memory=self.counterfactuals.in_memory,
            networks=len(self.nets.pairs),
            batch=batch,
            device=self.store.action.device.type,
            dtype=self.store.action.dtype,
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


class NetworkStack:
    """The networks in training: their parameters, and the kernel that takes their steps."""

    def __init__(
        self,
        view: View,
        params: Params,
        learning_rate: float,
        case: StepCase,
        kernel: type[StepKernel],
    ) -> None:
        self.view = view
        self.params = {name: value.clone().requires_grad_() for name, value in params.items()}
        ema_share = view.method.policy.ema_share
        self.adam = Adam(list(self.params.values()), learning_rate, ema_share)
        self.loss = view.store.action.new_zeros(len(view.nets.pairs))  # (N,) of the last step
        tensors = StepTensors(
            policy_params=policy_params(self.params),
            weighting_params=weighting_params(self.params),
            adam=self.adam,
            loss=self.loss,
            pairs=view.nets.pairs,
            obs=view.store.obs,
            action=view.store.action,
            counterfactuals=view.counterfactuals.table,
            gather=view.batch,
        )
        self.kernel = kernel(case, tensors)

    @property
    def deployed(self) -> Params:
        """The parameters that act: the last ones, or their moving average."""
        values = self.adam.ema or self.params.values()
        return {k: v.detach() for k, v in zip(self.params, values, strict=True)}

    def steps(self, position: Tensor, epoch: Tensor) -> None:
        """Take a block of steps on the pairs at these positions: (steps, N, B) each."""
        self.kernel.run(position, epoch)

    @torch.no_grad()
    def held_out(self, view: View, limit: int = 2048) -> Tensor:
        """Return the action error of every network on up to `limit` held-out pairs: (N,).

        It is the squared error of the mean action, summed over dimensions, so that methods can be
        compared; of a policy without a density its own error, such as that of flow matching.
        """
        limit = min(limit, chunk_size(view.store, len(self.loss)))
        width = min(limit, int(view.nets.lengths.min()))
        position = torch.arange(width, device=self.loss.device).expand(len(self.loss), width)
        batch = view.batch(position, torch.zeros_like(position))
        policy, theta = view.method.policy, policy_params(self.deployed)
        if not policy.has_density:
            phi = weighting_params(self.deployed)
            return stacked_losses(policy, view.method.weighting, theta, phi, batch)

        def error(theta: Params, obs: Tensor, action: Tensor) -> Tensor:
            return ((policy.mean(policy.head(theta, obs)) - action) ** 2).sum(-1).mean(-1)

        mapped = error if policy.stacks else torch.func.vmap(error)
        errors: Tensor = mapped(theta, batch.obs, batch.actions[..., 0, :])
        return errors

    # Everything that a stopped training needs to resume

    def state(self) -> dict[str, Tensor]:
        """Return parameters, Adam's moments and columns by name, without copies."""
        state = {"adam/count": self.adam.count}
        for i, (name, value) in enumerate(self.params.items()):
            state[f"params/{name}"] = value.detach()
            state[f"adam/first/{name}"] = self.adam.first[i]
            state[f"adam/second/{name}"] = self.adam.second[i]
            if self.adam.ema:
                state[f"adam/ema/{name}"] = self.adam.ema[i]
        return state | {f"columns/{k}": v for k, v in self.view.columns.items()}

    @torch.no_grad()
    def restore(self, state: dict[str, Tensor]) -> None:
        """Restore a state in place."""
        for name, value in state.items():
            column = name.removeprefix("columns/")
            if column != name and column not in self.view.columns:
                self.view.columns[column] = value.to(self.loss.device)
        for name, value in self.state().items():
            value.copy_(state[name])
