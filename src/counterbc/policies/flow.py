"""Policies that generate chunks of actions by flow matching."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import ClassVar, NoReturn

import torch
from torch import Tensor

from counterbc.errors import OptionError
from counterbc.policies.fused import HALF_LOG_2PI
from counterbc.policies.gaussian_mlp import GaussianMLP
from counterbc.policies.layers import linear
from counterbc.policies.policy import Params, Policy
from counterbc.policies.residual import Residual, init_residual

KAPPA = 10.0
"""κ: how many units of log π a unit of squared error counts at t = 1. Larger values make the
choice among the actions of C(s, a) sharper; as κ → 0 all of them count the same."""
_OCTAVES = 6  # of the time, each read as sine and cosine


@dataclass(frozen=True)
class Flow(Residual):
    """A velocity field v_θ that carries noise z ~ N(0, I) to chunks of actions a.

    It is learned by regression on straight lines from z to a, with t uniform in (0, 1):

        x_t = z + t (a − z)        e = ‖v_θ(x_t, t, s) − (a − z)‖² / A        ℓ = −κ t² A e

    for each of the H steps of a chunk, where ℓ stands in for log π. An action is the end x_1 of
    dx/dt = v_θ(x, t, s) from x_0 = temperature · z, in Euler steps.
    """

    stacks: ClassVar[bool] = True
    has_density: ClassVar[bool] = False
    steps_by_pairs: ClassVar[tuple[tuple[int, int], ...]] = ((10_000, 5_000),)
    temperature: float = 0.5
    """The scale of the initial noise when acting: 1 samples what was demonstrated, less keeps
    closer to the most common actions, and 0 is deterministic."""
    euler: int = 10
    """The number of Euler steps when acting."""
    horizon: int = field(default=8, kw_only=True)
    execute: int = field(default=4, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "temperature", float(self.temperature))
        if not 0 <= self.temperature < math.inf:
            raise OptionError(f"temperature is {self.temperature}; it must be 0 or more")
        if self.euler < 1:
            raise OptionError(f"euler is {self.euler}; acting takes 1 or more Euler steps")

    def one_step(self) -> Policy:
        return GaussianMLP()

    def with_modes(self, modes: int) -> Policy:
        raise OptionError(
            f"modes is {modes}, but a {type(self).__name__} has as many as the data; choose the "
            "policy chunk or mixture, or leave modes out"
        )

    def init(self, generator: torch.Generator, obs_size: int, action_size: int) -> Params:
        return self._init_layers(generator, obs_size * self.history, action_size)

    def _init_layers(self, generator: torch.Generator, state_size: int, action_size: int) -> Params:
        inputs = state_size + 2 * _OCTAVES + action_size
        return init_residual(generator, inputs, self.widths, action_size)

    def error_numbers(self, action_size: int) -> int:
        return 1 + action_size  # t and z

    def errors(
        self, params: Params, obs: Tensor, actions: Tensor, u: Tensor
    ) -> tuple[Tensor, Tensor]:
        t, z = u[..., :1], torch.special.ndtri(u[..., 1:])  # (B, 1), (B, D)
        count, x = actions.shape[-2], self.state(params, obs)
        if count == 1:
            target = actions.squeeze(-2) - z
            x = torch.cat([x, waves(t), torch.addcmul(z, t, target)], -1)
            v = self.outputs(params, linear(x, params["layer0.weight"], params["layer0.bias"]))
        else:  # the first layer reads state and time once for all M actions
            target = actions - z.unsqueeze(-2)  # (B, M, D)
            by_state, by_action = _split(params["layer0.weight"], actions.shape[-1])
            state = linear(torch.cat([x, waves(t)], -1), by_state, params["layer0.bias"])
            x_t = torch.addcmul(z.unsqueeze(-2), t.unsqueeze(-2), target)
            first = (x_t.flatten(-3, -2) @ by_action).unflatten(-2, target.shape[-3:-1])
            v = self.outputs(params, (first + state.unsqueeze(-2)).flatten(-3, -2))
            v = v.unflatten(-2, target.shape[-3:-1])
        size = actions.shape[-1] // self.horizon
        error = (v - target).square().unflatten(-1, (self.horizon, size)).mean(-1)  # (B, M, H)
        error = error.unsqueeze(-1) if count == 1 else error.transpose(-2, -1)  # (B, H, M)
        return error, (-KAPPA * size) * t.square().unsqueeze(-1) * error.detach()

    def act_numbers(self, action_size: int, sampled: bool) -> int:
        return action_size if sampled or self.temperature else 0

    def act(self, params: Params, obs: Tensor, u: Tensor | None, sampled: bool) -> Tensor:
        t = torch.arange(self.euler, device=obs.device) / self.euler
        state, times, by_action = self._first_layer(params, obs, t)
        if u is None:
            x = state.new_zeros(*state.shape[:-1], by_action.shape[-2])
        else:
            x = (1.0 if sampled else self.temperature) * torch.special.ndtri(u)  # (B, D)
        for k in range(self.euler):
            first = _add_product(state + times[..., k : k + 1, :], x, by_action)
            x = x + self.outputs(params, first) / self.euler
        return x

    def _first_layer(self, params: Params, obs: Tensor, t: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return the first layer's parts of states (B, W) and times (K, W), and weights (D, W)."""
        by_state, by_action = _split(params["layer0.weight"], params["head.bias"].shape[-1])
        by_state, by_time = _split(by_state, 2 * _OCTAVES)
        state = linear(self.state(params, obs), by_state, params["layer0.bias"])
        return state, waves(t.to(state).unsqueeze(-1)) @ by_time, by_action

    def log_likelihood(self, params: Params, obs: Tensor, action: Tensor, steps: int) -> Tensor:
        """Return log π(a|s) of actions (B, D) at temperature 1, by integrating back to the noise.

            log π(a|s) = log N(x_0; 0, I) − ∫ tr ∂v_θ/∂x dt

        The midpoint rule takes 2 · `steps` velocities and the trace D gradients of each: this is a
        reference for small D. Returns (B,), without a gradient.
        """
        t = torch.linspace(0, 1, 2 * steps + 1, device=obs.device)
        state, times, by_action = (x.detach() for x in self._first_layer(params, obs, t))

        def velocity_and_trace(x: Tensor, k: int) -> tuple[Tensor, Tensor]:
            with torch.enable_grad():
                x = x.detach().requires_grad_()
                first = _add_product(state + times[..., k : k + 1, :], x, by_action)
                v = self.outputs(params, first)
                columns = v.sum(tuple(range(v.ndim - 1)))  # rows do not depend on each other
                slopes = [torch.autograd.grad(c, x, retain_graph=True)[0] for c in columns]
            return v.detach(), torch.stack([g[..., d] for d, g in enumerate(slopes)]).sum(0)

        x, log_pi = action, torch.zeros_like(action[..., 0])
        for k in range(2 * steps, 0, -2):
            v, _ = velocity_and_trace(x, k)
            v, trace = velocity_and_trace(x - v / (2 * steps), k - 1)
            x, log_pi = x - v / steps, log_pi - trace / steps
        return log_pi - 0.5 * x.square().sum(-1) - x.shape[-1] * HALF_LOG_2PI

    def head(self, params: Params, obs: Tensor) -> tuple[Tensor, ...]:
        return (self.state(params, obs),)

    def log_prob(self, head: tuple[Tensor, ...], actions: Tensor) -> Tensor:
        self._refuse("its errors")

    def mean(self, head: tuple[Tensor, ...]) -> Tensor:
        self._refuse("act")

    def sample(self, head: tuple[Tensor, ...], u: Tensor) -> Tensor:
        self._refuse("act")

    def _refuse(self, instead: str) -> NoReturn:
        raise OptionError(
            f"a {type(self).__name__} has no tractable likelihood; use {instead}, or choose the "
            "policy chunk"
        )


def waves(t: Tensor) -> Tensor:
    """Return sine and cosine of 2^k π/2 t for each octave k: (B, 1) → (B, 2 · octaves)."""
    octaves = torch.arange(_OCTAVES, device=t.device, dtype=t.dtype)
    angle = t * (0.5 * math.pi * octaves.exp2())
    return torch.cat([angle.sin(), angle.cos()], -1)


def _split(weight: Tensor, rows: int) -> tuple[Tensor, Tensor]:
    """Return all but the last rows of a weight, and the last rows."""
    return weight[..., :-rows, :], weight[..., -rows:, :]


def _add_product(bias: Tensor, x: Tensor, weight: Tensor) -> Tensor:
    """Return bias + x W with a bias for each row: (B, W)."""
    return torch.baddbmm(bias, x, weight) if weight.ndim == 3 else torch.addmm(bias, x, weight)
