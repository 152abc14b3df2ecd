"""Minari datasets: HDF5, Arrow and Parquet are read, HDF5 is written.

    data/metadata.json                    spaces, environment, counts
    data/main_data.hdf5                   episode_k: observations (T+1), actions, rewards (T), …
    data/<k>/…                            the same as an Arrow or Parquet table of T+1 rows

The last observation has no action and is left out. A Dict or Tuple of observations is joined, its
parts are the keys: "achieved_goal", or "a.b" and "a.0" where spaces lie within spaces. Images are
read when they are chosen, or alone. Discrete actions are refused: actions are continuous here.
infos/success is success. The object `counterbc` in metadata.json keeps what has no place in Minari.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from os.path import isfile  # False, not an error, where a folder may not be read
from pathlib import Path
from typing import Any

import numpy as np

from counterbc.data.demonstrations import Demonstrations
from counterbc.errors import FormatError
from counterbc.formats import extras, json_files
from counterbc.formats.extras import Extras
from counterbc.formats.minari import sources as minari_sources
from counterbc.formats.minari import spaces as minari_spaces
from counterbc.formats.minari.sources import Source
from counterbc.formats.minari.spaces import Leaf
from counterbc.formats.minari.writer import write
from counterbc.formats.stream import Header, RawEpisode, Stream

__all__ = ["read", "recognizes", "stream", "write"]

_GYM = 2  # the `type` of robomimic's env_args for gymnasium environments
_STORES = ("hdf5", "arrow", "parquet")
_READ = {"observations", "actions", "rewards", "infos/success"}
_OURS = {"selected", "terminations", "truncations"}
_METADATA = {
    "total_episodes", "total_steps", "dataset_size", "data_format", "jpeg_encoding",
    "observation_space", "action_space", "env_spec", "minari_version", "counterbc",
}  # fmt: skip


def recognizes(path: Path) -> bool:
    """A folder with main_data.hdf5, or with metadata.json that tells a data format and spaces."""
    folder = _folder(path)
    if isfile(folder / minari_sources.MAIN):
        return True
    try:
        about = json_files.load(folder / "metadata.json", dict)
    except FormatError:
        return False
    return {"data_format", "observation_space"} <= set(about)


def read(path: str | Path, obs: Sequence[str] | None = None) -> Demonstrations:
    """A whole dataset; `obs` names the parts of the observation to use, in that order."""
    return stream(path, obs).demonstrations()


def stream(path: str | Path, obs: Sequence[str] | None = None) -> Stream:
    """A dataset episode by episode; `path` is its folder, or the folder `data` in it."""
    root = _folder(Path(path))
    where = root / "metadata.json"
    about = json_files.load(where, dict)
    known = None
    if "counterbc" in about:
        known = extras.read(
            json_files.entry(about, "counterbc", dict, where), f"{where}: counterbc"
        )
    keys = _keys(_space(about, "observation_space", where), known, where)
    picked = _chosen(keys, obs, where)
    actions = _space(about, "action_space", where)
    _check_continuous(actions, where)
    left_out = tuple(f"{k.name} ({k.leaf.kind})" for k in keys if k not in picked)
    left_out += _unread(about, root, known)
    left_out += _digits([*(k.leaf for k in picked), *actions])
    header = _header(about, known, picked, actions, str(path), left_out)
    return Stream(header, _recordings(about, root, known, picked, actions))


def _unread(about: dict[str, Any], root: Path, known: Extras | None) -> tuple[str, ...]:
    """What episodes and metadata hold beyond what is read; of our own making, nothing is lost."""
    read, metadata = _READ, _METADATA
    if known is not None:
        read, metadata = _READ | _OURS, _METADATA | {"dataset_id"}
    there = minari_sources.names(root, about.get("data_format", "hdf5"))
    last = () if known else ("the last observation of each episode",)
    return (
        *(name for name in there if name not in read),
        *last,
        *(f"metadata {key}" for key in sorted(about) if key not in metadata),
    )


def _digits(leaves: Sequence[Leaf]) -> tuple[str, ...]:
    wide = any("64" in leaf.dtype for leaf in leaves if leaf.kind == "Box")
    return tuple(extras.lost_digits([np.float64])) if wide else ()


def _folder(path: Path) -> Path:
    """Where metadata.json lies: here, in data/, or beside the file that was named."""
    if path.name == minari_sources.MAIN and isfile(path):
        return path.parent
    return path if isfile(path / "metadata.json") else path / "data"


@dataclass(frozen=True)
class _Key:
    name: str
    leaf: Leaf
    names: tuple[str, ...]

    @property
    def vector(self) -> bool:
        return self.leaf.numeric and not self.leaf.image


def _space(about: dict[str, Any], key: str, where: Path) -> list[Leaf]:
    place = f"{where}: {key}"
    space = json_files.loads(json_files.entry(about, key, str, where), dict, place)
    if not (found := minari_spaces.leaves(space, place)):
        raise FormatError(f"{place} is empty; repair it")
    return found


def _keys(leaves: Sequence[Leaf], known: Extras | None, where: Path) -> list[_Key]:
    """The parts of the observation, with the names they had before they were written here."""
    if known is not None and not known.obs_keys and len(leaves) == 1:
        return [_Key(leaves[0].name, replace(leaves[0], pixels=True), ())]
    if known is None:
        return [_Key(leaf.name, leaf, _numbered(leaf.name, leaf)) for leaf in leaves]
    if [w for _, w in known.obs_keys] != [leaf.width for leaf in leaves]:
        raise FormatError(f"{where}: counterbc's obs_keys do not fit the space; remove counterbc")
    ends = np.cumsum([leaf.width for leaf in leaves])
    return [
        _Key(name, leaf, known.obs_names[end - width : end])
        for (name, width), leaf, end in zip(known.obs_keys, leaves, ends, strict=True)
    ]


def _numbered(name: str, leaf: Leaf) -> tuple[str, ...]:
    return tuple(f"{name}[{i}]" for i in range(leaf.width)) if not leaf.image else ()


def _chosen(keys: Sequence[_Key], wanted: Sequence[str] | None, where: Path) -> list[_Key]:
    """The wanted parts in their order; without a wish all vectors, or else the one image."""
    allowed = ", ".join(k.name for k in keys)
    by_name = {k.name: k for k in keys}
    picked = [k for k in keys if k.vector] or [k for k in keys if k.leaf.image]
    if wanted is not None:
        for name in wanted:
            if name not in by_name:
                raise FormatError(f"{where}: no observation {name!r}; allowed: {allowed}")
        picked = [by_name[name] for name in wanted]
    texts = [k.name for k in picked if not k.leaf.numeric]
    images = [k for k in picked if k.leaf.image]
    if not picked or texts or (images and len(picked) > 1):
        raise FormatError(
            f"{where}: cannot join {', '.join(k.name for k in picked) or 'nothing'}; "
            f"choose one image, or vectors only, of {allowed}"
        )
    return picked


def _check_continuous(actions: Sequence[Leaf], where: Path) -> None:
    for leaf in actions:
        if leaf.kind != "Box":
            raise FormatError(
                f"{where}: actions are {leaf.kind}; only continuous actions (Box) can be learned "
                "here; choose another dataset"
            )


def _header(
    about: dict[str, Any],
    known: Extras | None,
    keys: Sequence[_Key],
    actions: Sequence[Leaf],
    source: str,
    left_out: tuple[str, ...],
) -> Header:
    vectors = [k for k in keys if k.vector]
    fields = known.header if known else minari_spaces.action_bounds(actions)
    return Header(
        obs_keys=tuple((k.name, k.leaf.width) for k in vectors),
        obs_names=tuple(n for k in vectors for n in k.names),
        env_args=about["counterbc"].get("env_args", {}) if known else _env_args(about),
        source=source,
        left_out=left_out,
        **fields,
    )


def _env_args(about: dict[str, Any]) -> dict[str, Any]:
    """The environment in robomimic's words, and as gymnasium wrote it."""
    text = about.get("env_spec")
    if not isinstance(text, str):
        return {}
    spec = json_files.loads(text, dict, "env_spec")
    name, kwargs = spec.get("id"), spec.get("kwargs") or {}
    return {"env_name": name, "type": _GYM, "env_kwargs": kwargs, "env_spec": text}


