"""The benchmark of wide networks, with small ones on a CPU."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from benchmarks import gpu_kernel, gpu_wide
from benchmarks.gpu_wide import Bfloat16Products, bfloat16_kernel
from counterbc.kernels.torch_kernel import TorchKernel
from counterbc.trainer import train

SMALL: dict[str, dict[str, Any]] = {
    "2 × 8": {"hidden": (8, 8)}, "flow": {"policy": "flow", "hidden": (8, 8)},
}  # fmt: skip


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the benchmark measure small networks on a CPU."""
    changes: dict[str, Any] = {
        "DEVICE": "cpu", "PAIRS": 100, "BATCH": 10, "SEEDS": 2, "MEMBERS": (1,), "SHAPES": SMALL,
        "TRAININGS": {"2 × 8": ("bc",)},
    }  # fmt: skip
    for name, value in changes.items():
        monkeypatch.setattr(gpu_wide, name, value)
    monkeypatch.setattr(gpu_kernel, "STEPS", 50)


def test_operands_are_rounded_to_bfloat16_and_sums_are_float32() -> None:
    a = torch.tensor([[1 + 2**-9, 2**-12], [3.0, 1.0]])  # 1 + 2^-9 rounds to 1
    with Bfloat16Products():
        product = a @ torch.eye(2)
        sums = torch.baddbmm(torch.full((1, 2), 2**-20), a.unsqueeze(0), torch.ones(1, 2, 2))
    assert product.tolist() == [[1.0, 2**-12], [3.0, 1.0]]
    assert sums[0].tolist() == [[1 + 2**-12 + 2**-20] * 2, [4 + 2**-20] * 2]


def test_float64_is_not_rounded() -> None:
    a = torch.full((2, 2), 1 + 2**-30, dtype=torch.float64)
    with Bfloat16Products():
        assert torch.equal(a @ torch.eye(2, dtype=torch.float64), a)


def test_steps_of_the_experiment_differ_from_those_of_float32_and_end_with_it() -> None:
    states = [gpu_wide.advance(gpu_wide.population("bc", "2 × 8", 2), kind, 3)
              for kind in ("float32", "bfloat16", "float32")]  # fmt: skip
    assert gpu_wide.distance(states[1], states[0]) > 1e-4
    assert gpu_wide.distance(states[2], states[0]) == 0
    step = TorchKernel.step
    with bfloat16_kernel():
        assert TorchKernel.step is not step
    assert TorchKernel.step is step


def test_operations_of_a_step_are_counted_by_hand() -> None:
    # Layers 4 × 8, 8 × 8 and 8 × 4 of 2 networks with batch 10: forward, and backward by weights
    # and by all inputs but those of the first layer; gradients by 2 means and 2 log σ of a row.
    layers = 2 * (4 * 8) + 3 * (8 * 8) + 3 * (8 * 4)
    count = gpu_wide.operations(gpu_wide.population("bc", "2 × 8", 2))
    assert count == 2 * 2 * 10 * (layers + 2 + 2)


def test_an_unfinished_file_is_completed_on_demand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[tuple[str, str]] = []

    def row(method: str, shape: str, members: int = 0) -> Any:
        calls.append((method, shape))
        yield {"products": "float32"}

    for name in ("steps", "rounding", "trainings"):
        monkeypatch.setattr(gpu_wide, name, row)
    monkeypatch.setattr(gpu_wide, "COUNTERED", ("flow",))
    monkeypatch.setattr(gpu_wide, "peak", lambda kind: 50.0)
    path = tmp_path / "wide.json"

    def run(*options: str) -> dict[str, Any]:
        calls.clear()
        monkeypatch.setattr(sys, "argv", ["gpu_wide.py", "--out", str(path), *options])
        gpu_wide.main()
        result: dict[str, Any] = json.loads(path.read_text())
        return result

    whole = run()
    assert len(calls) == 6
    path.write_text(json.dumps(whole | {"rounding": whole["rounding"][:1]}))
    assert run("--complete") == whole
    assert calls == [("bc", "flow")]


def test_rounding_compares_with_float64_and_alone_with_among_ten() -> None:
    rows = {row["products"]: row for row in gpu_wide.rounding("bc", "2 × 8")}
    assert 0 < rows["float32"]["error"] < 1e-5 < rows["bfloat16"]["error"]
    assert rows["float32"]["alone"] < 1e-5


@pytest.mark.filterwarnings("ignore::counterbc.errors.InfeasibleActions")
def test_trainings_have_a_held_out_error_of_each_seed_by_kind() -> None:

    def short(*args: Any, **options: Any) -> Any:
        return train(*args, **(options | {"steps": 20, "products": "float32"}))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gpu_wide, "train", short)
        rows = list(gpu_wide.trainings("bc", "2 × 8", pairs=100))
    assert [row["products"] for row in rows] == ["float64", *gpu_wide.KINDS]
    assert all(len(row["held_out"]) == len(row["loss"]) == 2 for row in rows)
    assert rows[1]["held_out"] == rows[2]["held_out"] != rows[3]["held_out"]
