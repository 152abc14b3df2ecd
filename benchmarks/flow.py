"""Measure how long a flow takes to train, beside a plain PyTorch loop, and to act.

    python -m benchmarks.flow --device cuda [--json benchmarks/results/flow.json]
    python -m benchmarks.flow --device cpu --policies 1 --steps 100 --threads 1 2 [--json FILE]
    python -m benchmarks.flow --acting 2000 [--json FILE]

The loop is what people write: `torch.nn` modules, `torch.optim.Adam`, a batch drawn with randint,
and a moving average of the weights, for one policy after the other; and once more with fused Adam
and a fused average. All are measured in turn after a warm-up, in one process, as medians of three;
a step of ours is the difference between a long and a short training. The seconds of 15,000 steps
are measured on a GPU and extrapolated from the steps on a CPU. Each call replaces its own section
of the file, with versions and load.
"""

from __future__ import annotations

import argparse
import copy
import json
import math
import os
import platform
import tempfile
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from benchmarks import acting
from counterbc.data.cores import cores
from counterbc.data.demonstrations import Demonstrations, Episode
from counterbc.demonstrators import UniformNoise, demonstrate
from counterbc.trainer import train
from counterbc.training.run import versions

PAIRS, EPISODES, OBS, ACTION, HORIZON, WIDTH, LAYERS, BATCH = 25_600, 200, 5, 2, 16, 512, 4, 256
WHOLE, REPEATS = 15_000, 3


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


def plain_loop(policies: int, steps: int, device: torch.device, fused: bool) -> None:
    """Train one policy after the other."""
    obs = torch.randn(PAIRS, 2 * OBS, device=device)
    chunks = torch.randn(PAIRS, HORIZON * ACTION, device=device)
    octaves = 0.5 * math.pi * 2.0 ** torch.arange(6, device=device)
    for _ in range(policies):
        network = Network(2 * OBS + 12 + HORIZON * ACTION, HORIZON * ACTION).to(device)
        weights: list[Tensor] = [*network.parameters()]
        means: list[Tensor] = [*copy.deepcopy(network).parameters()]
        adam = torch.optim.Adam(weights, 1e-3, fused=fused)
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
                if fused:
                    torch._foreach_lerp_(means, weights, 0.002)
                    continue
                for p, q in zip(means, weights, strict=True):
                    p.lerp_(q, 0.002)


def our_loop(demos: Demonstrations, policies: int, steps: int, device: torch.device) -> None:
    """Train all policies at once, as `counterbc train --policy flow` does."""
    train(
        demos, "bc", policy="flow", hidden=(WIDTH,) * LAYERS, seeds=policies, steps=steps,
        batch=BATCH, horizon=HORIZON, lag=0.0, offsets="none", device=device, progress=False,
    )  # fmt: skip


def seconds(function: Callable[[], object], device: torch.device) -> float:
    """Return the wall time of a call."""
    start = time.perf_counter()
    function()
    if device.type == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter() - start


def training_times(policies: int, steps: int, device: torch.device) -> dict[str, float]:
    """Return µs per policy and step of ours and of both loops, and seconds of 15,000 steps."""
    demos, few = demonstrations(), max(steps // 5, 10)
    our_loop(demos, policies, 20, device)
    plain_loop(1, 20, device, fused=True)
    plain_loop(1, 20, device, fused=False)
    calls: dict[str, Callable[[], None]] = {
        "short": lambda: our_loop(demos, policies, steps, device),
        "long": lambda: our_loop(demos, policies, 3 * steps, device),
        "plain": lambda: plain_loop(policies, few, device, fused=False),
        "fused": lambda: plain_loop(policies, few, device, fused=True),
    }
    rounds = [{k: seconds(call, device) for k, call in calls.items()} for _ in range(REPEATS)]
    times = {k: median(r[k] for r in rounds) for k in calls}
    step = (times["long"] - times["short"]) / (2 * steps)
    whole = times["short"] + (WHOLE - steps) * step  # set-up included
    if device.type == "cuda":
        whole = seconds(lambda: our_loop(demos, policies, WHOLE, device), device)
    per_step = 1e6 / policies
    return {
        "policies": policies,
        "µs per policy and step": round(per_step * step, 1),
        "plain loop, µs": round(per_step * times["plain"] / few, 1),
        "plain loop with fused Adam, µs": round(per_step * times["fused"] / few, 1),
        f"seconds of {WHOLE} steps": round(whole, 1),
    }


def acting_times(calls: int) -> dict[str, Any]:
    """Return µs per decision of flows on vectors and on images, on one core."""
    torch.set_num_threads(1)
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    times: dict[str, Any] = {"calls": calls}
    vectors, images = demonstrate("intersection", UniformNoise(0.5), 400, 0), acting.frames(64)
    with tempfile.TemporaryDirectory() as folder:
        for name, demos in (("flow", vectors), ("flow-cnn", images)):
            policies = acting.initial_policy(name, demos)
            ways = {"numpy": policies.actor().act, "torch": acting.by_torch(policies)}
            if find_spec("onnxruntime"):
                ways["ONNX"] = acting.by_file(policies, Path(folder, f"{name}.onnx"))
            obs = demos.obs[np.arange(calls) % demos.pairs]
            times[name] = {way: acting.measure(act, obs) for way, act in ways.items()}
    return times


def machine(device: torch.device) -> dict[str, Any]:
    """Return what the times depend on: versions, processor and load."""
    gpu = torch.cuda.get_device_name() if device.type == "cuda" else None
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return {
        "versions": versions(),
        "gpu": gpu,
        "cpu": models[0] if models else platform.processor(),
        "cores": os.cpu_count(),
        "allowed cores": cores(),
        "load average": os.getloadavg(),
    }


def main() -> None:
    """Print the times, and keep them in a file."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--policies", type=int, default=5)
    parser.add_argument("--steps", type=int, default=1000, help="of a short training")
    parser.add_argument("--threads", type=int, nargs="+", default=[1], help="on a CPU, in turn")
    parser.add_argument("--acting", type=int, default=0, help="decisions to measure instead")
    parser.add_argument("--json", type=Path, default=None, help="file that keeps the sections")
    options = parser.parse_args()
    device = torch.device(options.device)
    before = os.getloadavg()
    sections: dict[str, dict[str, Any]] = {}
    if options.acting:
        sections["acting, µs"] = acting_times(options.acting)
    for threads in () if options.acting else options.threads:
        torch.set_num_threads(threads)
        name = "cuda" if device.type == "cuda" else f"{threads} CPU core{'s' * (threads > 1)}"
        sections[f"training, {name}"] = training_times(options.policies, options.steps, device)
    facts = machine(device) | {"load average before": before}
    out = options.json
    kept = json.loads(out.read_text()) if out is not None and out.exists() else {}
    kept |= {name: section | facts for name, section in sections.items()}
    print(json.dumps(sections, indent=1, ensure_ascii=False))
    if out is not None:
        out.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
