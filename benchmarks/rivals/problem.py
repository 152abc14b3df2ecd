"""The training problem that all rivals share: pairs, counterfactuals, initial networks.

This file and the other files of this folder that rivals import need numpy alone, because rivals run
in environments of their own, in which counterbc is not installed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

METHODS = ("bc", "counter-bc", "weighted-bc", "bc-rnn")
LABELS = ("BC", "Counter-BC", "Weighted-BC", "BC-RNN")
HISTORY, UNITS = 5, 64
LEARNING_RATE, BETAS, EPSILON = 1e-3, (0.9, 0.999), 1e-8
HALF_LOG_2PI = 0.9189385332046727

Arrays = dict[str, Any]


@dataclass(frozen=True)
class Problem:
    """Pairs that N members learn from, in units that policies read and predict.

    `positions` are the pairs of the steps by which rivals are compared number by number.
    """

    obs: Any  # (n, S)
    windows: Any  # (n, HISTORY, S): each observation with those before it
    action: Any  # (n, A)
    sets: Any  # (N, n, M, A): the actions of C(s, a), the demonstrated one first
    params: dict[str, Arrays]  # initial (N, …) parameters of each method, by name
    positions: Any  # (K, N, B)

    @property
    def members(self) -> int:
        return int(self.sets.shape[0])

    @property
    def pairs(self) -> int:
        return len(self.obs)

    @property
    def batch(self) -> int:
        return int(self.positions.shape[2])

    def inputs(self, method: str) -> Any:
        """Return what the policy of a method reads: (n, S), or (n, HISTORY, S)."""
        return self.windows if method == "bc-rnn" else self.obs

    def targets(self, method: str) -> Any:
        """Return the actions that a method learns: (n, 1, A), or (N, n, M, A)."""
        return self.sets if method == "counter-bc" else self.action[:, None]

    def save(self, path: Path) -> None:
        """Write an npz file."""
        params = {f"{m}/{k}": v for m, part in self.params.items() for k, v in part.items()}
        arrays = {name: getattr(self, name) for name in _ARRAYS}
        np.savez(path, **arrays, **params)

    @staticmethod
    def load(path: Path) -> Problem:
        """Read the file that `save` wrote."""
        with np.load(path) as file:
            params: dict[str, Arrays] = {method: {} for method in METHODS}
            for key in file.files:
                method, slash, name = key.partition("/")
                if slash:
                    params[method][name] = file[key]
            return Problem(params=params, **{name: file[name] for name in _ARRAYS})


_ARRAYS = ("obs", "windows", "action", "sets", "positions")


@dataclass(frozen=True)
class Variant:
    """One rival's training of one method."""

    models: int
    """Networks that one step trains."""
    run: Callable[[int], None]
    """Takes this many steps; the first call may compile."""
    losses: Callable[[], Any] | None = None
    """Returns each model's loss at the last of the problem's `positions`, from initial weights."""
    kernel: str = ""
    """What computes the steps, where the rival chooses it."""


Rival = Callable[[Problem, str], Variant]
"""Makes the variant of a method."""
