"""The same trainings in PyTorch: one model after the other, or all of them stacked."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor
from torch.distributions import Normal
from torch.utils.data import DataLoader, TensorDataset

from benchmarks.rivals import problem as shared
from benchmarks.rivals.problem import HALF_LOG_2PI, UNITS, Problem, Rival, Variant

Params = dict[str, Tensor]
Loss = Callable[[Params, Tensor, Tensor], Tensor]


def linear(params: Params, name: str, x: Tensor) -> Tensor:
    """Return x W + b of one network, x (B, I), or of N of them, x (N, B, I)."""
    weight, bias = params[f"{name}.weight"], params[f"{name}.bias"]
    if weight.ndim == 3:
        return torch.baddbmm(bias.unsqueeze(1), x, weight)
    return torch.addmm(bias, x, weight)


def gru(params: Params, obs: Tensor) -> Tensor:
    """Return the last state of a GRU over the windows of obs (…, B, T, S)."""
    h = obs.new_zeros(*obs.shape[:-2], UNITS)
    for x in obs.unbind(-2):
        inputs, states = linear(params, "gru.input", x), linear(params, "gru.state", h)
        r, z = (inputs + states)[..., : 2 * UNITS].sigmoid().chunk(2, dim=-1)
        n = (inputs[..., 2 * UNITS :] + r * states[..., 2 * UNITS :]).tanh()
        h = torch.lerp(n, h, z)
    return h


def policy_loss(params: Params, obs: Tensor, actions: Tensor) -> Tensor:
    """Return eq. M1 of each network, for actions (…, B, M, A) of C(s, a): a scalar, or (N,)."""
    x = gru(params, obs) if "gru.input.weight" in params else obs
    for name in ("layer0", "layer1"):
        if f"{name}.weight" in params:
            x = linear(params, name, x).relu()
    mean, log_std = linear(params, "head", x).chunk(2, dim=-1)
    mean, log_std = mean.tanh().unsqueeze(-2), log_std.clamp(-20, 2).unsqueeze(-2)
    z = (actions - mean) * (-log_std).exp()
    log_pi = (-0.5 * z.square() - log_std - HALF_LOG_2PI).sum(-1)  # (…, B, M)
    weights = log_pi.softmax(-1)  # 1 where C(s, a) = {a}
    if "rho0.weight" in params:
        rho = linear(params, "rho1", linear(params, "rho0", obs).relu()).relu()
        weights = linear(params, "rho2", rho).softmax(-2)
    return -(weights * log_pi).sum(-1).mean(-1)


def _trained(params: dict[str, Any], fused: bool) -> tuple[Params, torch.optim.Optimizer]:
    tensors = {k: torch.tensor(v).requires_grad_() for k, v in params.items()}
    adam = torch.optim.Adam(
        tensors.values(), shared.LEARNING_RATE, shared.BETAS, shared.EPSILON, fused=fused
    )
    return tensors, adam


class OneModel:
    """The loop that people write: one model, autograd and Adam."""

    def __init__(self, problem: Problem, method: str) -> None:
        first = {k: v[0] for k, v in problem.params[method].items()}
        self.params, self.adam = _trained(first, fused=False)
        self.obs = torch.from_numpy(problem.inputs(method))
        targets = problem.targets(method)
        self.actions = torch.from_numpy(targets[0] if targets.ndim == 4 else targets)
        self.batch = problem.batch

    def step(self, obs: Tensor, actions: Tensor) -> Tensor:
        """Take one gradient step on these pairs."""
        loss = policy_loss(self.params, obs, actions)
        self.adam.zero_grad()
        loss.backward()
        self.adam.step()
        return loss.detach()

    def run(self, steps: int) -> None:
        """Take steps on batches of shuffled epochs."""
        order = torch.randperm(0)
        for _ in range(steps):
            if len(order) < self.batch:
                order = torch.randperm(len(self.obs))
            index, order = order[: self.batch], order[self.batch :]
            self.step(self.obs[index], self.actions[index])


def plain(problem: Problem, method: str) -> Variant:
    """Return one model in an ordinary loop, in memory and without a DataLoader."""

    def losses() -> Any:
        model = OneModel(problem, method)
        for index in torch.from_numpy(problem.positions[:, 0]):
            loss = model.step(model.obs[index], model.actions[index])
        return loss.reshape(1).numpy()

    return Variant(1, OneModel(problem, method).run, losses)


class AuthorsModel(torch.nn.Module):
    """A Gaussian policy of torch's modules and distributions; a second network weights states."""

    def __init__(self, method: str, obs_size: int, action_size: int) -> None:
        super().__init__()
        self.gru = torch.nn.GRU(obs_size, UNITS, batch_first=True) if method == "bc-rnn" else None
        inputs = obs_size if self.gru is None else UNITS
        layers = [inputs, UNITS, UNITS] if self.gru is None else [inputs, UNITS]
        self.body = _relu_layers(layers)
        self.mean = torch.nn.Linear(UNITS, action_size)
        self.log_std = torch.nn.Linear(UNITS, action_size)
        self.rho = None
        if method == "weighted-bc":
            last = torch.nn.Linear(UNITS, 1)
            self.rho = torch.nn.Sequential(_relu_layers([obs_size, UNITS, UNITS]), last)

    def forward(self, obs: Tensor, actions: Tensor) -> Tensor:
        """Return the mean loss over pairs, for actions (B, M, A)."""
        x = obs if self.gru is None else self.gru(obs)[0][:, -1]
        x = self.body(x)
        mean, std = self.mean(x).tanh(), self.log_std(x).clamp(-20, 2).exp()
        log_pi = Normal(mean.unsqueeze(1), std.unsqueeze(1)).log_prob(actions).sum(-1)
        weights = log_pi.softmax(1) if self.rho is None else self.rho(obs).softmax(0)
        loss: Tensor = -(weights * log_pi).sum(1).mean()
        return loss


