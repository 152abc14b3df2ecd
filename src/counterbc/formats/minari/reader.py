"""Read Minari datasets episode by episode, in the layout that the package describes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from os.path import isfile  # False, not an error, for a folder without permission
from pathlib import Path
from typing import Any

import numpy as np

from counterbc.data.raw_episode import read_episode
from counterbc.errors import FormatError
from counterbc.formats import json_files
from counterbc.formats.asked import is_asked
from counterbc.formats.extras import Extras, lost_digits, read_extras
from counterbc.formats.minari.sources import MAIN, Source, arrow_sources, hdf5_sources, member_names
from counterbc.formats.minari.spaces import Leaf, action_bounds, leaves
from counterbc.formats.stream import Header, RawEpisode, Stream
from counterbc.formats.untrusted import MAX_EPISODES, check_at_most

_GYM = 2  # the `type` of gymnasium environments in robomimic's env_args
_STORES = ("hdf5", "arrow", "parquet")
_READ = {"observations", "actions", "rewards", "infos/success"}
_WRITTEN_BY_US = {"selected", "terminations", "truncations"}
_METADATA = {
    "total_episodes", "total_steps", "dataset_size", "data_format", "jpeg_encoding",
    "observation_space", "action_space", "env_spec", "minari_version", "counterbc",
}  # fmt: skip


def recognizes(path: Path) -> bool:
    """Return whether a path has main_data.hdf5, or metadata.json with data format and spaces."""
    folder = _folder(path)
    if isfile(folder / MAIN):
        return True
    try:
        metadata = json_files.load(folder / "metadata.json", dict)
    except FormatError:
        return False
    return {"data_format", "observation_space"} <= set(metadata)


def stream(
    path: str | Path, obs: Sequence[str] | None = None, action: Sequence[str] | None = None
) -> Stream:
    """Open a dataset by its folder, or the folder `data` in it.

    `obs` and `action` name parts of the observations and actions, in that order.
    """
    root = _folder(Path(path))
    file = root / "metadata.json"
    metadata = json_files.load(file, dict)
    extras = None
    if "counterbc" in metadata:
        values = json_files.entry(metadata, "counterbc", dict, file)
        extras = read_extras(values, f"{file}: counterbc")
    keys = _obs_keys(_space(metadata, "observation_space", file), extras, file)
    actions = _choose_actions(_space(metadata, "action_space", file), action, file)
    _check_continuous(actions, file)
    dataset = _Dataset(root, metadata, extras, _choose_keys(keys, obs, file), actions)
    return Stream(dataset.header(str(path), keys), dataset.raw_episodes())


def _folder(path: Path) -> Path:
    """Return the folder of metadata.json: `path`, `path`/data, or that of the named file."""
    if path.name == MAIN and isfile(path):
        return path.parent
    return path if isfile(path / "metadata.json") else path / "data"


@dataclass(frozen=True)
class _Key:
    """An observation key: a leaf of the observation space and the names of its dimensions."""

    name: str
    leaf: Leaf
    names: tuple[str, ...]

    @property
    def vector(self) -> bool:
        return self.leaf.numeric and not self.leaf.image


def _space(metadata: dict[str, Any], key: str, file: Path) -> list[Leaf]:
    """Return the leaves of a space in the metadata."""
    label = f"{file}: {key}"
    space = json_files.loads(json_files.entry(metadata, key, str, file), dict, label)
    if not (space_leaves := leaves(space, label)):
        raise FormatError(f"{label} is empty; repair it")
    return space_leaves


def _obs_keys(parts: Sequence[Leaf], extras: Extras | None, file: Path) -> list[_Key]:
    """Return the parts of the observation, by the names they had before we wrote them."""
    if extras is not None and not extras.obs_keys and len(parts) == 1:
        name = (*extras.cameras, parts[0].name)[0]
        return [_Key(name, replace(parts[0], pixels=True), ())]
    if extras is None:
        return [_Key(leaf.name, leaf, _dimension_names(leaf)) for leaf in parts]
    if [width for _, width in extras.obs_keys] != [leaf.width for leaf in parts]:
        raise FormatError(
            f"{file}: obs_keys of counterbc do not fit the observation space; remove counterbc"
        )
    ends = np.cumsum([leaf.width for leaf in parts])
    return [
        _Key(name, leaf, extras.obs_names[end - width : end])
        for (name, width), leaf, end in zip(extras.obs_keys, parts, ends, strict=True)
    ]


def _dimension_names(leaf: Leaf) -> tuple[str, ...]:
    return tuple(f"{leaf.name}[{i}]" for i in range(leaf.width)) if not leaf.image else ()


def _choose_keys(keys: Sequence[_Key], obs: Sequence[str] | None, file: Path) -> list[_Key]:
    """Return the keys that `obs` names, in that order; by default all vectors, or all images."""
    by_name = {key.name: key for key in keys}
    choice = [k for k in keys if k.vector] or [k for k in keys if k.leaf.image]
    if obs is not None:
        for name in obs:
            if name not in by_name:
                raise FormatError(
                    f"{file}: there is no observation {name!r}; allowed: {', '.join(by_name)}"
                )
        choice = [by_name[name] for name in obs]
    texts = [k.name for k in choice if not k.leaf.numeric]
    if not choice or texts:
        raise FormatError(
            f"{file}: cannot join {', '.join(k.name for k in choice) or 'nothing'}; "
            f"choose images and vectors from {', '.join(by_name)}"
        )
    return list({k.name: k for k in choice}.values())


def _choose_actions(parts: Sequence[Leaf], action: Sequence[str] | None, file: Path) -> list[Leaf]:
    """Return the parts of the action that `action` names, in that order; by default all."""
    by_name = {"action" if not leaf.path else leaf.name: leaf for leaf in parts}
    names = list(by_name) if action is None else action
    for name in names:
        if name not in by_name:
            raise FormatError(f"{file}: there is no action {name!r}; allowed: {', '.join(by_name)}")
    return [by_name[name] for name in names]


def _check_continuous(actions: Sequence[Leaf], file: Path) -> None:
    for leaf in actions:
        if leaf.kind != "Box":
            raise FormatError(
                f"{file}: the action space is {leaf.kind}; only continuous actions (Box) are "
                "supported; choose another dataset"
            )


@dataclass(frozen=True)
class _Dataset:
    """A dataset and the observation keys to read from it."""

    root: Path
    metadata: dict[str, Any]
    extras: Extras | None
    keys: Sequence[_Key]
    actions: Sequence[Leaf]

    @property
    def path(self) -> Path:
        return self.root / "metadata.json"

    def header(self, source: str, all_keys: Sequence[_Key]) -> Header:
        vectors = [k for k in self.keys if k.vector]
        if self.extras:
            fields = self.extras.header
            env_args = json_files.entry(self.metadata["counterbc"], "env_args", dict, self.path)
        else:
            fields, env_args = action_bounds(self.actions), _env_args(self.metadata)
        return Header(
            obs_keys=tuple((k.name, k.leaf.width) for k in vectors),
            obs_names=tuple(n for k in vectors for n in k.names),
            camera="" if vectors else self.keys[0].name,
            blind_to=tuple(k.name for k in all_keys if k.leaf.image and k not in self.keys),
            env_args=env_args,
            source=source,
            left_out=self._left_out(all_keys),
            **fields,
        )

    def _left_out(self, all_keys: Sequence[_Key]) -> tuple[str, ...]:
        """Return what the dataset holds that is not read; nothing if we wrote it."""
        names, metadata = _READ, _METADATA
        if self.extras is not None:
            names, metadata = _READ | _WRITTEN_BY_US, _METADATA | {"dataset_id"}
        members = member_names(self.root, self.metadata.get("data_format", "hdf5"))
        boxes = [a for a in (*(k.leaf for k in self.keys), *self.actions) if a.kind == "Box"]
        wide = any("64" in leaf.dtype for leaf in boxes)
        return (
            *(f"{k.name} ({k.leaf.kind})" for k in all_keys if k not in self.keys),
            *(name for name in members if name not in names),
            *(() if self.extras else ("the last observation of each episode",)),
            *(f"metadata {key}" for key in sorted(self.metadata) if key not in metadata),
            *(lost_digits([np.float64]) if wide else []),
        )

    def raw_episodes(self) -> Iterator[RawEpisode]:
        step_count, total = json_files.count(self.metadata, "total_steps", self.path), 0
        is_whole = True
        for i, source in enumerate(self._sources()):
            if not is_asked(self.extras.name(i) if self.extras else f"demo_{i}"):
                is_whole = False
                continue
            raw = read_episode(f"demo_{i}", self.path, partial(self._raw_episode, i, source))
            total += len(raw.action)
            is_whole = is_whole and raw.error is None
            yield self.extras.restore(raw, i) if self.extras and raw.error is None else raw
        if is_whole and total != step_count:
            raise FormatError(
                f"{self.path} declares {step_count} steps, but the episodes have {total}; "
                "copy or download the dataset again"
            )

    def _raw_episode(self, index: int, open_source: Callable[[], Source]) -> RawEpisode:
        source = open_source()
        success, selected = source.scalars("infos/success"), source.scalars("selected")
        parts = [(k, source.values("observations", k.leaf)) for k in self.keys]
        vectors = [values for k, values in parts if k.vector]
        images = {k.name: values for k, values in parts if not k.vector}
        first = next(iter(images), "")
        return RawEpisode(
            obs=np.concatenate(vectors, axis=1) if vectors else images.pop(first),
            action=np.concatenate([source.values("actions", a) for a in self.actions], axis=1),
            reward=source.scalars("rewards"),
            success=None if success is None else bool(np.any(success)),
            name=f"demo_{index}",
            selected=None if selected is None or not self.extras else selected.astype(bool),
            images=images,
        )

    def _sources(self) -> Iterator[Callable[[], Source]]:
        store = self.metadata.get("data_format", "hdf5")
        episodes = json_files.count(self.metadata, "total_episodes", self.path, 1)
        check_at_most(str(self.path), episodes, MAX_EPISODES, "episodes")
        if store not in _STORES:
            raise FormatError(
                f"{self.path}: data_format is {store!r:.40}; allowed: {', '.join(_STORES)}; "
                "convert the dataset with minari"
            )
        if store == "hdf5":
            return hdf5_sources(self.root, episodes)
        return arrow_sources(self.root, episodes, store)


def _env_args(metadata: dict[str, Any]) -> dict[str, Any]:
    """Return the environment as robomimic describes it, and as gymnasium wrote it."""
    text = metadata.get("env_spec")
    if not isinstance(text, str):
        return {}
    spec = json_files.loads(text, dict, "env_spec")
    name, kwargs = spec.get("id"), spec.get("kwargs")
    kwargs = kwargs if isinstance(kwargs, dict) else {}
    return {"env_name": name, "type": _GYM, "env_kwargs": kwargs, "env_spec": text}
