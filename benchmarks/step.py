"""Measure the speed of a training step, as ratios of variants that alternate in one run.

    python benchmarks/step.py [--members 50] [--rounds 12] [--json FILE]

In each round every variant runs a few dozen steps. A ratio is the median over rounds of two times
of the same round, so that a slow moment of the machine affects both. There are 400 pairs, 4
observation and 2 action dimensions, and two hidden layers of 64.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from counterbc.demonstrators import UniformNoise, demonstrate
from counterbc.errors import InfeasibleActions
from counterbc.kernels.dispatch import choose_kernel
from counterbc.methods import METHODS
from counterbc.settings import Settings
from counterbc.training.batches import Batches
from counterbc.training.network_stack import NetworkStack
from counterbc.training.plan import plan_training, seed_members
from counterbc.training.run import initial_params, plan_view

PAIRS, OBS, HIDDEN, ACTION = 400, 4, 64, 2
Steps = Callable[[int], None]


def population(method: str, members: int, batch: int) -> Steps:
    """Return the step of the library, batches and gathering included."""
    settings = Settings(batch=batch, radius=0.4)
    demos = demonstrate("intersection", UniformNoise(0.5), PAIRS, 0)
    configured = settings.apply(METHODS[method])
    seeds = seed_members([demos], range(members), [[settings.radius]])
    plan = plan_training([demos], configured, settings, seeds)
    view = plan_view(plan, torch.device("cpu"), torch.float32)
    view.update_columns(None, 1)
    case = view.case(batch)
    kernel = choose_kernel(settings.kernel, case)
    rate = settings.rate(configured.policy)
    stack = NetworkStack(view, initial_params(plan, view, 0), rate, case, kernel)
    batches = Batches(view.nets, batch)

    def run(steps: int) -> None:
        stack.steps(*batches.block(0, steps))

    return run


class Module(nn.Module):
    """The same policy as an ordinary module."""

    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Linear(OBS, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, HIDDEN), nn.ReLU()
        )
        self.mean, self.log_std = nn.Linear(HIDDEN, ACTION), nn.Linear(HIDDEN, ACTION)

    def forward(self, obs: Tensor) -> torch.distributions.Normal:
        x = self.body(obs)
        return torch.distributions.Normal(self.mean(x).tanh(), self.log_std(x).clamp(-20, 2).exp())


def ordinary(batch: int, counterfactuals: int = 0) -> Steps:
    """Return the step of one model in an ordinary loop, in memory and without a DataLoader."""
    obs, action = torch.randn(PAIRS, OBS), torch.rand(PAIRS, 1 + counterfactuals, ACTION)
    model = Module()
    optimizer = torch.optim.Adam(model.parameters(), 1e-3)

    def run(steps: int) -> None:
        for _ in range(steps):
            index = torch.randperm(PAIRS)[:batch]
            normal = model(obs[index].unsqueeze(1))
            log_pi = normal.log_prob(action[index]).sum(-1)  # (B, M)
            loss = -(log_pi.softmax(1) * log_pi).sum(1).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

    return run


def by_hand(members: int, batch: int) -> Steps:
    """Return a step written for this network alone: baddbmm on stacked weights, fused Adam."""
    obs, action = torch.randn(PAIRS, OBS), torch.rand(PAIRS, ACTION)
    sizes = ((OBS, HIDDEN), (HIDDEN, HIDDEN), (HIDDEN, 2 * ACTION))
    weights = [(torch.randn(members, i, o) / i**0.5).requires_grad_() for i, o in sizes]
    biases = [torch.zeros(members, 1, o, requires_grad=True) for _, o in sizes]
    optimizer = torch.optim.Adam([*weights, *biases], 1e-3, fused=True)

    def run(steps: int) -> None:
        for _ in range(steps):
            index = torch.randint(PAIRS, (members, batch))
            x, a = obs[index], action[index]
            for w, b in zip(weights[:-1], biases[:-1], strict=True):
                x = torch.baddbmm(b, x, w).relu()
            mean, log_std = torch.baddbmm(biases[-1], x, weights[-1]).chunk(2, -1)
            log_std = log_std.clamp(-20, 2)
            z = (a - mean.tanh()) * (-log_std).exp()
            loss = (0.5 * z.square() + log_std).sum(-1).mean(-1).sum()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

    return run


def multiply(size: int = 1024) -> Steps:
    """Return large matrix products, whose rate counts as the peak of the machine."""
    a, b = torch.randn(size, size), torch.randn(size, size)

    def run(steps: int) -> None:
        for _ in range(steps):
            a @ b

    return run


def measure(variants: dict[str, tuple[Steps, int]], rounds: int) -> dict[str, list[float]]:
    """Return the seconds per step of each variant in each round."""
    for run, steps in variants.values():
        run(max(2, steps // 4))
    seconds: dict[str, list[float]] = {name: [] for name in variants}
    for _ in range(rounds):
        for name, (run, steps) in variants.items():
            start = time.perf_counter()
            run(steps)
            seconds[name].append((time.perf_counter() - start) / steps)
    return seconds


def flops(members: int, batch: int) -> float:
    """Return the FLOPs of a BC step: two backward products per forward one, less one to the obs."""
    forward = 2 * batch * (OBS * HIDDEN + HIDDEN * HIDDEN + HIDDEN * 2 * ACTION)
    return members * (3 * forward - 2 * batch * OBS * HIDDEN)


def report(seconds: dict[str, list[float]], members: int) -> dict[str, Any]:
    """Return the ratios as medians over rounds, with the quartiles."""

    def ratio(a: str, b: str, factor: float = 1.0) -> list[float]:
        values = factor * np.array(seconds[a]) / np.array(seconds[b])
        return [round(float(v), 3) for v in np.percentile(values, [50, 25, 75])]

    peak = 2 * 1024**3 / np.array(seconds["peak"])
    share = flops(members, 40) / np.array(seconds["bc 40"]) / peak
    return {
        "members": members,
        "threads": torch.get_num_threads(),
        "a: ordinary loops / population, BC": ratio("ordinary bc", "bc 40", members),
        "a: ordinary loops / population, Counter-BC": ratio(
            "ordinary counter", "counter 40", members
        ),
        "b: BC step / written by hand": ratio("bc 40", "by hand"),
        "c: Counter-BC / BC, batch 40": ratio("counter 40", "bc 40"),
        "c: Counter-BC / BC, batch 160": ratio("counter 160", "bc 160"),
        "d: share of matrix-multiply peak": [
            round(float(v), 3) for v in np.percentile(share, [50, 25, 75])
        ],
        "microseconds per model-step": {
            name: round(float(np.median(values)) / (1 if "ordinary" in name else members) * 1e6, 1)
            for name, values in seconds.items()
            if name != "peak"
        },
        "peak GFLOP/s": round(float(np.median(peak)) / 1e9, 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--members", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--json", type=Path, default=None)
    options = parser.parse_args()
    warnings.simplefilter("ignore", InfeasibleActions)
    members = options.members
    variants = {
        "bc 40": (population("bc", members, 40), 100),
        "by hand": (by_hand(members, 40), 100),
        "counter 40": (population("counter-bc", members, 40), 100),
        "bc 160": (population("bc", members, 160), 40),
        "counter 160": (population("counter-bc", members, 160), 40),
        "ordinary bc": (ordinary(40), 60),
        "ordinary counter": (ordinary(40, 50), 60),
        "peak": (multiply(), 5),
    }
    result = report(measure(variants, options.rounds), members)
    for name, value in result.items():
        text = (
            f"{value[0]:.2f}  ({value[1]:.2f} … {value[2]:.2f})"
            if isinstance(value, list)
            else value
        )
        print(f"{name:46} {text}")
    if options.json is not None:
        options.json.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
