"""Sentences of the docs about how long a flow takes to train and to act, from the benchmark."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from reproduction.options import DOCS
from reproduction.records import read

TIMES = DOCS.parent / "benchmarks" / "results" / "flow.json"
STEP, PLAIN, FUSED = (
    "µs per policy and step", "plain loop, µs", "plain loop with fused Adam, µs"
)  # fmt: skip
WHOLE = "seconds of 15000 steps"
NONE = "Not measured yet."


def times(path: Path = TIMES) -> dict[str, Any]:
    """Return the sections of the benchmark; none where it was not run."""
    contents: dict[str, Any] = read(path) if path.exists() else {}
    return contents


def training(sections: dict[str, Any]) -> str:
    """Return how long flows train, on a GPU beside plain loops, and on CPU cores."""
    sentences = []
    if gpu := sections.get("training, cuda"):
        step, plain, fused = (gpu[name] for name in (STEP, PLAIN, FUSED))
        sentences.append(
            f"On an {gpu['gpu'].removeprefix('NVIDIA ')}, {gpu['policies']} flows of 15,000 steps "
            f"take {gpu[WHOLE]:.1f} s with set-up, and a step takes {step:.0f} µs per policy. A "
            "plain PyTorch loop over the same network, one policy after the other, takes "
            f"{plain:.0f} µs in the same run, {plain / step:.1f} times as long, and {fused:.0f} µs "
            f"with fused Adam and a fused average, {fused / step:.1f} times as long; it has no "
            "CUDA graph and no `torch.compile`."
        )
    cpu = [sections.get(f"training, {name}") for name in ("1 CPU core", "2 CPU cores")]
    if cpu[0] and cpu[1]:
        sentences.append(
            f"On one core of a CPU, one flow of 15,000 steps takes {cpu[0][WHOLE]:.0f} s, and on "
            f"two cores {cpu[1][WHOLE]:.0f} s, extrapolated from measured steps."
        )
    return " ".join(sentences) or NONE


def acting(sections: dict[str, Any]) -> str:
    """Return the 99th percentile of the CPU time of a decision."""
    ways = sections.get("acting, µs")
    if not ways:
        return NONE
    vectors, images = ({way: _p99(t) for way, t in ways[k].items()} for k in ("flow", "flow-cnn"))
    return (
        f"With 4 layers of 512 and 10 Euler steps, 99 of 100 decisions take at most "
        f"{vectors['numpy']} of CPU time on one core in numpy{_file(vectors)} and "
        f"{vectors['torch']} in torch. With two frames of 96×96×3 as observation they take "
        f"{images['numpy']} in numpy{_file(images)} and {images['torch']} in torch."
    )


def _file(ways: dict[str, str]) -> str:
    return f", {ways['ONNX']} in the ONNX file" if "ONNX" in ways else ""


def _p99(clocks: dict[str, dict[str, float]]) -> str:
    return f"{clocks['own']['p99'] / 1000:.1f} ms"


def sections(path: Path = TIMES) -> dict[str, dict[str, str]]:
    """Return the sentences by page and mark."""
    contents = times(path)
    return {
        "push-t": {"flow-training-time": training(contents)},
        "policies/flow": {"flow-acting-time": acting(contents)},
    }
