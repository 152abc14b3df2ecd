"""Measure the speed of a training step, as ratios of variants that alternate in one run.

    python benchmarks/step.py [--members 50] [--rounds 12] [--json benchmarks/results/step.json]

In each round every variant runs a few dozen steps, and wall and processor time are measured. A
ratio is the median over rounds of two times of the same round, so that a slow moment of the machine
affects both. There are 400 pairs, 4 observation and 2 action dimensions, and two hidden layers of
64; BC-RNN has a GRU of 64. Kernels are compiled before. Where other programs run, processor times
are the ones to read.
"""

from __future__ import annotations

import argparse
import json
import os
import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import counterbc  # noqa: F401 - before torch, whose threads then sleep as they wait

# isort: split
import numpy as np
import torch
from torch import Tensor, nn

from counterbc.data.demonstrations import Demonstrations
from counterbc.demonstrators import UniformNoise, demonstrate
from counterbc.errors import InfeasibleActions
from counterbc.kernels.dispatch import choose_kernel
from counterbc.methods import METHODS
from counterbc.settings import Settings
from counterbc.training.batches import Batches
from counterbc.training.network_stack import NetworkStack
from counterbc.training.plan import plan_training, seed_members
from counterbc.training.run import initial_params, plan_view

PAIRS, OBS, HIDDEN, ACTION, HISTORY = 400, 4, 64, 2, 5
WEIGHTING_OUTPUTS = {"weighted-bc": 1, "ileed": 8}
"""The last layer of the weighting's network, which reads states as the policy does."""
TALL = 1024
"""The size of the matrices whose product counts as the peak of the machine."""
Steps = Callable[[int], None]


def demonstrations() -> Demonstrations:
    """Return noisy demonstrations of two operators, whom ILEED tells apart."""
    demos = demonstrate("intersection", UniformNoise(0.5), PAIRS, 0)
    episodes = (replace(e, operator="ab"[i % 2]) for i, e in enumerate(demos.episodes))
    return replace(demos, episodes=tuple(episodes))


def population(method: str, members: int, batch: int, kernel_name: str = "auto") -> Steps:
    """Return the step of the library, batches and gathering included."""
    settings = Settings(batch=batch, radius=0.4, kernel=kernel_name)
    demos = demonstrations()
    configured = settings.apply(METHODS[method])
    seeds = seed_members([demos], range(members), [[settings.radius]])
    plan = plan_training([demos], configured, settings, seeds)
    view = plan_view(plan, torch.device("cpu"), torch.float32)
    view.update_columns(None, 1)
    if configured.rounds > 1:  # as in the rounds after the first, which weigh pairs
        view.update_columns(initial_params(plan, view, 0), configured.shards)
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


def multiply(size: int = TALL) -> Steps:
    """Return large matrix products, whose rate counts as the peak of the machine."""
    a, b = torch.randn(size, size), torch.randn(size, size)

    def run(steps: int) -> None:
        for _ in range(steps):
            a @ b

    return run


class Variant(NamedTuple):
    """Something that takes steps."""

    run: Steps
    steps: int
    """Steps of a turn."""
    networks: int = 1


class Ratio(NamedTuple):
    """A comparison of two variants, per network and step."""

    what: str
    above: str
    below: str
    goal: str = ""


RATIOS = (
    Ratio("one model in an ordinary loop / BC", "ordinary BC", "BC", "≥ 12"),
    Ratio("one model in an ordinary loop / Counter-BC", "ordinary Counter-BC", "Counter-BC"),
    Ratio("BC / written by hand in torch", "BC", "BC by hand", "≤ 1.3"),
    Ratio("Counter-BC / BC", "Counter-BC", "BC", "≤ 1.25"),
    Ratio("Counter-BC / BC, batch 160", "Counter-BC, batch 160", "BC, batch 160"),
    Ratio("Weighted-BC / BC", "Weighted-BC", "BC", "≤ 2"),
    Ratio("ILEED / BC", "ILEED", "BC"),
    Ratio("BCND / BC", "BCND", "BC", "≤ 1.5"),
    Ratio("BC-RNN / BC-RNN by torch", "BC-RNN", "BC-RNN by torch", "≤ 1/3"),
)


