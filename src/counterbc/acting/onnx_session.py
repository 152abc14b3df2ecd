"""An exported policy that acts through onnxruntime, without torch."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from counterbc.acting.act import AVERAGING

_KINDS = {"tensor(float)": np.float32, "tensor(uint8)": np.uint8}


class Session:
    """An exported file that acts in E episodes at once."""

    def __init__(self, path: Path, episodes: int) -> None:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        content = path.read_bytes()  # onnxruntime opens no path that is not UTF-8
        self.session = onnxruntime.InferenceSession(
            content, options, providers=["CPUExecutionProvider"]
        )
        self.shapes = {i.name: (episodes, *i.shape[1:]) for i in self.session.get_inputs()}
        self.kinds = {i.name: _KINDS[i.type] for i in self.session.get_inputs()}
        self.about = self.session.get_modelmeta().custom_metadata_map
        self.reset()

    def reset(self) -> None:
        """Start a new episode."""
        self.window = np.zeros(self.shapes.get("window", ()), self.kinds.get("obs", np.float32))
        self.windows: dict[str, NDArray[Any]] = {}
        self.step = 0
        self.plans: list[NDArray[np.float32]] = []

    def act(
        self, obs: Mapping[str, Any] | NDArray[Any], noise: NDArray[Any] | None = None
    ) -> NDArray[np.float32]:
        """Return actions (E, A) at observations (E, S), or at a dict of several inputs."""
        named = dict(obs) if isinstance(obs, Mapping) else {"obs": obs}
        named = {name: np.asarray(values, self.kinds[name]) for name, values in named.items()}
        if "horizon" in self.about:
            return self._act_by_chunk(named, noise)
        action, *window = self._run(**named, window=self.window, noise=noise)
        if window:
            self.window = window[0]
        return action

    def _run(self, **feeds: Any) -> list[NDArray[np.float32]]:
        feeds = {k: np.reshape(feeds[k], shape) for k, shape in self.shapes.items()}
        results: list[NDArray[np.float32]] = self.session.run(None, feeds)
        return results

    def _act_by_chunk(
        self, obs: Mapping[str, NDArray[Any]], noise: NDArray[Any] | None
    ) -> NDArray[np.float32]:
        """Follow the metadata: what to fill the windows with, and when to call again."""
        for name, values in obs.items():
            episodes, _, *shape = self.shapes[name]
            last = values.reshape(episodes, 1, *shape)
            if self.step == 0:
                self.windows[name] = np.broadcast_to(self._before(name, last), self.shapes[name])
            self.windows[name] = np.concatenate([self.windows[name][:, 1:], last], axis=1)
        horizon, execute = (int(self.about[name]) for name in ("horizon", "execute"))
        if "average" in self.about["actions"]:
            self.plans = [*self.plans, *self._run(**self.windows, noise=noise)][-horizon:]
            action = _average_overlap(self.plans)
        else:
            if self.step % execute == 0:
                self.plans = self._run(**self.windows, noise=noise)
            action = self.plans[0][:, self.step % execute]
        self.step += 1
        return np.asarray(action, np.float32)

    def _before(self, name: str, first: NDArray[Any]) -> NDArray[Any]:
        """Return what stands for observations before the first one of an episode."""
        before = self.about.get("obs_before_start")
        if before is None:
            return first
        return np.array(0 if self.kinds[name] == np.uint8 else json.loads(before), first.dtype)


def _average_overlap(plans: Sequence[NDArray[np.float32]]) -> NDArray[np.float32]:
    """Return the mean of what the last predictions (E, H, A) say about the current step: (E, A)."""
    ages = range(len(plans) - 1, -1, -1)
    about = np.stack([plan[:, age] for plan, age in zip(plans, ages, strict=True)])
    weights = np.exp(-AVERAGING * np.arange(len(about), dtype=np.float32))
    return np.asarray(np.tensordot(weights / weights.sum(), about, 1), np.float32)
