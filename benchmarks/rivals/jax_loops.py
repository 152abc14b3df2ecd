"""The same trainings in JAX, compiled whole: members by vmap, or one after the other by lax.map."""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp

from benchmarks.rivals import problem as shared
from benchmarks.rivals.problem import HALF_LOG_2PI, UNITS, Problem, Rival, Variant

Params = dict[str, Any]


def linear(params: Params, name: str, x: Any) -> Any:
    """Return x W + b."""
    return x @ params[f"{name}.weight"] + params[f"{name}.bias"]


def gru(params: Params, obs: Any) -> Any:
    """Return the last state of a GRU over the windows of obs (B, T, S)."""
    inputs = linear(params, "gru.input", obs)  # (B, T, 3H)
    h = jnp.zeros((len(obs), UNITS))
    for t in range(obs.shape[1]):
        x, u = inputs[:, t], linear(params, "gru.state", h)
        gates = jax.nn.sigmoid((x + u)[:, : 2 * UNITS])
        r, z = gates[:, :UNITS], gates[:, UNITS:]
        n = jnp.tanh(x[:, 2 * UNITS :] + r * u[:, 2 * UNITS :])
        h = n + z * (h - n)
    return h


def policy_loss(params: Params, obs: Any, actions: Any) -> Any:
    """Return eq. M1 of one network, for actions (B, M, A) of C(s, a)."""
    x = gru(params, obs) if "gru.input.weight" in params else obs
    for name in ("layer0", "layer1"):
        if f"{name}.weight" in params:
            x = jax.nn.relu(linear(params, name, x))
    mean, log_std = jnp.split(linear(params, "head", x), 2, axis=-1)
    mean, log_std = jnp.tanh(mean)[:, None], jnp.clip(log_std, -20, 2)[:, None]
    z = (actions - mean) * jnp.exp(-log_std)
    log_pi = (-0.5 * z * z - log_std - HALF_LOG_2PI).sum(-1)  # (B, M)
    weights = jax.nn.softmax(log_pi, axis=-1) if actions.shape[1] > 1 else 1.0
    if "rho0.weight" in params:
        rho = jax.nn.relu(linear(params, "rho0", obs))
        rho = linear(params, "rho2", jax.nn.relu(linear(params, "rho1", rho)))
        weights = jax.nn.softmax(rho, axis=0)
    return -(weights * log_pi).sum(-1).mean()


def take_step(data: tuple[Any, Any], state: Any, index: Any) -> Any:
    """Take one step of Adam on these pairs, and return the loss before it."""
    params, first, second, t = state
    obs, actions = data
    loss, grads = jax.value_and_grad(policy_loss)(params, obs[index], actions[index])
    (b1, b2), t = shared.BETAS, t + 1
    first = jax.tree.map(lambda m, g: b1 * m + (1 - b1) * g, first, grads)
    second = jax.tree.map(lambda v, g: b2 * v + (1 - b2) * g * g, second, grads)
    rate, scale = shared.LEARNING_RATE / (1 - b1**t), 1 / (1 - b2**t)
    params = jax.tree.map(
        lambda p, m, v: p - rate * m / (jnp.sqrt(v * scale) + shared.EPSILON), params, first, second
    )
    return (params, first, second, t), loss


def shuffled_order(key: Any, epochs: int, pairs: int, batch: int) -> Any:
    """Return the pairs of each step of some epochs: (steps, B)."""
    keys = jax.random.bits(key, (epochs, pairs))
    return jnp.argsort(keys, axis=-1).reshape(-1, batch)


class Training:
    """The members of one method, each with its own state, key and counterfactuals."""

    def __init__(self, problem: Problem, method: str, one_by_one: bool) -> None:
        self.problem = problem
        params = jax.tree.map(jnp.asarray, problem.params[method])
        self.obs, self.actions = jnp.asarray(problem.inputs(method)), problem.targets(method)
        self.actions = jnp.asarray(self.actions)
        zeros = [jax.tree.map(jnp.zeros_like, params) for _ in range(2)]
        self.state = (params, *zeros, jnp.zeros(problem.members))
        self.keys = jax.random.split(jax.random.key(0), problem.members)
        self.axis = 0 if self.actions.ndim == 4 else None
        self.one_by_one = one_by_one
        self._blocks: dict[int, Any] = {}  # compiled functions, by number of steps

    def _members(self, member: Any) -> Any:
        """Return a function of all members from one of a member: (state, its own, actions)."""
        if not self.one_by_one:
            return jax.vmap(member, (0, 0, self.axis))

        def one_after_the_other(state: Any, part: Any, actions: Any) -> Any:
            if self.axis == 0:
                return jax.lax.map(lambda x: member(*x), (state, part, actions))
            return jax.lax.map(lambda x: member(*x, actions), (state, part))

        return one_after_the_other

    def _given_steps(self, state: Any, index: Any, actions: Any) -> Any:
        return jax.lax.scan(partial(take_step, (self.obs, actions)), state, index)

    def _shuffled_steps(self, epochs: int, state: Any, key: Any, actions: Any) -> Any:
        key, now = jax.random.split(key)
        order = shuffled_order(now, epochs, self.problem.pairs, self.problem.batch)
        state, _ = self._given_steps(state, order, actions)
        return state, key

    def run(self, steps: int) -> None:
        """Take steps of whole epochs; every number of steps is compiled once."""
        if steps not in self._blocks:
            epochs = steps * self.problem.batch // self.problem.pairs
            member = partial(self._shuffled_steps, epochs)
            self._blocks[steps] = jax.jit(self._members(member), donate_argnums=0)
        self.state, self.keys = self._blocks[steps](self.state, self.keys, self.actions)
        jax.block_until_ready(self.state)

    def losses(self) -> Any:
        """Return the losses at the last of the problem's positions."""
        positions = jnp.asarray(self.problem.positions.swapaxes(0, 1))  # (N, K, B)
        check = jax.jit(self._members(self._given_steps))
        return check(self.state, positions, self.actions)[1][:, -1]


def vmap(problem: Problem, method: str) -> Variant:
    """Return all members by vmap."""
    return _variant(problem, method, False)


def one_by_one(problem: Problem, method: str) -> Variant:
    """Return all members by lax.map, which keeps each one's weights in cache."""
    return _variant(problem, method, True)


def _variant(problem: Problem, method: str, one_by_one: bool) -> Variant:
    def losses() -> Any:
        return Training(problem, method, one_by_one).losses()

    return Variant(problem.members, Training(problem, method, one_by_one).run, losses)


RIVALS: dict[str, Rival] = {"JAX, jit(vmap)": vmap, "JAX, jit(lax.map)": one_by_one}
