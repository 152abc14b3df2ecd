"""Measure how long one action takes, and how long a new process needs until it can act.

    python benchmarks/acting.py [--calls 20000] [--json FILE] [--policies flow flow-cnn]

One core, one thread, one observation at a time. Wall time is what a robot waits for. On a shared
machine it includes the time of other processes, so the thread's CPU time is given as well. There
are 4 observation and 2 action dimensions and two hidden layers of 64. Flow and chunk have their
default size, 4 layers of 512, predict 16 actions and execute one, so that every call is a decision;
the flow takes 10 Euler steps. They are measured with a tenth of the calls. flow-cnn is the same
flow with two frames of 96×96×3 as its observation, and gaussian-cnn the policy that reads the last
four frames in place of a vector.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

from counterbc.acting.actor import Acting
from counterbc.acting.onnx import export
from counterbc.acting.onnx_session import Session
from counterbc.acting.policies import Policies
from counterbc.data.demonstrations import Demonstrations, Episode
from counterbc.demonstrators import UniformNoise, demonstrate
from counterbc.errors import InfeasibleActions
from counterbc.trainer import train

ACTING_METHODS = ("bc", "bc-rnn", "bcnd")
LARGE: dict[str, dict[str, Any]] = {
    "flow": {"policy": "flow", "horizon": 16},
    "flow-cnn": {"policy": "flow-cnn", "horizon": 16},
    "gaussian-cnn": {"policy": "gaussian-cnn"},
    "chunk": {"policy": "chunk"},
    "chunk of 5 modes": {"policy": "chunk", "modes": 5},
}
Act = Callable[[Any], Any]
LOAD = (
    "from counterbc.acting.policies import Policies; Policies.load(sys.argv[1])[0].actor().act(obs)"
)


def frames(pairs: int) -> Demonstrations:
    """Return demonstrations of random images."""
    rng = np.random.default_rng(0)
    images = rng.integers(0, 256, (pairs, 96, 96, 3), np.uint8)
    episode = Episode(images, rng.uniform(-1, 1, (pairs, 2)))
    return Demonstrations((episode,), np.full(2, -1.0), np.ones(2))


def initial_policy(name: str, demos: Demonstrations) -> Policies:
    """Return a policy after one step of training, which takes as long to act as after many."""
    if name not in LARGE:
        return train(demos, name, steps=1, progress=False)[0]
    size: dict[str, Any] = {"hidden": (512,) * 4, "execute": 1, "angles": "none"}
    if name == "gaussian-cnn":
        size = {"lag": 0.0, "offsets": "none"}
    return train(demos, "bc", steps=1, progress=False, device="cpu", **size, **LARGE[name])[0]


def by_torch(policies: Policies) -> Act:
    """Return a function that acts as evaluation does, with one member and one episode."""
    acting = Acting(policies, [0], "mean", seed=0)
    return lambda obs: acting.actions(policies.tensor(obs[None])[None])[0, 0].numpy()


def by_file(policies: Policies, path: Path) -> Act:
    """Return a function that acts with onnxruntime, as in docs/export.md."""
    export(policies, path)
    file = Session(path, 1)
    if "window" not in file.shapes and "horizon" not in file.about:
        run = file.session.run
        return lambda obs: run(None, {"obs": obs[None]})[0][0]
    if "noise" not in file.shapes:
        return file.act
    rng, shape = np.random.default_rng(0), file.shapes["noise"]
    return lambda obs: file.act(obs, rng.standard_normal(shape, np.float32))


def measure(act: Act, obs: Any) -> dict[str, dict[str, float]]:
    """Return microseconds per call in wall time and in CPU time of the thread."""
    for o in obs[: max(100, len(obs) // 20)]:
        act(o)
    wall, cpu = np.empty(len(obs)), np.empty(len(obs))
    for i, o in enumerate(obs):
        began, own_began = time.perf_counter(), time.thread_time()
        act(o)
        cpu[i], wall[i] = time.thread_time() - own_began, time.perf_counter() - began
    return {"wall": _percentiles(wall), "own": _percentiles(cpu)}


def _percentiles(seconds: Any) -> dict[str, float]:
    p50, p99, maximum = np.percentile(seconds, [50, 99, 100]) * 1e6
    return {"p50": round(p50, 1), "p99": round(p99, 1), "max": round(maximum, 1)}


def loading(policies: Policies, folder: Path, rounds: int = 5) -> dict[str, float]:
    """Return milliseconds to load a run here, and from a new process to its first action."""
    policies.save(folder)
    warm, cold = [], []
    for _ in range(rounds):
        began = time.perf_counter()
        Policies.load(folder)
        warm.append(time.perf_counter() - began)
        began = time.perf_counter()
        code = f"import sys, numpy; obs = numpy.zeros({policies.obs_size}); {LOAD}"
        subprocess.run([sys.executable, "-c", code, str(folder)], check=True)
        cold.append(time.perf_counter() - began)
    times = {"load": warm, "new process to first action": cold}
    return {k: round(1e3 * float(np.median(v)), 1) for k, v in times.items()}


def _show(name: str, ways: dict[str, Any]) -> None:
    for way, times in ways.items():
        wall, cpu = times["wall"], times["own"]
        numbers = " ".join(f"{wall[k]:8.1f}" for k in ("p50", "p99", "max"))
        print(f"{name + ', ' + way:30} {numbers}   {cpu['p50']:11.1f} {cpu['p99']:8.1f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--calls", type=int, default=20_000)
    parser.add_argument("--json", type=Path, default=None)
    names = (*ACTING_METHODS, *LARGE)
    parser.add_argument("--policies", nargs="+", choices=names, default=names, metavar="NAME")
    options = parser.parse_args()
    warnings.simplefilter("ignore", InfeasibleActions)
    torch.set_num_threads(1)
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    vectors = demonstrate("intersection", UniformNoise(0.5), 400, 0)
    result: dict[str, Any] = {"calls": options.calls, "loading, ms": {}, "acting, µs": {}}
    print(f"{'µs per action':30} {'p50':>8} {'p99':>8} {'max':>8}   own {'p50':>7} {'p99':>8}")
    with tempfile.TemporaryDirectory() as folder:
        for name in options.policies:
            demos = frames(64) if name.endswith("-cnn") else vectors
            policies = initial_policy(name, demos)
            ways: dict[str, Act] = {
                "actor": policies.actor().act,
                "onnxruntime": by_file(policies, Path(folder, f"{name}.onnx")),
                "torch": by_torch(policies),
            }
            calls = options.calls // 10 if name in LARGE else options.calls
            obs = demos.obs[np.arange(calls) % demos.pairs]
            result["acting, µs"][name] = {k: measure(act, obs) for k, act in ways.items()}
            _show(name, result["acting, µs"][name])
            if name in ACTING_METHODS:
                result["loading, ms"][name] = loading(policies, Path(folder, name))
    result["load average"] = os.getloadavg()
    for method, times in result["loading, ms"].items():
        print(f"{method}: " + ", ".join(f"{k} {v} ms" for k, v in times.items()))
    if options.json is not None:
        options.json.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
