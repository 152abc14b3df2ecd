"""How teachers err: the tables and the picture of docs/teachers.md.

    python -m reproduction.studies.teachers [--episodes 2000] [--out reproduction/results/teachers/numbers.json]

Intersection; the error of a step is the shown minus the intended action, which the expert means at
the same state. The picture shows one episode.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

from counterbc.demonstrators import NOISES, TEACHERS, Chain, Human, Teacher, UniformNoise, record

WORLD, SEED, SIGMA, RADIUS = "intersection", 0, 0.5, 0.4
SHOWN: dict[str, Teacher] = {
    "no error": Chain(()),
    **{f"{name} σ {SIGMA:g}": noise(SIGMA) for name, noise in NOISES.items()},
    **TEACHERS,
}
# Of the palette of Okabe and Ito, one colour per teacher.
PICTURED: dict[str, tuple[Teacher, str]] = {
    "uniform noise σ 0.5": (UniformNoise(SIGMA), "#CC79A7"),
    "novice": (TEACHERS["novice"], "#D55E00"),
    "typical": (TEACHERS["typical"], "#009E73"),
    "skilled": (TEACHERS["skilled"], "#0072B2"),
}


def measure(teacher: Teacher, episodes: int) -> dict[str, Any]:
    """RMS per dimension, correlation of neighbouring steps, mean, share within Δ, and return."""
    recorded = record(WORLD, teacher, episodes, SEED)
    error = np.array([r.episode.action - r.intended for r in recorded])  # (N, T, A)
    e = error - error.mean(axis=(0, 1))
    together = (e[:, 1:] * e[:, :-1]).mean()
    spread = (e**2).mean()
    returns = [float(r.episode.reward.sum()) for r in recorded if r.episode.reward is not None]
    return {
        "rms": float(np.sqrt((error**2).mean())),
        "lag 1": float(together / spread) if spread > 1e-6 else 0.0,
        "bias": error.mean(axis=(0, 1)).round(5).tolist(),
        "within": float((np.linalg.norm(error, axis=2) <= RADIUS).mean()),
        "return": float(np.mean(returns)),
    }


def markdown(rows: dict[str, dict[str, Any]]) -> str:
    lines = [
        f"| teacher | RMS error | lag-1 autocorrelation | bias | within Δ {RADIUS:g} | return |",
        "|---|" + 5 * "---|",
    ]
    for name, r in rows.items():
        bias = ", ".join(f"{b + 0.0:.2f}" for b in np.round(r["bias"], 2)).replace("-", "−")
        lag = f"{r['lag 1']:.2f}".replace("-0.00", "0.00").replace("-", "−")
        lines.append(
            f"| {name} | {r['rms']:.2f} | {lag} | {bias} | {100 * r['within']:.0f} % "
            f"| {r['return']:.1f} |"
        )
    return "\n".join(lines)


def parameters() -> str:
    """The traits of the three people."""
    people = [t for t in TEACHERS.values() if isinstance(t, Human)]
    lines = [f"| | {' | '.join(p.name for p in people)} |", "|---|" + len(people) * "---|"]
    for trait in (
        "delay", "overshoot", "bias", "gain", "floor", "memory", "tiring", "device", "wrong",
        "lapses",
    ):  # fmt: skip
        lines.append(f"| `{trait}` | {' | '.join(str(getattr(p, trait)) for p in people)} |")
    return "\n".join(lines)


def draw(episode: int, path: Path) -> None:
    """Intended and shown action over one episode, a panel for each teacher."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, panels = plt.subplots(2, 2, figsize=(6.0, 4.2), sharex=True, sharey=True)
    for panel, (name, (teacher, color)) in zip(panels.flat, PICTURED.items(), strict=True):
        shown, intended = record(WORLD, teacher, episode + 1, SEED)[episode]
        t = np.arange(len(shown))
        panel.axhspan(-1, 1, color="0.95", lw=0)
        panel.plot(t, intended[:, 1], color="0.25", lw=1.2, ls=(0, (4, 2)))
        panel.plot(t, shown.action[:, 1], "o-", color=color, lw=1.4, ms=3.5)
        panel.set_title(name, fontsize=10, color=color, loc="left")
        panel.spines[["top", "right"]].set_visible(False)
        panel.set_xticks(range(0, 21, 5))
        panel.set_yticks([-1, 0, 1])
        panel.set_ylim(-1.4, 1.4)
    for panel in panels[1]:
        panel.set_xlabel("step")
    for panel in panels[:, 0]:
        panel.set_ylabel("ego_dy")
    figure.suptitle(
        f"{WORLD.capitalize()}, one episode: intended (dashed) and shown (dots)", fontsize=10
    )
    figure.tight_layout()
    figure.savefig(path, dpi=160)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--episodes", type=int, default=2000)
    parser.add_argument("--pictured", type=int, default=3, help="which episode is drawn")
    parser.add_argument(
        "--out", type=Path, default=Path("reproduction/results/teachers/numbers.json")
    )
    parser.add_argument("--figure", type=Path, default=Path("docs/images/teachers.png"))
    options = parser.parse_args()
    rows = {name: measure(teacher, options.episodes) for name, teacher in SHOWN.items()}
    options.out.write_text(json.dumps(rows, indent=1) + "\n")
    draw(options.pictured, options.figure)
    print(f"{parameters()}\n\n{markdown(rows)}")


if __name__ == "__main__":
    main()
