"""What the loop needs of a policy: a question without waiting, and an answer in time."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from counterbc.acting.onnx_session import Session
from counterbc.data.arrays import Array
from counterbc.robots.summary import check_facts


@dataclass(frozen=True)
class Decision:
    """A policy's answer."""

    action: Array  # (A,)
    seconds: float
    """How long the policy computed."""


class Decider(Protocol):
    """A policy that may run elsewhere."""

    obs_size: int
    action_size: int
    about: dict[str, str]
    """The facts that the exported file holds."""

    def ask(self, tick: int, obs: Array, is_first: bool) -> None:
        """Ask for an action; `is_first` starts a new episode, without memory of the last one."""

    def answer(self, tick: int, until: float) -> Decision | None:
        """Return the answer to this tick's question, or None if there is none in time."""

    @property
    def is_running(self) -> bool:
        """Whether an answer can still come."""

    def close(self) -> None:
        """End the policy."""


class PolicyFile:
    """An exported file that decides for one arm."""

    def __init__(self, path: Path, seed: int = 0) -> None:
        self.session = Session(path, 1)
        self.generator = np.random.default_rng(seed)
        self.about: dict[str, str] = dict(self.session.about)
        check_facts(self.about)
        shape = self.session.shapes.get("obs", ())
        if set(self.session.shapes) - {"obs", "window", "noise"} or self.session.kinds[
            "obs"
        ] != np.dtype(np.float32):
            raise ValueError("it reads images; the loop passes vectors only")
        self.obs_size = int(shape[-1])
        self.action_size = int(self.session.session.get_outputs()[0].shape[-1])

    def act(self, obs: Array, is_first: bool) -> Array:
        """Return the action (A,) at an observation (S,)."""
        if is_first:
            self.session.reset()
        noise: Any = None
        if "noise" in self.session.shapes:
            noise = self.generator.standard_normal(self.session.shapes["noise"])
            noise = noise.astype(np.float32)
        return np.asarray(self.session.act(obs, noise)[0], np.float64)


class DirectPolicy:
    """A policy in the loop's process, for simulation on a virtual clock only: it cannot stall."""

    is_running = True

    def __init__(self, path: Path) -> None:
        self.file = PolicyFile(path)
        self.obs_size, self.action_size = self.file.obs_size, self.file.action_size
        self.about = self.file.about

    def ask(self, tick: int, obs: Array, is_first: bool) -> None:
        self._decision = Decision(self.file.act(obs, is_first), 0.0)

    def answer(self, tick: int, until: float) -> Decision | None:
        return self._decision

    def close(self) -> None:
        """Do nothing: there is no process."""
