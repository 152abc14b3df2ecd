"""A dataset of demonstrations: episodes of state-action pairs, and the facts they share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from counterbc.data.arrays import Array
from counterbc.data.bounds import ActionSet, bounds_text, checked_bounds, outside_bounds
from counterbc.data.censoring import ActionsAre, check_actions_are
from counterbc.data.dimensions import checked_angles, dims_of
from counterbc.data.episode import Episode, check_agree, checked_selection
from counterbc.data.fingerprint import dataset_fingerprint
from counterbc.data.names import cameras_text, episode_numbers, shape_text, shorten
from counterbc.data.obs_names import filled_names
from counterbc.data.relative import check_relative
from counterbc.data.writer import write
from counterbc.errors import DataError, OptionError, unknown

__all__ = ["ActionSet", "Array", "Demonstrations", "Episode"]


@dataclass(frozen=True, eq=False, repr=False)
class Demonstrations:
    """A dataset D of state-action pairs, kept as episodes.

    `selected` are the indices of the pairs to learn from, in episode order; None stands for all of
    them. The other pairs stay in the dataset, as the history of the selected ones.
    """

    episodes: tuple[Episode, ...]
    action_low: Array | None = None
    """(A,) lower bound of each action dimension; None where unknown."""
    action_high: Array | None = None
    action_set: ActionSet = "box"
    """A within its bounds: the whole box, or the ball that touches its sides."""
    actions_are: ActionsAre | None = None
    """Whether actions are those asked for, or those taken, cut at the bounds; None: unknown."""
    relative: str | None = None
    """What actions are relative to, as `relative_dims` reads it; None: nothing is declared."""
    angles: tuple[str, ...] = ()
    """Observation dimensions that are angles in radians, by name or as a part of a key."""
    action_names: tuple[str, ...] = ()
    obs_names: tuple[str, ...] = ()
    """One per dimension of a vector observation; empty for images."""
    obs_keys: tuple[tuple[str, int], ...] = ()
    """How a vector observation splits into named parts: (key, width) in order."""
    camera: str = ""
    """The name of the camera where `obs` are images, "image" unless given; empty for vectors."""
    blind_to: tuple[str, ...] = ()
    """Cameras of the source that were not read: policies trained on these data do not see them."""
    image_size: tuple[int, ...] = ()
    """Height and width to which images were resized when they were read; empty if they were not."""
    rate: float | None = None
    """Pairs per second."""
    env_args: Mapping[str, Any] = field(default_factory=dict)
    """The environment in robomimic's words: env_name, type, env_kwargs."""
    masks: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Named subsets of episodes, as episode names."""
    source: str = ""
    selected: Array | None = None

    def __post_init__(self) -> None:
        episodes = tuple(
            e if e.name else replace(e, name=f"demo_{i}") for i, e in enumerate(self.episodes)
        )
        check_agree(episodes)
        object.__setattr__(self, "episodes", episodes)
        object.__setattr__(self, "masks", {m: tuple(names) for m, names in self.masks.items()})
        for name, value in filled_names(self).items():
            object.__setattr__(self, name, value)
        object.__setattr__(self, "angles", checked_angles(self, self.angles))
        self._check_bounds()
        check_actions_are(self.actions_are)
        check_relative(self.relative)
        if self.rate is not None and not (np.isfinite(self.rate) and self.rate > 0):
            raise DataError(f"rate is {self.rate}; expected pairs per second above 0, or None")
        if self.selected is not None:
            object.__setattr__(self, "selected", checked_selection(self.selected, len(self.starts)))

    def _check_bounds(self) -> None:
        low, high, size = self.action_low, self.action_high, self.action_size
        if (bounds := checked_bounds(low, high, self.action_set, size)) is not None:
            object.__setattr__(self, "action_low", bounds[0])
            object.__setattr__(self, "action_high", bounds[1])

    @property
    def obs_shape(self) -> tuple[int, ...]:
        return tuple(self.episodes[0].obs.shape[1:])

    @property
    def cameras(self) -> dict[str, tuple[int, ...]]:
        """The height, width and channels of each camera's images, by name and in order."""
        of_obs = {self.camera: self.obs_shape} if self.camera else {}
        return of_obs | {n: tuple(x.shape[1:]) for n, x in self.images.items()}

    @property
    def image(self) -> tuple[int, ...]:
        """The sizes of all cameras' images, one after the other; empty without cameras."""
        return tuple(size for shape in self.cameras.values() for size in shape)

    @property
    def images(self) -> Mapping[str, Array]:
        """What the cameras beside `obs` saw in the first episode, by name."""
        return self.episodes[0].images

    @property
    def action_size(self) -> int:
        return int(self.episodes[0].action.shape[1])

    @property
    def pairs(self) -> int:
        """Number of pairs to learn from."""
        return int(self.lengths.sum()) if self.selected is None else len(self.selected)

    @cached_property
    def lengths(self) -> Array:
        """The number of pairs of each episode: (E,)."""
        return np.array([len(e) for e in self.episodes])

    @cached_property
    def operators(self) -> tuple[str, ...]:
        """The operators in order of first appearance; empty if none is recorded."""
        return tuple(dict.fromkeys(e.operator for e in self.episodes if e.operator is not None))

    @property
    def env(self) -> str | None:
        """The gymnasium id or robosuite name of the environment, if recorded."""
        name = self.env_args.get("env_name")
        return None if name is None else str(name)

    @property
    def backend(self) -> str | None:
        """The simulator, if the environment has several."""
        kwargs = self.env_args.get("env_kwargs")
        name = kwargs.get("backend") if isinstance(kwargs, Mapping) else None
        return None if name is None else str(name)

    @property
    def obs(self) -> Array:
        """All observations in episode order: (N, S), or (N, H, W, C)."""
        return np.concatenate([e.obs for e in self.episodes])

    @property
    def action(self) -> Array:
        """All actions in episode order: (N, A)."""
        return np.concatenate([e.action for e in self.episodes])

    @property
    def starts(self) -> Array:
        """For each pair the index of its episode's first pair: (N,)."""
        return np.repeat(np.cumsum(self.lengths) - self.lengths, self.lengths)

    @property
    def learned(self) -> Array:
        """Indices of the pairs to learn from: (pairs,)."""
        return np.arange(self.lengths.sum()) if self.selected is None else self.selected

    @property
    def infeasible(self) -> Array:
        """Whether each pair's action lies outside the declared bounds: (N,) bool."""
        return outside_bounds(self.action, self.action_low, self.action_high, self.action_set)

    @property
    def mean_return(self) -> float | None:
        """Mean over episodes of the summed reward; None unless every episode has rewards."""
        if any(e.reward is None for e in self.episodes):
            return None
        return float(np.mean([e.reward.sum() for e in self.episodes if e.reward is not None]))

    def fingerprint(self) -> str:
        """Return a hash of what is learned from: data, bounds and selection, but no names."""
        return dataset_fingerprint(
            ((e.digest, e.operator, e.success) for e in self.episodes),
            low=self.action_low,
            high=self.action_high,
            selected=self.selected,
            action_set=self.action_set,
            actions_are=self.actions_are,
            relative=self.relative,
            angles=dims_of(self, self.angles),
        )

    def __len__(self) -> int:
        return len(self.episodes)

    def __iter__(self) -> Iterator[Demonstrations]:
        return (self[i] for i in range(len(self)))

    def __getitem__(self, index: int | str | slice | Iterable[int | str]) -> Demonstrations:
        """Return some episodes as a dataset, by number, slice or name, or by a list of them."""
        if isinstance(index, slice):
            return self._take(range(len(self))[index])
        episodes = index if isinstance(index, Iterable) and not isinstance(index, str) else [index]
        return self._take(episode_numbers([e.name for e in self.episodes], episodes))

    @property
    def bounds(self) -> str:
        """The action bounds in words."""
        return bounds_text(self.action_low, self.action_high, self.action_set)

    def __repr__(self) -> str:
        lengths, outside = [len(e) for e in self.episodes], int(self.infeasible.sum())
        of_all = f" selected of {sum(lengths)}" if self.selected is not None else ""
        successes = [e.success for e in self.episodes if e.success is not None]
        lines = {
            "episodes": f"{len(self)}, {min(lengths)} to {max(lengths)} pairs long",
            "pairs": f"{self.pairs}{of_all}",
            "obs": f"{shape_text(self.obs_shape)}  {shorten(self.obs_names)}".rstrip(),
            "cameras": cameras_text(self.cameras if self.images else {}, self.blind_to),
            "action": f"{self.action_size}  {shorten(self.action_names)}",
            "bounds": self.bounds + (f"; {outside} actions outside" if outside else ""),
            "recorded": "" if self.actions_are is None else f"actions {self.actions_are}",
            "relative": self.relative or "",
            "angles": ", ".join(self.angles),
            "operators": shorten(self.operators) or "not recorded",
            "success": f"{sum(successes)} of {len(successes)}" if successes else "",
            "return": "" if (r := self.mean_return) is None else f"{r:.2f} on average",
            "env": self.env or "",
            "rate": f"{self.rate:g} Hz" if self.rate else "",
        }
        rows = [f"  {name:<9}  {text}" for name, text in lines.items() if text]
        return "\n".join([f"Demonstrations from {self.source or 'memory'}", *rows])

    def subset(
        self,
        episodes: Iterable[int | str] | None = None,
        *,
        operator: str | Iterable[str] | None = None,
        success: bool | None = None,
        mask: str | None = None,
    ) -> Demonstrations:
        """Return the episodes that meet every condition; `episodes` are numbers or names."""
        keep = list(range(len(self)))
        if episodes is not None:
            numbers = set(episode_numbers([e.name for e in self.episodes], episodes))
            keep = [i for i in keep if i in numbers]
        if operator is not None:
            names = {operator} if isinstance(operator, str) else set(operator)
            for name in sorted(names - set(self.operators)):
                raise unknown("operator", name, self.operators or ("none is recorded",))
            keep = [i for i in keep if self.episodes[i].operator in names]
        if success is not None:
            if all(e.success is None for e in self.episodes):
                raise OptionError("these demonstrations do not record success; drop that condition")
            keep = [i for i in keep if self.episodes[i].success is success]
        if mask is not None:
            if mask not in self.masks:
                raise unknown("mask", mask, self.masks or ("there are none",))
            keep = [i for i in keep if self.episodes[i].name in self.masks[mask]]
        return self._take(keep)

    def _take(self, keep: Sequence[int]) -> Demonstrations:
        if not keep:
            raise DataError("no episode passes these conditions; loosen them")
        selected = None
        if self.selected is not None:
            learned = np.isin(np.arange(self.lengths.sum()), self.selected)  # (N,)
            of_episodes = np.split(learned, np.cumsum(self.lengths))
            selected = np.flatnonzero(np.concatenate([of_episodes[i] for i in keep]))
            if not len(selected):
                raise DataError("no selected pair is left in these episodes; loosen the conditions")
        return replace(self, episodes=tuple(self.episodes[i] for i in keep), selected=selected)

    def sample_pairs(self, count: int, seed: int) -> Demonstrations:
        """Return a random subset of `count` pairs, each with its history."""
        if not 1 <= count <= self.pairs:
            raise OptionError(
                f"cannot choose {count} of {self.pairs} pairs; ask for 1 … {self.pairs}"
            )
        pairs = np.random.default_rng(seed).choice(self.learned, count, replace=False)
        return replace(self, selected=np.sort(pairs))

    def split(self, fraction: float, seed: int) -> tuple[Demonstrations, Demonstrations]:
        """Return two disjoint sets of whole episodes, the second with about `fraction` of them."""
        if not 0 < fraction < 1:
            raise OptionError(f"cannot split off {fraction} of the episodes; give 0 < fraction < 1")
        if len(self) < 2:
            raise DataError("a split by episode needs at least 2 episodes; there is 1")
        count = min(max(round(fraction * len(self)), 1), len(self) - 1)
        order = np.random.default_rng(seed).permutation(len(self)).tolist()
        return self._take(sorted(order[count:])), self._take(sorted(order[:count]))

    def map_actions(self, function: Callable[[Array], Array]) -> Demonstrations:
        """Return a copy with `function` applied to the (T, A) actions of each episode."""
        return replace(
            self, episodes=tuple(replace(e, action=function(e.action)) for e in self.episodes)
        )

    def save(self, path: str | Path) -> None:
        """Write robomimic HDF5, or npz where `path` ends in .npz; refuse a path that exists.

        `counterbc.save` writes the other formats.
        """
        write(self, Path(path), format="npz" if str(path).lower().endswith(".npz") else "robomimic")
