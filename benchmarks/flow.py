"""Measure the steps of a population of flows beside a plain PyTorch loop over the same networks.

    python benchmarks/flow.py --device cuda

The loop is what people write: `torch.nn` modules, `torch.optim.Adam`, a batch drawn with randint,
and a moving average of the weights, for one policy after the other. Both are measured in turn after
a warm-up, in one process, as medians of five.
"""

from __future__ import annotations

import argparse
import copy
import math
import time
from collections.abc import Callable
from statistics import median

import numpy as np
import torch
from torch import Tensor, nn

from counterbc.data.demonstrations import Demonstrations, Episode
from counterbc.trainer import train

PAIRS, EPISODES, OBS, ACTION, HORIZON, WIDTH, LAYERS, BATCH = 25_600, 200, 5, 2, 16, 512, 4, 256


def demonstrations() -> Demonstrations:
    """Return random demonstrations of the size of Push-T's."""
    rng, length = np.random.default_rng(0), PAIRS // EPISODES
    episodes = (
        Episode(rng.normal(size=(length, OBS)), rng.uniform(-1, 1, (length, ACTION)))
        for _ in range(EPISODES)
    )
    return Demonstrations(tuple(episodes), np.full(ACTION, -1.0), np.ones(ACTION))


class Network(nn.Module):
    """The velocity field of a flow: a GELU layer, residual layers, a linear head."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.first = nn.Linear(inputs, WIDTH)
        self.layers = nn.ModuleList(nn.Linear(WIDTH, WIDTH) for _ in range(LAYERS - 1))
        self.norm = nn.LayerNorm(WIDTH, elementwise_affine=False)
        self.head = nn.Linear(WIDTH, outputs)

    def forward(self, x: Tensor) -> Tensor:
        h = nn.functional.gelu(self.first(x))
        for layer in self.layers:
            h = h + nn.functional.gelu(layer(self.norm(h)))
        y: Tensor = self.head(self.norm(h))
        return y


def plain_loop(policies: int, steps: int, device: torch.device) -> None:
    """Train one policy after the other."""
    obs = torch.randn(PAIRS, 2 * OBS, device=device)
    chunks = torch.randn(PAIRS, HORIZON * ACTION, device=device)
    octaves = 0.5 * math.pi * 2.0 ** torch.arange(6, device=device)
    for _ in range(policies):
        network = Network(2 * OBS + 12 + HORIZON * ACTION, HORIZON * ACTION).to(device)
        average, adam = copy.deepcopy(network), torch.optim.Adam(network.parameters(), 1e-3)
        for _ in range(steps):
            i = torch.randint(PAIRS, (BATCH,), device=device)
            a, t = chunks[i], torch.rand(BATCH, 1, device=device)
            z = torch.randn_like(a)
            waves = torch.cat([(t * octaves).sin(), (t * octaves).cos()], -1)
            v = network(torch.cat([obs[i], waves, z + t * (a - z)], -1))
            loss = (v - (a - z)).square().mean()
            adam.zero_grad()
            loss.backward()
            adam.step()
            with torch.no_grad():
                for p, q in zip(average.parameters(), network.parameters(), strict=True):
                    p.lerp_(q, 0.002)


def seconds(function: Callable[[], object], device: torch.device) -> float:
    """Return the wall time of a call."""
    start = time.perf_counter()
    function()
    if device.type == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter() - start


def main() -> None:
    """Print µs per policy and step of both, and their ratio."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--policies", type=int, default=5)
    parser.add_argument("--steps", type=int, default=1000)
    arguments = parser.parse_args()
    device, demos = torch.device(arguments.device), demonstrations()
    count, steps = arguments.policies, arguments.steps

    def ours(steps: int) -> object:
        return train(
            demos, "bc", policy="flow", hidden=(WIDTH,) * LAYERS, seeds=count, steps=steps,
            batch=BATCH, lag=0.0, offsets="none", device=device, progress=False,
        )  # fmt: skip

    ours(20)
    plain_loop(1, 20, device)
    short, long_, plain = [], [], []
    for _ in range(5):
        short.append(seconds(lambda: ours(steps), device))
        long_.append(seconds(lambda: ours(2 * steps), device))
        plain.append(seconds(lambda: plain_loop(count, steps, device), device))
    step = (median(long_) - median(short)) / steps / count * 1e6
    loop = median(plain) / steps / count * 1e6
    print(f"{count} policies, batch {BATCH}, {LAYERS} × {WIDTH}, {device.type}:")
    print(f"counterbc {step:.0f} µs per policy and step, plain loop {loop:.0f}: {loop / step:.1f}×")
    print(f"the whole call of {2 * steps} steps takes {median(long_):.1f} s")


if __name__ == "__main__":
    main()
