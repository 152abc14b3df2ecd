"""This library's steps, batches and gathering included, and the problem that rivals share."""

from __future__ import annotations

from typing import Any

import counterbc  # noqa: F401 - before torch, whose threads then sleep as they wait

# isort: split
import numpy as np
import torch

from benchmarks.rivals.problem import HISTORY, METHODS, Problem, Rival, Variant
from counterbc.demonstrators import UniformNoise, demonstrate
from counterbc.kernels.dispatch import choose_kernel
from counterbc.methods import METHODS as OUR_METHODS
from counterbc.settings import Settings
from counterbc.training.batches import Batches
from counterbc.training.network_stack import NetworkStack
from counterbc.training.plan import plan_training, seed_members
from counterbc.training.run import initial_params, plan_view
from counterbc.training.view import View

CHECK_STEPS = 20


class Training:
    """One method's population on 400 pairs of Intersection, as `train` sets it up."""

    def __init__(
        self, method: str, members: int, pairs: int, batch: int, kernel: str = "auto"
    ) -> None:
        self.settings = Settings(batch=batch, radius=0.4, kernel=kernel)
        demos = demonstrate("intersection", UniformNoise(0.5), pairs, 0)
        self.method = self.settings.apply(OUR_METHODS[method])
        seeds = seed_members([demos], range(members), [[self.settings.radius]])
        self.plan = plan_training([demos], self.method, self.settings, seeds)
        self.view: View = plan_view(self.plan, torch.device("cpu"), torch.float32)
        self.view.update_columns(None, 1)
        self.batches = Batches(self.view.nets, batch)

    def stack(self) -> NetworkStack:
        """Return the networks with their initial weights."""
        case = self.view.case(self.batches.batch)
        kernel = choose_kernel(self.settings.kernel, case)
        rate = self.settings.rate(self.method.policy)
        params = initial_params(self.plan, self.view, 0)
        return NetworkStack(self.view, params, rate, case, kernel)


def make_problem(members: int, pairs: int, batch: int) -> Problem:
    """Return what the library trains with, as arrays."""
    trainings = {name: Training(name, members, pairs, batch) for name in METHODS}
    everything = torch.arange(pairs).expand(members, pairs)
    whole = {
        name: x.view.batch(everything, torch.zeros_like(everything))
        for name, x in trainings.items()
    }
    params = {
        name: {
            key.removeprefix("policy.").removeprefix("weighting."): value.numpy()
            for key, value in initial_params(x.plan, x.view, 0).items()
        }
        for name, x in trainings.items()
    }
    positions, _ = trainings["bc"].batches.block(0, CHECK_STEPS)
    windows = whole["bc-rnn"].obs[0].numpy()
    assert windows.shape[1] == HISTORY
    return Problem(
        obs=whole["bc"].obs[0].numpy(),
        windows=windows,
        action=whole["bc"].actions[0, :, 0].numpy(),
        sets=np.ascontiguousarray(whole["counter-bc"].actions.numpy()),
        params=params,
        positions=positions.numpy(),
    )


def population(problem: Problem, method: str, kernel: str = "auto") -> Variant:
    """Return all members of a method as one population."""
    training = Training(method, problem.members, problem.pairs, problem.batch, kernel)
    stack, steps_taken = training.stack(), 0

    def run(steps: int) -> None:
        nonlocal steps_taken
        stack.steps(*training.batches.block(steps_taken, steps))
        steps_taken += steps

    def losses() -> Any:
        fresh, position = training.stack(), torch.from_numpy(problem.positions)
        fresh.steps(position, torch.zeros_like(position))
        return fresh.loss.detach().numpy()

    return Variant(problem.members, run, losses, type(stack.kernel).__name__)


RIVALS: dict[str, Rival] = {"counterbc": population}
