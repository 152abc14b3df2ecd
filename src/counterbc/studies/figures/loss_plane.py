"""Figure 2: the loss of one state for four policies over a plane of actions."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from counterbc import draws
from counterbc.feasible import Everywhere
from counterbc.losses import cross_entropy
from counterbc.policies import GaussianMLP
from counterbc.studies.plots import label_below, new_figure, save
from counterbc.supports import Ball

Array = NDArray[Any]
RADIUS = 0.5
COUNT = 2000  # counterfactuals: enough that the loss does not depend on their draw


@dataclass(frozen=True)
class Predicted:
    """A Gaussian policy at one state, where the demonstrated action is the origin."""

    name: str
    mean: tuple[float, float]
    std: float


POLICIES = (
    Predicted("confident, outside", (0.7, 0.5), 0.12),
    Predicted("unsure, outside", (0.5, 0.4), 0.35),
    Predicted("unsure, inside", (0.0, 0.0), 0.35),
    Predicted("confident, inside", (0.2, -0.2), 0.12),
)


def losses() -> dict[str, float]:
    """Eq. M4 of each policy with C(s, a) the disc of radius 0.5 around the demonstrated action."""
    support, action = Ball(COUNT), torch.zeros(1, 2)
    count = support.draws(2, Everywhere())
    u = draws.uniform(torch.tensor(0), "figure 2", torch.arange(COUNT), count).unsqueeze(0)
    actions = support.place(action, torch.full((1, 2), RADIUS), u, Everywhere())  # (1, M, 2)
    return {p.name: float(cross_entropy(_log_pi(p, actions))) for p in POLICIES}


def _log_pi(policy: Predicted, actions: torch.Tensor) -> torch.Tensor:
    mean = torch.tensor([policy.mean])
    return GaussianMLP().log_prob((mean, torch.full_like(mean, policy.std).log()), actions)


def draw(folder: Path) -> tuple[dict[str, Any], list[Path]]:
    """Four panels from the largest to the least loss."""
    found = losses()
    figure, axes = new_figure(2, 2, height=4.0)
    line = np.linspace(-1.0, 1.0, 201)
    plane = torch.tensor(np.stack(np.meshgrid(line, line), -1).reshape(1, -1, 2)).float()
    angle = np.linspace(0, 2 * np.pi, 200)
    for axis, policy in zip(axes.flat, POLICIES, strict=True):
        density = _log_pi(policy, plane).exp().reshape(201, 201)
        # Each panel by its own largest value: the shape is meant, not the height.
        axis.imshow(density, origin="lower", extent=(-1, 1, -1, 1), cmap="magma", aspect="equal")
        axis.plot(RADIUS * np.cos(angle), RADIUS * np.sin(angle), "w--", lw=1.2)
        axis.plot(0, 0, "w+", ms=7)
        loss = f"{found[policy.name]:.1f}".replace("-", "−")
        axis.set_title(f"{policy.name}: loss {loss}", fontsize=7.5, pad=3)
        axis.set_xticks([-1, 0, 1])
        axis.set_yticks([-1, 0, 1])
        axis.grid(visible=False)
    label_below(axes, "action, dimension 1")
    for axis in axes[:, 0]:
        axis.set_ylabel("action, dimension 2")
    caption = (
        "Colour: π(a|s), lighter is likelier. Dashed: C(s, a) with Δ = 0.5 around the "
        f"demonstrated action (+). Loss: eq. M4 over that action and {COUNT} counterfactuals."
    )
    return {"loss": found}, save(figure, folder, "figure2", caption)