def _relu_layers(sizes: list[int]) -> torch.nn.Sequential:
    layers: list[torch.nn.Module] = []
    for inputs, outputs in itertools.pairwise(sizes):
        layers += [torch.nn.Linear(inputs, outputs), torch.nn.ReLU()]
    return torch.nn.Sequential(*layers)


def authors(problem: Problem, method: str) -> Variant:
    """Return one model in a loop as the authors write it: a DataLoader, modules, Adam."""
    data = OneModel(problem, method)
    model = AuthorsModel(method, problem.obs.shape[-1], problem.action.shape[-1])
    adam = torch.optim.Adam(model.parameters(), shared.LEARNING_RATE)
    loader = DataLoader(TensorDataset(data.obs, data.actions), problem.batch, shuffle=True)

    def batches() -> Iterator[Any]:
        while True:
            yield from loader

    stream = batches()

    def run(steps: int) -> None:
        for _ in range(steps):
            loss = model(*next(stream))
            adam.zero_grad()
            loss.backward()
            adam.step()

    return Variant(1, run)


class Stacked:
    """All members at once: batched products, autograd, fused Adam."""

    def __init__(self, problem: Problem, method: str, loss: Loss) -> None:
        self.loss = loss
        self.params, self.adam = _trained(problem.params[method], fused=True)
        self.obs = torch.from_numpy(problem.inputs(method))
        self.actions = torch.from_numpy(problem.targets(method))
        self.rows = torch.arange(problem.members).unsqueeze(1)
        self.batch = problem.batch

    def step(self, index: Tensor) -> Tensor:
        """Take one step on pairs (N, B)."""
        has_sets = self.actions.ndim == 4  # every member has its own counterfactuals
        actions = self.actions[self.rows, index] if has_sets else self.actions[index]
        losses = self.loss(self.params, self.obs[index], actions)
        self.adam.zero_grad()
        losses.sum().backward()
        self.adam.step()
        return losses.detach()

    def run(self, steps: int) -> None:
        """Take steps on batches of shuffled epochs."""
        order = torch.zeros(len(self.rows), 0, dtype=torch.int64)
        for _ in range(steps):
            if order.shape[1] < self.batch:
                order = torch.rand(len(self.rows), len(self.obs)).argsort(1)
            index, order = order[:, : self.batch], order[:, self.batch :]
            self.step(index)


def _stacked(problem: Problem, method: str, loss: Loss) -> Variant:
    def losses() -> Any:
        models = Stacked(problem, method, loss)
        for index in torch.from_numpy(problem.positions):
            last = models.step(index)
        return last.numpy()

    return Variant(problem.members, Stacked(problem, method, loss).run, losses)


def stack_models(problem: Problem, method: str) -> Variant:
    """Return all members as stacked tensors."""
    return _stacked(problem, method, policy_loss)


def compile_stacked(problem: Problem, method: str) -> Variant:
    """Return all members as stacked tensors, loss and gradient by torch.compile."""
    return _stacked(problem, method, torch.compile(policy_loss))


RIVALS: dict[str, Rival] = {
    "loop in the authors' style": authors,
    "PyTorch, one model": plain,
    "PyTorch, stacked": stack_models,
    "torch.compile, stacked": compile_stacked,
}
