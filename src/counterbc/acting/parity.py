"""Whether an exported file acts as torch does."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from counterbc.acting.actor import Act, Acting
from counterbc.acting.policies import Policies
from counterbc.data import draws
from counterbc.data.scaling import Scaling

TOLERANCE = 1e-5
"""How far an action may be from torch's, as a share of its range."""
_ROUNDING = 2.0**-22  # of float32, relative; two units in the last place
_COPIES = 3


@dataclass(frozen=True)
class Parity:
    """The actions of a file beside torch's."""

    agrees: bool
    difference: float
    """The largest, in the action's units."""
    inputs: int
    """How many inputs were compared."""
    undecided: int
    """How many were not, because rounding alone decides the action there."""


def check_parity(path: Path, policies: Policies, act: Act) -> Parity:
    """Act for a few steps from the start of an episode, with the file and with torch.

    On far-away inputs a policy may turn over between two float32 numbers. So the policy acts also
    with its parameters rounded otherwise; where that alone changes the action, the input is
    undecided and does not count.
    """
    steps = probes(policies.scales, policies.policy.history + 2)  # (T, E, S)
    file = Session(path, steps.shape[1])
    acting = Acting(_rounded_otherwise(policies), range(steps.shape[1]), act, seed=0)
    allowed = _allowed(policies.scales)  # (A,)
    gaps = []
    for obs in steps:
        noise = torch.special.ndtri(acting.chances()[: policies.shards]).transpose(0, 1)
        one, *others = acting.actions(obs.expand(1 + _COPIES, -1, -1)).numpy()  # (E, A) each
        spread = np.max([np.abs(other - one) for other in others], axis=0)
        decided = (spread <= allowed / 4).all(1)  # (E,)
        gaps.append(np.abs(file.act(obs.numpy(), noise.numpy()) - one)[decided])
    gap, total = np.concatenate(gaps), steps.shape[0] * steps.shape[1]
    agrees = bool((gap <= allowed).all()) and 2 * len(gap) > total  # nan does not agree
    return Parity(agrees, float(gap.max(initial=0)), len(gap), total - len(gap))


class Session:
    """A file at work in E episodes at once."""

    def __init__(self, path: Path, episodes: int) -> None:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(
            path, options, providers=["CPUExecutionProvider"]
        )
        self.shapes = {i.name: (episodes, *i.shape[1:]) for i in self.session.get_inputs()}
        self.reset()

    def reset(self) -> None:
        """A new episode."""
        self.window = np.zeros(self.shapes.get("window", ()), np.float32)

    def act(self, obs: NDArray[Any], noise: NDArray[Any] | None = None) -> NDArray[np.float32]:
        """Actions (E, A) at observations (E, S)."""
        given: dict[str, Any] = {"obs": obs, "window": self.window, "noise": noise}
        given = {k: np.reshape(given[k], shape) for k, shape in self.shapes.items()}
        action, *window = self.session.run(None, given)
        if window:
            self.window = window[0]
        actions: NDArray[np.float32] = action
        return actions


def probes(scales: Scaling, steps: int) -> torch.Tensor:
    """Observations like the data's, and far from any: (steps, E, S)."""
    mean, scale = scales.obs_mean, scales.obs_scale  # (1, S)
    g = draws.generator(0, "probes")
    size = mean.shape[1]

    def signs(rows: int) -> torch.Tensor:
        return torch.randint(2, (rows, size), generator=g) * 2.0 - 1

    def one_step() -> torch.Tensor:
        usual = [mean + k * scale * torch.randn(64, size, generator=g) for k in (1, 3)]
        flat = [torch.full((1, size), x) for x in (0.0, 1e3, -1e3, 1e6, -1e6)]
        mixed = [signs(8) * x for x in (1e3, 1e6)]
        single = [mean + torch.eye(size) * x for x in (1.0, -1e3)]  # also those that never varied
        return torch.cat([*usual, mean, *flat, *mixed, *single])

    return torch.stack([one_step() for _ in range(steps)])


def _rounded_otherwise(policies: Policies) -> Policies:
    """The policy, then copies of it whose parameters differ in their last digits."""
    g = draws.generator(0, "rounding")

    def copies(x: torch.Tensor) -> torch.Tensor:
        jitter = [torch.rand(x.shape, generator=g) * 2 - 1 for _ in range(_COPIES)]
        return torch.cat([x, *(x * (1 + _ROUNDING * j) for j in jitter)])

    return replace(
        policies,
        params={k: copies(v) for k, v in policies.params.items()},
        scales=Scaling.stack([policies.scales] * (1 + _COPIES)),
        members=policies.members * (1 + _COPIES),
    )


def _allowed(scales: Scaling) -> NDArray[np.float32]:
    """How far each action dimension may be off: a share of its range, and its own rounding."""
    low, high = scales.action_low[0].numpy(), scales.action_high[0].numpy()
    largest: NDArray[np.float32] = np.maximum(np.abs(low), np.abs(high))
    return np.asarray(TOLERANCE * (high - low) + _ROUNDING * largest, np.float32)
