"""Records what the kernels for GPUs compute, so that machines without one can check it.

    python -m tests.kernels.record_kernels [--checks] [--out FOLDER]

Trains a few small cases by each kernel on a GPU and writes parameters and losses to FOLDER, by
default `tests/kernels/data`; `--checks` runs the checks of `gpu_checks.py` first.
`test_triton_kernel.py` and `test_cuda_kernel.py` train the same cases by plain torch and compare.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from counterbc.training.network_stack import NetworkStack
from tests.kernels.gpu_checks import CHECKS
from tests.kernels.stacks import advance, demonstrations, is_rounding, stack

FOLDER = Path(__file__).parent / "data"
STEPS = 20
TWINS, ROUNDING = 8, 3e-7
State = dict[str, NDArray[Any]]
CASES: dict[str, dict[str, dict[str, Any]]] = {
    "triton": {
        "bc": {"method": "bc", "hidden": (64, 64), "batch": 10},
        "counter-bc": {"method": "counter-bc", "hidden": (64, 64), "batch": 37},
        "narrow": {"method": "counter-bc", "hidden": (16, 32), "batch": 16, "radius": (0.1, 0.5)},
        "weighted-bc": {"method": "weighted-bc", "hidden": (16, 32), "batch": 20},
        "ileed": {"method": "ileed", "hidden": (16, 32), "batch": 20},
        "bcnd": {"method": "bcnd", "hidden": (16, 32), "batch": 10, "later": True},
        "bc-rnn": {"method": "bc-rnn", "hidden": (32, 16), "batch": 20},
    },
    "cuda": {
        "bc": {"method": "bc", "hidden": (64, 64), "batch": 10},
        "counter-bc": {"method": "counter-bc", "hidden": (64, 64), "batch": 37},
        "weighted-bc": {"method": "weighted-bc", "hidden": (64, 64), "batch": 20},
        "bcnd": {"method": "bcnd", "hidden": (64, 64), "batch": 10, "later": True},
        "bc-rnn": {"method": "bc-rnn", "hidden": (64, 64), "batch": 20},
    },
}
"""The settings of each case of each kernel."""


def record_of(kernel: str) -> Path:
    """Return the file that holds what a kernel computed."""
    return FOLDER / f"{kernel}.npz"


def results(settings: dict[str, Any], kernel: str, device: str) -> State:
    """Train a case and return its parameters, Adam's moments and the last loss, by name."""
    networks = stack(demonstrations(), kernel=kernel, device=device, seeds=2, **settings)
    assert networks.kernel.name == kernel
    return state_after(networks)


def state_after(networks: NetworkStack) -> State:
    """Take the steps of a case and return what they changed, and the last loss, by name."""
    advance(networks, STEPS)
    state = networks.state() | {"loss": networks.loss}
    return {name: value.detach().cpu().numpy() for name, value in state.items()}


def almost_equal_start(settings: dict[str, Any], seed: int) -> State:
    """Train a case by torch from initial weights that differ by rounding."""
    networks = stack(demonstrations(), kernel="torch", seeds=2, **settings)
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for value in networks.params.values():
            value.mul_(1 + ROUNDING * torch.randn(value.shape, generator=generator))
    return state_after(networks)


def check_record(kernel: str, case: str) -> None:
    """Require that what the kernel computed on a GPU is as close to float64 as torch is.

    Rounding alone can change much where a unit of ReLU is almost 0 at some state, so torch trains
    several times, from initial weights that differ by rounding, and the largest difference counts.
    """
    settings, prefix = CASES[kernel][case], f"{case}/"
    with np.load(record_of(kernel)) as record:
        about = json.loads(str(record["about"]))
        arrays = {x.removeprefix(prefix): record[x] for x in record if x.startswith(prefix)}
    assert about["cases"][case] == json.loads(json.dumps(settings)), "record it again"
    assert about["steps"] == STEPS
    exact = results(settings | {"dtype": torch.float64}, "torch", "cpu")
    tolerance = max(difference(almost_equal_start(settings, i), exact) for i in range(TWINS))
    assert difference(arrays, exact) < 2 * tolerance + 1e-5, tolerance


def difference(state: State, exact: State) -> float:
    """Return the largest relative RMS difference of a tensor."""
    assert state.keys() == exact.keys()
    norm = np.linalg.norm
    return max(
        float(norm(state[name] - value)) / max(float(norm(value)), 1e-12)
        for name, value in exact.items()
        if not is_rounding(name)
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--checks", action="store_true")
    parser.add_argument("--out", type=Path, default=FOLDER)
    options = parser.parse_args()
    if options.checks:
        for check in CHECKS:
            check()
            print(f"passed: {check.__name__.replace('_', ' ')}", flush=True)
    options.out.mkdir(parents=True, exist_ok=True)
    for kernel, cases in CASES.items():
        arrays: dict[str, Any] = {}
        for case, settings in cases.items():
            values = results(settings, kernel, "cuda")
            arrays |= {f"{case}/{name}": value for name, value in values.items()}
        about = {
            "cases": cases, "steps": STEPS, "device": torch.cuda.get_device_name(),
            "torch": str(torch.__version__),
        }  # fmt: skip
        path = options.out / record_of(kernel).name
        np.savez_compressed(path, about=np.array(json.dumps(about)), **arrays)
        print(f"wrote {path}: {len(arrays)} arrays, {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
