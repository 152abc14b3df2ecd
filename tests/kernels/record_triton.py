"""Records what the Triton kernel computes, so that machines without a GPU can check it.

    python -m tests.kernels.record_triton [--checks] [--out FILE]

Trains a few small cases by Triton on a GPU and writes parameters and losses to FILE, by default
`tests/kernels/data/triton.npz`; `--checks` runs the checks of `gpu_checks.py` first.
`test_triton_kernel.py` trains the same cases by plain torch and compares.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from tests.kernels.gpu_checks import CHECKS
from tests.kernels.stacks import advance, demonstrations, stack

RECORD = Path(__file__).parent / "data" / "triton.npz"
STEPS = 20
CASES: dict[str, dict[str, Any]] = {
    "bc": {"method": "bc", "hidden": (64, 64), "batch": 10},
    "counter-bc": {"method": "counter-bc", "hidden": (64, 64), "batch": 37},
    "narrow": {"method": "counter-bc", "hidden": (16, 32), "batch": 16, "radius": (0.1, 0.5)},
}


def results(case: str, kernel: str, device: str) -> dict[str, NDArray[np.float32]]:
    """Train a case and return its parameters, Adam's moments and the last loss, by name."""
    networks = stack(demonstrations(), kernel=kernel, device=device, seeds=2, **CASES[case])
    assert networks.kernel.name == kernel
    advance(networks, STEPS)
    state = networks.state() | {"loss": networks.loss}
    return {f"{case}/{name}": value.detach().cpu().numpy() for name, value in state.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--checks", action="store_true")
    parser.add_argument("--out", type=Path, default=RECORD)
    options = parser.parse_args()
    if options.checks:
        for check in CHECKS:
            check()
            print(f"passed: {check.__name__.replace('_', ' ')}", flush=True)
    arrays: dict[str, Any] = {}
    for case in CASES:
        arrays |= results(case, "triton", "cuda")
    about = {
        "cases": CASES, "steps": STEPS, "device": torch.cuda.get_device_name(),
        "torch": str(torch.__version__),
    }  # fmt: skip
    options.out.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(options.out, about=np.array(json.dumps(about)), **arrays)
    print(f"wrote {options.out}: {len(arrays)} arrays, {options.out.stat().st_size} bytes")


if __name__ == "__main__":
    main()