def variants(members: int) -> dict[str, Variant]:
    """Return everything that is measured, by name."""
    few, shards = max(2, members // 10), METHODS["bcnd"].shards

    def ours(method: str, batch: int, steps: int) -> Variant:
        return Variant(population(method, members, batch), steps, members)

    return {
        "BC": ours("bc", 40, 100),
        "Counter-BC": ours("counter-bc", 40, 100),
        "Weighted-BC": ours("weighted-bc", 40, 60),
        "ILEED": ours("ileed", 40, 60),
        "BCND": Variant(population("bcnd", few, 40), 100, few * shards),
        "BC-RNN": ours("bc-rnn", 40, 20),
        "BC-RNN by torch": Variant(population("bc-rnn", members, 40, "torch"), 5, members),
        "BC by hand": Variant(by_hand(members, 40), 60, members),
        "BC, batch 160": ours("bc", 160, 40),
        "Counter-BC, batch 160": ours("counter-bc", 160, 40),
        "ordinary BC": Variant(ordinary(40), 60),
        "ordinary Counter-BC": Variant(ordinary(40, 50), 60),
        "peak": Variant(multiply(), 5),
    }


Seconds = dict[str, dict[str, list[float]]]
"""Seconds per network and step of each round, by clock and variant."""


def measure(all_variants: dict[str, Variant], rounds: int) -> Seconds:
    """Return the times of all variants, which take turns."""
    for variant in all_variants.values():
        variant.run(max(2, variant.steps // 4))
    clocks = {"wall": time.perf_counter, "cpu": time.process_time}
    seconds: Seconds = {clock: {name: [] for name in all_variants} for clock in clocks}
    for _ in range(rounds):
        for name, variant in all_variants.items():
            start = [read() for read in clocks.values()]
            variant.run(variant.steps)
            for (clock, read), begin in zip(clocks.items(), start, strict=True):
                each = (read() - begin) / variant.steps / variant.networks
                seconds[clock][name].append(each)
    return seconds


def flops(method: str, batch: int) -> float:
    """Return the FLOPs of the matrix products in a network's step.

    There are two backward products per forward one, but none for the gradient by observations, and
    a GRU begins with a state of zeros.
    """
    last = (HIDDEN, 2 * ACTION, 1)
    layers = [(OBS, HIDDEN, 1), (HIDDEN, HIDDEN, 1), last]  # inputs, outputs, times
    if method == "bc-rnn":
        gates = 3 * HIDDEN
        layers[:1] = [(OBS, gates, HISTORY), (HIDDEN, gates, HISTORY - 1)]
    elif outputs := WEIGHTING_OUTPUTS.get(method):
        layers += [(OBS, HIDDEN, 1), (HIDDEN, HIDDEN, 1), (HIDDEN, outputs, 1)]
    return sum(2 * batch * i * o * times * (2 if i == OBS else 3) for i, o, times in layers)


def quartiles(values: Any) -> list[float]:
    """Return the median and the quartiles."""
    return [round(float(v), 3) for v in np.percentile(values, [50, 25, 75])]


def report(seconds: Seconds) -> dict[str, Any]:
    """Return the ratios as medians over rounds, with the quartiles."""
    arrays = {c: {k: np.array(v) for k, v in x.items()} for c, x in seconds.items()}
    peak = {clock: 2 * TALL**3 / x["peak"] for clock, x in arrays.items()}
    share = {
        clock: quartiles(flops("bc", 40) / x["BC"] / peak[clock]) for clock, x in arrays.items()
    }
    ratios: list[dict[str, Any]] = [
        {"what": r.what, "goal": r.goal}
        | {clock: quartiles(x[r.above] / x[r.below]) for clock, x in arrays.items()}
        for r in RATIOS
    ]
    what = "BC, share of the rate of large matrix products"
    ratios.insert(3, {"what": what, "goal": "≥ 0.6", **share})
    return {
        "ratios": ratios,
        "microseconds per network and step": {
            clock: {k: float(f"{1e6 * np.median(v):.3g}") for k, v in x.items() if k != "peak"}
            for clock, x in arrays.items()
        },
        "peak GFLOP/s": {c: round(float(np.median(v)) / 1e9, 1) for c, v in peak.items()},
    }


def main() -> None:
    """Print and store all ratios."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--members", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--json", type=Path, default=None)
    options = parser.parse_args()
    warnings.simplefilter("ignore", InfeasibleActions)
    facts: dict[str, Any] = {"members": options.members, "rounds": options.rounds}
    facts |= {"threads": torch.get_num_threads(), "load before": round(os.getloadavg()[0], 2)}
    result = facts | report(measure(variants(options.members), options.rounds))
    for row in result["ratios"]:
        texts = (f"{row[c][0]:.2f} ({row[c][1]:.2f} … {row[c][2]:.2f})" for c in ("wall", "cpu"))
        print(f"{row['what']:48}{'   '.join(texts)}   {row['goal']}")
    for name in ("microseconds per network and step", "peak GFLOP/s"):
        print(name, result[name])
    if options.json is not None:
        text = json.dumps(result, indent=1, ensure_ascii=False)
        options.json.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
