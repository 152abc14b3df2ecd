"""The first picture of the README: what is shown, what is meant, and what two methods learn.

400 pairs of Intersection with uniform noise of 0.5 teach BC and Counter-BC (Δ 0.4), both for the
paper's 10,000 steps. At states of new expert episodes the picture shows eight actions each: those
of the noisy teacher, and samples of both policies, beside the action that the expert means.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import NDArray

import counterbc as cb
from counterbc.demonstrators import NO_ERROR, UniformNoise
from counterbc.envs.intersection import EGO_GOAL
from counterbc.experiments.styles import method_style
from reproduction.options import DOCS, StudyOptions, option
from reproduction.records import write

Array = NDArray[Any]
SIGMA, RADIUS, STEPS, FAN = 0.5, 0.4, 10_000, 8
GREEN, EVERY, LENGTH = "#1B9E3E", 2, 3.0  # states between two fans; units of the map per action
PANELS = {
    "shown": "shown by the teacher",
    "bc": "learned by BC",
    "counter-bc": "learned by Counter-BC",
}


@dataclass(frozen=True, kw_only=True)
class IdeaOptions(StudyOptions):
    """Draw what is shown, meant and learned in Intersection."""

    seed: int = option(1000, "seed of the demonstrations and the policies")
    steps: int = STEPS
    episodes: int = option(50, "expert episodes in which actions are compared")
    picture: Path = option(DOCS / "images" / "idea.png", "file of the picture")


def run(options: IdeaOptions) -> None:
    """Train both methods, compare their actions with those meant, and draw one episode."""
    shown = cb.demonstrate("intersection", UniformNoise(SIGMA), 400, options.seed)
    fixed: dict[str, Any] = {
        "radius": RADIUS, "steps": options.steps, "lag": 0.0, "offsets": "none", "ensemble": 1
    }  # fmt: skip
    policies = {m: cb.train(shown, m, seeds=[options.seed], **fixed) for m in ("bc", "counter-bc")}
    meant = cb.demonstrate("intersection", NO_ERROR, 20 * options.episodes, options.seed + 1)
    rng = np.random.default_rng(options.seed)
    noise = rng.uniform(-SIGMA, SIGMA, (FAN, *meant.action.shape))
    fans = {"shown": meant.action + noise}
    means = {}
    for method, policy in policies.items():
        fans[method] = np.stack([_actions(policy, meant.obs, "sample", k) for k in range(FAN)])
        means[method] = _actions(policy, meant.obs, "mean", 0)
    errors = {name: rms(fan - meant.action) for name, fan in fans.items()}
    errors |= {f"{name}, deterministic": rms(a - meant.action) for name, a in means.items()}
    write({"rms": errors}, options.numbers("idea"))
    drawn = best_episode(meant)
    start = sum(map(len, meant.episodes[:drawn]))
    rows = slice(start, start + len(meant.episodes[drawn]))
    parts = {name: fan[:, rows] for name, fan in fans.items()}
    draw(meant.episodes[drawn], parts, errors, options.picture)
    print("\n".join(f"{name}: {error:.3f}" for name, error in errors.items()))
    print(options.picture)


def rms(difference: Array) -> float:
    """Return the root of the mean squared distance."""
    return float(np.sqrt((difference**2).sum(-1).mean()))


def _actions(policies: cb.Policies, obs: Array, act: Any, seed: int) -> Array:
    actor = policies[0].actor(act, seed)
    return np.stack([actor.act(o) for o in obs])


def best_episode(demos: cb.Demonstrations) -> int:
    """Return the episode whose ego car travels farthest, which is drawn most clearly."""
    travels = [np.ptp(e.obs[:, :2], axis=0).sum() for e in demos.episodes]
    return int(np.argmax(travels))


def draw(episode: cb.Episode, fans: dict[str, Array], errors: dict[str, float], path: Path) -> None:
    """Draw the fans of actions at some states of an episode, one panel for each of their makers."""
    figure = Figure(figsize=(9.0, 3.4), facecolor="white")
    axes = figure.subplots(1, len(PANELS), sharex=True, sharey=True)
    for axis, (name, title) in zip(axes, PANELS.items(), strict=True):
        colour = "0.45" if name == "shown" else method_style(name).colour
        _draw_panel(axis, episode, fans[name], colour)
        axis.set_title(title, fontsize=11, color="0.25" if name == "shown" else colour)
        axis.set_xlabel(f"{errors[name]:.2f} from what was meant", fontsize=10, labelpad=2)
    handles = [
        Line2D([], [], color="0.45", lw=1.6, label="eight actions at each state"),
        Line2D([], [], color=GREEN, lw=2.2, label="the action that was meant"),
    ]
    figure.legend(handles=handles, loc="lower center", ncols=2, fontsize=9, frameon=False)
    figure.subplots_adjust(left=0.01, right=0.99, top=0.9, bottom=0.22, wspace=0.03)
    figure.savefig(path, dpi=160)


def _draw_panel(axis: Any, episode: cb.Episode, fan: Array, colour: str) -> None:
    """Draw the path of the car, and at every second state the fan and the intended action."""
    places = episode.obs[:, :2]
    axis.plot(*places.T, color="0.85", lw=5, solid_capstyle="round", zorder=1)
    axis.plot(*EGO_GOAL, "o", ms=13, mfc="none", mec="0.6", mew=2, zorder=1)
    axis.annotate("goal", EGO_GOAL, (0, 12), textcoords="offset points", ha="center", fontsize=8,
                  color="0.45")  # fmt: skip
    style = {"head_width": 0.28, "length_includes_head": True, "lw": 0}
    for t in range(0, len(places), EVERY):
        for action in fan[:, t]:
            axis.arrow(*places[t], *(LENGTH * action), width=0.05, color=colour, alpha=0.45,
                       zorder=2, **style)  # fmt: skip
        axis.arrow(*places[t], *(LENGTH * episode.action[t]), width=0.12, color=GREEN, zorder=3,
                   **style)  # fmt: skip
        axis.plot(*places[t], "o", ms=3.5, color="black", zorder=4)
    axis.set_aspect("equal")
    axis.margins(0.06)
    axis.set_xticks([])
    axis.set_yticks([])
    axis.spines[:].set_visible(False)
