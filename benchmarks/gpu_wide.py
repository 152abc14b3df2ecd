"""Measure products of float32, TF32 and bfloat16 for wide networks on a GPU: speed and accuracy.

    python benchmarks/gpu_wide.py [--out gpu-wide.json] [--complete]

All steps are torch's, with batch 256. TF32 is `Settings.products`; bfloat16 exists here alone: both
operands of every product are rounded to it, and the sums are float32. A file that exists is written
again; `--complete` keeps its rows and measures the others. The sections of the result:

- "peak": TFLOP/s of large products, by kind, before the rows;
- "steps": microseconds of a step of all members, and the TFLOP/s of its products;
- "rounding": the largest relative RMS difference of a tensor of the training state from float64,
  after 20 steps; and that of a member's parameters trained alone and among ten, after 50 steps;
- "trainings": held-out error and last loss of each of ten seeds after a whole training.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import FlopCounterMode

from benchmarks.gpu import is_missing, stored_rows
from benchmarks.gpu_kernel import Population
from counterbc.demonstrators import UniformNoise, demonstrate
from counterbc.errors import InfeasibleActions
from counterbc.kernels import torch_kernel
from counterbc.kernels.products import multiplying
from counterbc.kernels.torch_kernel import TorchKernel
from counterbc.trainer import train

DEVICE = "cuda"
PAIRS, BATCH, SEEDS = 4000, 256, 10
MEMBERS = (10, 1, 50)
KINDS = ("float32", "tf32", "bfloat16")
SHAPES: dict[str, dict[str, Any]] = {
    **{f"{n} × {width}": {"hidden": (width,) * n} for n, width in
       ((2, 128), (2, 256), (2, 512), (2, 1024), (4, 256), (4, 512), (4, 1024))},
    "chunk, 4 × 512": {"policy": "chunk", "hidden": (512,) * 4},
    "flow, 4 × 512": {"policy": "flow", "hidden": (512,) * 4},
}  # fmt: skip
"""Layers of each policy, of which those of chunk and flow are residual."""
TRAININGS: dict[str, tuple[str, ...]] = {
    "2 × 512": ("bc",), "flow, 4 × 512": ("bc",), "2 × 1024": ("bc", "counter-bc"),
}  # fmt: skip
COUNTERED = ("2 × 512", "flow, 4 × 512")
"""Shapes whose steps are measured with counterfactuals too."""
_PRODUCTS = {
    torch.ops.aten.mm.default, torch.ops.aten.bmm.default,
    torch.ops.aten.addmm.default, torch.ops.aten.baddbmm.default,
}  # fmt: skip
_CAPTURED = 10  # steps before the others are timed


class Bfloat16Products(TorchDispatchMode):
    """Rounds both operands of every product to bfloat16 and adds up in float32."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # torch's

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        if func not in _PRODUCTS or args[-1].dtype != torch.float32 or kwargs:
            return func(*args, **(kwargs or {}))
        a, b = (x.bfloat16() for x in args[-2:])
        if not a.is_cuda:  # a CPU has no such product; these numbers are the same
            product = a.float() @ b.float()
        elif a.ndim == 3:
            product = torch.bmm(a, b, out_dtype=torch.float32)
        else:
            product = torch.mm(a, b, out_dtype=torch.float32)
        return product if len(args) == 2 else product.add_(args[0])


@contextmanager
def bfloat16_kernel() -> Iterator[None]:
    """Let torch's steps multiply by bfloat16, whatever the settings say."""
    step = TorchKernel.step

    def step_in_mode(self: TorchKernel, position: Tensor, epoch: Tensor) -> None:
        with Bfloat16Products():
            step(self, position, epoch)

    with patch.object(torch_kernel.TorchKernel, "step", step_in_mode):
        yield


def context_of(kind: str) -> AbstractContextManager[None]:
    return bfloat16_kernel() if kind == "bfloat16" else nullcontext()


def products_of(kind: str) -> str:
    """Return the setting for this kind of products."""
    return "tf32" if kind == "tf32" else "float32"


def synchronize() -> None:
    if DEVICE == "cuda":
        torch.cuda.synchronize()


def peak(kind: str, size: int = 8192, repeats: int = 20) -> float:
    """Return the TFLOP/s of large matrix products."""
    dtype = torch.bfloat16 if kind == "bfloat16" else torch.float32
    a = torch.randn(size, size, device=DEVICE).to(dtype)
    with multiplying(products_of(kind)):
        for _ in range(3):
            a @ a
        synchronize()
        start = time.perf_counter()
        for _ in range(repeats):
            a @ a
        synchronize()
    return round(2 * size**3 * repeats / (time.perf_counter() - start) / 1e12, 2)


def population(
    method: str, shape: str, members: int, dtype: torch.dtype = torch.float32
) -> Population:
    """Return members of a method with layers of this shape."""
    options: dict[str, Any] = SHAPES[shape] | {"device": DEVICE, "dtype": dtype}
    return Population(method, members, BATCH, PAIRS, **options)


def kernel_of(networks: Population, kind: str) -> TorchKernel:
    """Return torch's steps with these products."""
    kernel = networks.stack.kernel
    assert isinstance(kernel, TorchKernel)
    return TorchKernel(replace(kernel.case, products=products_of(kind)), kernel.tensors)


