"""Figure 2: the loss of one state for four policies over a plane of actions."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from matplotlib.colors import BoundaryNorm
from matplotlib.patheffects import withStroke

from counterbc.data import draws
from counterbc.data.arrays import Array
from counterbc.data.feasible import Everywhere
from counterbc.losses import cross_entropy
from counterbc.policies import GaussianMLP
from counterbc.supports import Ball
from reproduction.figure_numbers import Figure2
from reproduction.plots import label_below, new_figure, save

RADIUS = 0.5
COUNT = 2000  # counterfactuals: enough that the loss does not depend on their draw
LINE = np.linspace(-1.0, 1.0, 61)
"""Actions along either dimension of the plane."""
LEVELS = (-2, -1, 0, 1, 2, 5, 10, 20, 50, 120)
"""Levels of colour; far from a confident policy the loss grows with the squared distance."""

HALO = (withStroke(linewidth=2.4, foreground="w"),)
"""A white edge, so that black lines are visible on every colour."""


@dataclass(frozen=True)
class PredictedPolicy:
    """A Gaussian policy at one state, where the demonstrated action is the origin."""

    name: str
    mean: tuple[float, float]
    std: float


DRAWN_POLICIES = (
    PredictedPolicy("confident, outside", (0.7, 0.5), 0.12),
    PredictedPolicy("unsure, outside", (0.5, 0.4), 0.35),
    PredictedPolicy("unsure, inside", (0.0, 0.0), 0.35),
    PredictedPolicy("confident, inside", (0.2, -0.2), 0.12),
)


def losses() -> dict[str, float]:
    """Return eq. M4 of each policy; C(s, a) is a disc of radius 0.5 around the shown action."""
    return {p.name: float(loss(p, torch.zeros(1, 2))) for p in DRAWN_POLICIES}


def loss(policy: PredictedPolicy, actions: torch.Tensor) -> torch.Tensor:
    """Return eq. M4 (B,) for each of these actions (B, 2) as the demonstrated one."""
    support, count = Ball(COUNT), len(actions)
    numbers = support.draws(2, Everywhere())
    u = draws.uniform(torch.tensor(0), "figure 2", torch.arange(COUNT), numbers)
    radius = torch.full((count, 2), RADIUS)
    actions = support.place(actions, radius, u.expand(count, -1, -1), Everywhere())
    return cross_entropy(_log_pi(policy, actions))  # of (B, M, 2)


def plane(policy: PredictedPolicy) -> Array:
    """Return the loss for every place of the demonstrated action: dimension 2 × dimension 1."""
    x = torch.tensor(LINE).float()
    # Line by line, since the counterfactuals of the whole plane would take much memory.
    lines = [loss(policy, torch.stack([x, y.expand_as(x)], -1)) for y in x]
    return np.asarray(torch.stack(lines))


def _log_pi(policy: PredictedPolicy, actions: torch.Tensor) -> torch.Tensor:
    mean = torch.tensor([policy.mean])
    return GaussianMLP().log_prob((mean, torch.full_like(mean, policy.std).log()), actions)


def draw(folder: Path) -> Figure2:
    """Draw four panels from the largest to the smallest loss with one colour scale."""
    values = losses()
    figure, axes = new_figure(2, 2, height=4.4)
    for axis, policy in zip(axes.flat, DRAWN_POLICIES, strict=True):
        contours = _panel(axis, policy)
        number = f"{values[policy.name]:.1f}".replace("-", "−")
        axis.set_title(f"{policy.name}: {number}", fontsize=7.5, pad=3)
    label_below(axes, "demonstrated action, dim. 1")
    for axis in axes[:, 0]:
        axis.set_ylabel("demonstrated action, dim. 2")
    caption = (
        "Colour: the loss (eq. M4) of one state, were the demonstrated action there. Number: the "
        "loss where it is at +; dashed: C(s, a) then, Δ = 0.5. Solid: the policy, 1 and 2 standard "
        f"deviations around its mean. {COUNT:,} counterfactuals."
    )
    save(figure, folder, "figure2", caption, bar=(contours, "loss"))
    return Figure2(values)


def _panel(axis: Any, policy: PredictedPolicy) -> Any:
    """Draw a map of the loss with C(s, a) and the policy on it."""
    contours = axis.contourf(LINE, LINE, plane(policy), LEVELS, cmap="viridis_r",
                             norm=BoundaryNorm(LEVELS, 256))  # fmt: skip
    for times in (1, 2):
        _circle(axis, policy.mean, times * policy.std, lw=1.0)
    _circle(axis, (0.0, 0.0), RADIUS, lw=1.4, ls="--")
    axis.plot(0, 0, "k+", ms=7, path_effects=HALO)
    axis.set(xlim=(-1, 1), ylim=(-1, 1), xticks=[-1, 0, 1], yticks=[-1, 0, 1], aspect="equal")
    axis.grid(visible=False)
    return contours


def _circle(axis: Any, centre: tuple[float, float], radius: float, **look: Any) -> None:
    angle = np.linspace(0, 2 * np.pi, 100)
    x, y = centre[0] + radius * np.cos(angle), centre[1] + radius * np.sin(angle)
    axis.plot(x, y, color="k", path_effects=HALO, **look)
