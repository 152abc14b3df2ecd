"""N networks in training as one stack of parameters."""

from __future__ import annotations

import torch
from torch import Tensor

from counterbc.kernels.adam import Adam
from counterbc.kernels.step_kernel import StepCase, StepKernel, StepTensors
from counterbc.kernels.torch_kernel import stacked_losses
from counterbc.policies import Params
from counterbc.policies.pieces import StoppedAtPause
from counterbc.training.stacked_params import policy_params, weighting_params
from counterbc.training.view import View, chunk_size


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
            starts=view.store.starts,
            columns=view.columns,
            gather=view.batch,
        )
        self.kernel = kernel(case, tensors)
        self.taken = 0
        """Steps taken so far."""

    @property
    def deployed(self) -> Params:
        """The parameters that act: the last ones, or their moving average."""
        values = self.adam.ema or self.params.values()
        return {k: v.detach() for k, v in zip(self.params, values, strict=True)}

    @property
    def each(self) -> list[tuple[NetworkStack, slice]]:
        """This stack alone, with its rows among all networks."""
        return [(self, slice(None))]

    def steps(self, position: Tensor, epoch: Tensor, first: int | None = None) -> None:
        """Take a block of steps on the pairs at these positions, (steps, N, B) each.

        They begin at step `first`, by default the next one. Those that were taken before a
        training was stopped are not taken again.
        """
        first = self.taken if first is None else first
        begin, end = self.taken - first, first + len(position)
        if self.taken < end:
            try:
                self.kernel.run(position[begin:], epoch[begin:])
            except StoppedAtPause:
                self.taken = int(self.adam.count)  # the steps before the one that was stopped
                raise
            self.taken = end

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
        """Return parameters, Adam's moments, columns and loss by name, without copies."""
        state = {"adam/count": self.adam.count, "loss": self.loss}
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
        self.taken = int(self.adam.count)