def operations(networks: Population) -> int:
    """Return the floating-point operations of the matrix products in a step of all members."""
    kernel = networks.stack.kernel
    assert isinstance(kernel, TorchKernel)
    position, epoch = (x[0] for x in networks.block)
    with FlopCounterMode(display=False) as counter:
        loss = kernel.losses(kernel.tensors.gather(position, epoch)).sum()
        torch.autograd.grad(loss, kernel.tensors.adam.params)
    return int(counter.get_total_flops())


def steps(method: str, shape: str, members: int) -> Iterator[dict[str, Any]]:
    """Yield the time of a step by kind of product."""
    networks = population(method, shape, members)
    count = operations(networks)
    for kind in KINDS:
        kernel, times = kernel_of(networks, kind), []
        with context_of(kind):
            kernel.run(*(x[:_CAPTURED] for x in networks.block))
        for _ in range(3):
            synchronize()
            start = time.perf_counter()
            kernel.run(*networks.block)
            synchronize()
            times.append(time.perf_counter() - start)
        step = min(times) / len(networks.block[0]) * 1e6
        rate = count / step / 1e6
        yield {"products": kind, "step": round(step, 1), "TFLOP/s": round(rate, 2)}


def advance(networks: Population, kind: str, count: int) -> dict[str, Tensor]:
    """Take the first steps, and return the training state by name."""
    with context_of(kind):
        kernel_of(networks, kind).run(*(x[:count] for x in networks.block))
    state = networks.stack.state() | {"loss": networks.stack.loss}
    return {name: value.double() for name, value in state.items()}


def distance(state: dict[str, Tensor], reference: dict[str, Tensor]) -> float:
    """Return the largest relative RMS difference of a tensor."""
    pairs = [(state[name], value) for name, value in reference.items()]
    return max(float((a - b).norm() / b.norm().clamp(min=1e-12)) for a, b in pairs)


def rounding(method: str, shape: str) -> Iterator[dict[str, Any]]:
    """Yield the distance from float64, and that of a member alone and among ten, by kind."""
    exact = advance(population(method, shape, 3, torch.float64), "float32", 20)
    for kind in KINDS:
        error = distance(advance(population(method, shape, 3), kind, 20), exact)
        many, alone = (advance(population(method, shape, n), kind, 50) for n in (10, 1))
        first = {k: v[:1] for k, v in many.items() if k.startswith("params/")}
        beside = distance(alone, first)
        yield {"products": kind, "error": float(f"{error:.3g}"), "alone": float(f"{beside:.3g}")}


def trainings(method: str, shape: str, pairs: int = 10_000) -> Iterator[dict[str, Any]]:
    """Yield the held-out error and the last loss of each seed after a training, by kind."""
    demos = demonstrate("intersection", UniformNoise(0.5), pairs, 0)
    settings: dict[str, Any] = {
        "radius": 0.4, "lag": 0.0, "offsets": "none", "ensemble": 1, "kernel": "torch",
        "held_out": 0.2, "batch": BATCH, "steps": 5000 if "flow" in shape else 10_000,
    }  # fmt: skip
    for kind in ("float64", *KINDS):
        with context_of(kind):
            dtype = torch.float64 if kind == "float64" else torch.float32
            policies = train(
                demos, method, seeds=SEEDS, device=DEVICE, dtype=dtype, progress=False,
                **(settings | SHAPES[shape] | {"products": products_of(kind)}),
            )  # fmt: skip
        curve = policies.curve
        assert curve is not None
        assert curve.held_out is not None
        numbers = {"held_out": curve.held_out[-1].tolist(), "loss": curve.loss[-1].tolist()}
        row = {"products": kind, "steps": settings["steps"], "seconds": policies.run_config.seconds}
        yield row | {k: [float(f"{x:.6g}") for x in v] for k, v in numbers.items()}


Task = tuple[str, dict[str, Any], Callable[..., Iterator[dict[str, Any]]]]


def all_steps(members: int) -> Iterator[Task]:
    for shape in SHAPES:
        yield "steps", {"method": "bc", "shape": shape, "members": members}, steps


def plan() -> Iterator[Task]:
    """Yield the section of each measurement, what it is of, and how to make it."""
    first, *others = MEMBERS
    yield from all_steps(first)
    for shape in SHAPES:
        yield "rounding", {"method": "bc", "shape": shape}, rounding
    for shape, methods in TRAININGS.items():
        for method in methods:
            yield "trainings", {"method": method, "shape": shape}, trainings
    for members in others:
        yield from all_steps(members)
    for shape in COUNTERED:
        yield "steps", {"method": "counter-bc", "shape": shape, "members": 10}, steps


def measure(result: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Measure the rows that the result does not have yet, and yield each."""
    if "peak" not in result:
        result["peak"] = {kind: peak(kind) for kind in KINDS}
        yield result["peak"]
    for section, facts, make in plan():
        if is_missing(result, section, **facts):
            for row in make(**facts):
                result[section].append(facts | row)
                yield result[section][-1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--out", type=Path, default=Path("gpu-wide.json"))
    parser.add_argument("--complete", action="store_true", help="keep the rows of the file")
    options = parser.parse_args()
    warnings.simplefilter("ignore", InfeasibleActions)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    result = stored_rows(options.out) if options.complete else {}
    name = torch.cuda.get_device_name() if DEVICE == "cuda" else "a CPU"
    result |= {"device": name, "torch": torch.__version__}
    for row in measure(result):
        print(json.dumps(row, ensure_ascii=False), flush=True)
        options.out.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
