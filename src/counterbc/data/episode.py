"""One demonstration, and the checks of its arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from counterbc.data.arrays import Array, check_finite, read_only
from counterbc.data.fingerprint import episode_digest
from counterbc.errors import DataError


@dataclass(frozen=True, eq=False)
class Episode:
    """One demonstration from start to end."""

    obs: Array
    """The state of each pair: (T, S) float32, or (T, H, W, C) uint8 images."""
    action: Array
    """(T, A) float32, in the units the environment takes."""
    reward: Array | None = None
    """(T,) float32, if rewards were recorded."""
    operator: str | None = None
    """Who demonstrated, if that was recorded."""
    success: bool | None = None
    """Whether the task was solved, if that was recorded."""
    name: str = ""
    """Unique within a dataset; `Demonstrations` fills in demo_0, demo_1, … if it is empty."""
    images: Mapping[str, Array] = field(default_factory=dict)
    """What cameras saw beside `obs`, by name: (T, H, W, C) uint8 each."""

    def __post_init__(self) -> None:
        label = f"episode {self.name!r}" if self.name else "an episode"
        image = is_image(self.obs)
        obs = read_only(self.obs, np.uint8 if image else np.float32, f"obs of {label}")
        action = read_only(self.action, np.float32, f"action of {label}")
        if not image and (obs.ndim != 2 or obs.shape[1] == 0):
            raise DataError(
                f"obs of {label} has shape {obs.shape}; "
                "expected (T, S) with S > 0, or (T, H, W, C) in uint8"
            )
        if action.ndim != 2 or action.shape[1] == 0:
            raise DataError(f"action of {label} has shape {action.shape}; expected (T, A), A > 0")
        if len(obs) != len(action):
            raise DataError(
                f"{label} has {len(obs)} observations but {len(action)} actions; "
                "each action needs its state"
            )
        if len(obs) == 0:
            raise DataError(f"{label} is empty; remove it, or record at least one pair")
        if not image:
            check_finite(obs, f"obs of {label}")
        check_finite(action, f"action of {label}")
        object.__setattr__(self, "obs", obs)
        object.__setattr__(self, "action", action)
        images = {name: self._checked_image(name, x, label) for name, x in self.images.items()}
        object.__setattr__(self, "images", images)
        if self.reward is not None:
            object.__setattr__(self, "reward", self._checked_reward(self.reward, label))
        if self.success is not None:
            object.__setattr__(self, "success", bool(self.success))

    def _checked_reward(self, reward: Array, label: str) -> Array:
        reward = read_only(reward, np.float32, f"reward of {label}")
        if reward.shape != (len(self),):
            raise DataError(f"reward of {label} has shape {reward.shape}; expected ({len(self)},)")
        check_finite(reward, f"reward of {label}")
        return reward

    def _checked_image(self, camera: str, image: Array, label: str) -> Array:
        if not is_image(image) or len(image) != len(self):
            shape = f"{np.shape(image)} ({getattr(image, 'dtype', type(image).__name__)})"
            raise DataError(
                f"images of camera {camera!r} of {label} have shape {shape}; expected "
                f"({len(self)}, H, W, C) in uint8"
            )
        return read_only(image, np.uint8, f"images of camera {camera!r} of {label}")

    def rows(self, rows: slice) -> Episode:
        """Return the same episode with some of its pairs only."""
        return replace(
            self,
            obs=self.obs[rows],
            action=self.action[rows],
            reward=None if self.reward is None else self.reward[rows],
            images={name: image[rows] for name, image in self.images.items()},
        )

    @cached_property
    def digest(self) -> bytes:
        """A hash of the arrays, which are read-only."""
        return episode_digest(self.obs, self.action, self.reward, self.images.values())

    def __len__(self) -> int:
        return len(self.action)

    def __repr__(self) -> str:
        extras = [f"operator {self.operator!r}"] if self.operator is not None else []
        extras += [f"success {self.success}"] if self.success is not None else []
        extras += [f"return {float(self.reward.sum()):.3g}"] if self.reward is not None else []
        return f"Episode({', '.join([self.name or 'unnamed', f'{len(self)} pairs', *extras])})"


def is_image(values: Array) -> bool:
    """Return whether values are images: (T, H, W, C) uint8."""
    return getattr(values, "dtype", None) == np.uint8 and np.ndim(values) == 4


def check_agree(episodes: Sequence[Episode]) -> None:
    """Refuse episodes of one dataset with different shapes or the same name."""
    if not episodes:
        raise DataError("a dataset needs at least one episode; this one has none")
    first, names = episodes[0], set()
    first_shapes = {n: x.shape[1:] for n, x in first.images.items()}
    for e in episodes:
        if e.obs.shape[1:] != first.obs.shape[1:] or e.obs.dtype != first.obs.dtype:
            raise DataError(
                f"obs of episode {e.name!r} has shape {e.obs.shape[1:]} ({e.obs.dtype}); "
                f"{first.name!r} has {first.obs.shape[1:]} ({first.obs.dtype}); all must agree"
            )
        shapes = {n: x.shape[1:] for n, x in e.images.items()}
        if list(shapes.items()) != list(first_shapes.items()):
            raise DataError(
                f"cameras of episode {e.name!r} are {shapes or 'none'}; those of {first.name!r} "
                f"are {first_shapes or 'none'}; all must agree"
            )
        if e.action.shape[1] != first.action.shape[1]:
            raise DataError(
                f"action of episode {e.name!r} has {e.action.shape[1]} dimensions; "
                f"{first.name!r} has {first.action.shape[1]}; all must agree"
            )
        if e.name in names:
            raise DataError(f"two episodes are named {e.name!r}; names must differ")
        names.add(e.name)


def checked_selection(selected: Array, total: int) -> Array:
    """Return the indices of the pairs to learn from in order; refuse what are none of `total`."""
    pairs = np.asarray(selected)
    if pairs.ndim != 1 or not len(pairs):
        raise DataError("selected must be a non-empty list of pair indices, or None for all")
    if pairs.dtype.kind not in "iu":
        raise DataError(f"selected holds {pairs.dtype} values; give the indices of pairs")
    if pairs.min() < 0 or pairs.max() >= total or len(np.unique(pairs)) != len(pairs):
        raise DataError(f"selected must hold distinct indices in 0 … {total - 1}; drop others")
    return read_only(np.sort(pairs), np.int64, "selected")
