"""How teachers err on Intersection.

The error of a step is the demonstrated minus the intended action: that of the expert at the same
state. The picture shows one episode.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from counterbc.demonstrators import (
    HUMAN_TEACHERS,
    NOISES,
    Chain,
    Human,
    Teacher,
    UniformNoise,
    record,
)
from reproduction.markdown import markdown_table
from reproduction.options import DOCS, StudyOptions, option
from reproduction.records import Record, computed_with, read, write

WORLD, SEED, SIGMA, RADIUS = "intersection", 0, 0.5, 0.4
MEASURED_TEACHERS: dict[str, Teacher] = {
    "no error": Chain(()),
    **{f"{name} σ {SIGMA:g}": noise(SIGMA) for name, noise in NOISES.items()},
    **HUMAN_TEACHERS,
}
# Colours from the palette of Okabe and Ito.
PICTURED: dict[str, tuple[Teacher, str]] = {
    "uniform noise σ 0.5": (UniformNoise(SIGMA), "#CC79A7"),
    "novice": (HUMAN_TEACHERS["novice"], "#D55E00"),
    "typical": (HUMAN_TEACHERS["typical"], "#009E73"),
    "skilled": (HUMAN_TEACHERS["skilled"], "#0072B2"),
}


@dataclass(frozen=True, kw_only=True)
class TeachersOptions(StudyOptions):
    """Measure the errors of every teacher and draw one episode."""

    episodes: int = 2000
    pictured: int = option(3, "number of the episode in the picture")
    figure: Path = option(DOCS / "images" / "teachers.png", "file of the picture")


def run(options: TeachersOptions) -> None:
    """Measure, draw and print the tables."""
    rows = {n: measure(teacher, options.episodes) for n, teacher in MEASURED_TEACHERS.items()}
    write({n: row | computed_with("cpu") for n, row in rows.items()}, options.numbers("teachers"))
    draw(options.pictured, options.figure)
    print(f"{traits()}\n\n{markdown(rows)}")


def sections(results: Path) -> dict[str, dict[str, str]]:
    """Return the tables of docs/teachers.md."""
    rows = read(results / "teachers" / "numbers.json")
    return {"teachers": {"traits": traits(), "errors": markdown(rows)}}


def measure(teacher: Teacher, episodes: int) -> Record:
    """Return RMS error, lag-1 autocorrelation, bias, share within Δ, and mean return."""
    takes = record(WORLD, teacher, episodes, SEED)
    error = np.array([take.episode.action - take.intended for take in takes])  # (N, T, A)
    e = error - error.mean(axis=(0, 1))
    together = (e[:, 1:] * e[:, :-1]).mean()
    spread = (e**2).mean()
    rewards = [take.episode.reward for take in takes]
    returns = [float(reward.sum()) for reward in rewards if reward is not None]
    return {
        "rms": float(np.sqrt((error**2).mean())),
        "lag 1": float(together / spread) if spread > 1e-6 else 0.0,
        "bias": error.mean(axis=(0, 1)).round(5).tolist(),
        "within": float((np.linalg.norm(error, axis=2) <= RADIUS).mean()),
        "return": float(np.mean(returns)),
    }


def markdown(rows: dict[str, Record]) -> str:
    """Return the errors of every teacher."""
    lines = []
    for name, r in rows.items():
        bias = ", ".join(f"{b + 0.0:.2f}" for b in np.round(np.array(r["bias"]), 2)).replace(
            "-", "−"
        )
        lag = f"{r['lag 1']:.2f}".replace("-0.00", "0.00").replace("-", "−")
        texts = (f"{r['rms']:.2f}", lag, bias, f"{100 * r['within']:.0f} %", f"{r['return']:.1f}")
        lines.append([name, *texts])
    head = (
        "teacher",
        "RMS error",
        "lag-1 autocorrelation",
        "bias",
        f"within Δ {RADIUS:g}",
        "return",
    )
    return markdown_table(head, lines)


def traits() -> str:
    """Return the traits of the three human-like teachers."""
    people = [t for t in HUMAN_TEACHERS.values() if isinstance(t, Human) and not t.delay_steps]
    traits = (
        "delay", "overshoot", "bias", "gain", "floor", "memory", "tiring", "device", "wrong",
        "lapses",
    )  # fmt: skip
    lines = [[f"`{trait}`", *(str(getattr(p, trait)) for p in people)] for trait in traits]
    return markdown_table(["", *(p.name for p in people)], lines)


def draw(episode: int, path: Path) -> None:
    """Draw intended and demonstrated action over one episode, a panel for each teacher."""
    figure = Figure(figsize=(6.0, 4.2))
    panels = figure.subplots(2, 2, sharex=True, sharey=True)
    for panel, (name, (teacher, color)) in zip(panels.flat, PICTURED.items(), strict=True):
        demonstrated_episode, intended_actions = record(WORLD, teacher, episode + 1, SEED)[episode]
        t = np.arange(len(demonstrated_episode))
        panel.axhspan(-1, 1, color="0.95", lw=0)
        panel.plot(t, intended_actions[:, 1], color="0.25", lw=1.2, ls=(0, (4, 2)))
        panel.plot(t, demonstrated_episode.action[:, 1], "o-", color=color, lw=1.4, ms=3.5)
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