def _sources(about: dict[str, Any], root: Path) -> Iterator[Source]:
    where = root / "metadata.json"
    store = about.get("data_format", "hdf5")
    episodes = json_files.count(about, "total_episodes", where, 1)
    if store not in _STORES:
        raise FormatError(
            f"{where}: data_format is {store!r:.40}; allowed: {', '.join(_STORES)}; "
            "convert the dataset with minari"
        )
    if store == "hdf5":
        return minari_sources.of_hdf5(root, episodes)
    return minari_sources.of_arrow(root, episodes, store)


def _recordings(
    about: dict[str, Any],
    root: Path,
    known: Extras | None,
    keys: Sequence[_Key],
    actions: Sequence[Leaf],
) -> Iterator[RawEpisode]:
    expected, total = json_files.count(about, "total_steps", root / "metadata.json"), 0
    for i, source in enumerate(_sources(about, root)):
        success, selected = source.scalars("infos/success"), source.scalars("selected")
        parts = [source.values("observations", k.leaf) for k in keys]
        recording = RawEpisode(
            obs=parts[0] if keys[0].leaf.image else np.concatenate(parts, axis=1),
            action=np.concatenate([source.values("actions", a) for a in actions], axis=1),
            reward=source.scalars("rewards"),
            success=None if success is None else bool(np.any(success)),
            name=f"demo_{i}",
            selected=None if selected is None or not known else selected.astype(bool),
        )
        total += source.steps
        yield known.restored(recording, i) if known else recording
    if total != expected:
        raise FormatError(
            f"{root / 'metadata.json'} says there are {expected} steps; the episodes have {total}; "
            "copy or download the dataset again"
        )
