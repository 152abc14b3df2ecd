"""LeRobot datasets: versions 2.0, 2.1 and 3.0 are read, 3.0 is written.

    meta/info.json                       version, fps, features, counts, templates of paths
    meta/episodes.jsonl                  2: a line per episode        meta/episodes/…    3: tables
    data/chunk-000/episode_000000.parquet   2: a file per episode     file-000.parquet   3: shared
    videos/…                             films, read with PyAV

By default the observation is every numeric observation.* feature, observation.state first; films
and images are read when they are chosen, or alone. next.reward and next.success are reward and
success. Each task is a mask "task: …" of the episodes that were asked to do it. meta/counterbc.json
keeps what LeRobot has no place for; meta/robomimic_masks.json and robomimic_env_args.json are read
where a converter from robomimic left them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from os.path import isfile  # False, not an error, where a folder may not be read
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from counterbc.data.demonstrations import Demonstrations
from counterbc.data.episode import Array
from counterbc.errors import FormatError
from counterbc.formats import extras, frames, json_files, parquet
from counterbc.formats.extras import Extras
from counterbc.formats.lerobot import episode_index as lerobot_places
from counterbc.formats.lerobot import info as lerobot_info
from counterbc.formats.lerobot import keys as lerobot_keys
from counterbc.formats.lerobot.episode_index import Place
from counterbc.formats.lerobot.info import Feature, Info
from counterbc.formats.lerobot.keys import Key
from counterbc.formats.lerobot.writer import EXTRAS, TASK, write
from counterbc.formats.stream import Header, RawEpisode, Stream

__all__ = ["read", "recognizes", "stream", "write"]

_SCALARS = ("next.reward", "next.success")
_INDICES = ("timestamp", "frame_index", "episode_index", "index", "task_index")


def recognizes(path: Path) -> bool:
    """A folder with meta/info.json."""
    return isfile(path / "meta" / "info.json")


def read(path: str | Path, obs: Sequence[str] | None = None) -> Demonstrations:
    """A whole dataset; `obs` names the observation features to use, in that order."""
    return stream(path, obs).demonstrations()


def stream(path: str | Path, obs: Sequence[str] | None = None) -> Stream:
    """A dataset episode by episode."""
    root = Path(path)
    info = lerobot_info.read(root)
    places = lerobot_places.find(info)
    known, keys = _own(info) if isfile(root / EXTRAS) else (None, lerobot_keys.of_features(info))
    if known is not None:
        known.check_fits([p.length for p in places], str(root / EXTRAS))
    picked = lerobot_keys.chosen(keys, obs, info)
    left_out = _left_out(info, known, keys, picked)
    header = _header(info, places, known, picked, left_out)
    return Stream(header, _recordings(info, places, known, picked))


def _left_out(
    info: Info, known: Extras | None, keys: Sequence[Key], picked: Sequence[Key]
) -> tuple[str, ...]:
    """The observations that were not picked, the features that are nothing of ours, and digits."""
    actions = _actions(info)
    read = {*_SCALARS, *_INDICES, *(f.name for f in actions), *(k.feature.name for k in keys)}
    read |= {"selected"} if known else set()
    numbers = [f for f in (*actions, *(k.feature for k in picked)) if f.numeric]
    return (
        *(f"{k.name} ({k.feature.dtype})" for k in keys if k not in picked),
        *(f"{n} ({f.dtype})" for n, f in info.features.items() if n not in read),
        *(extras.lost_digits([np.float64]) if any("64" in f.dtype for f in numbers) else []),
    )


def _own(info: Info) -> tuple[Extras, list[Key]]:
    where = str(info.root / EXTRAS)
    values = json_files.load(info.root / EXTRAS, dict)
    known = extras.read(values, where)
    features = extras.texts(values, "obs_features", where)
    return known, lerobot_keys.of_extras(info, known, features, where)


def _header(
    info: Info,
    places: Sequence[Place],
    known: Extras | None,
    keys: Sequence[Key],
    left_out: tuple[str, ...],
) -> Header:
    env_args = _beside(info, "robomimic_env_args.json")
    if info.robot is not None:
        env_args.setdefault("robot_type", info.robot)
    vectors = [k for k in keys if not k.feature.camera]
    fields: dict[str, Any] = {
        "action_names": tuple(n for f in _actions(info) for n in lerobot_keys.names(f)),
        "rate": info.fps,
        "masks": _task_masks(places) | _robomimic_masks(info),
    } | (known.header if known else {})
    return Header(
        obs_keys=tuple((k.name, k.width) for k in vectors),
        obs_names=tuple(n for k in vectors for n in k.names),
        env_args=env_args,
        source=str(info.root),
        left_out=left_out,
        **fields,
    )


def _task_masks(places: Sequence[Place]) -> dict[str, tuple[str, ...]]:
    masks: dict[str, tuple[str, ...]] = {}
    for place in places:
        for task in place.tasks:
            masks[TASK + task] = (*masks.get(TASK + task, ()), f"demo_{place.index}")
    return masks


def _robomimic_masks(info: Info) -> dict[str, tuple[str, ...]]:
    """Subsets that a converter from robomimic wrote, as numbers of episodes."""
    path = info.root / "meta" / "robomimic_masks.json"
    masks = json_files.entry({"masks": {}} | _beside(info, path.name), "masks", dict, path)
    for name, members in masks.items():
        if not isinstance(members, list) or not all(isinstance(m, int) for m in members):
            raise FormatError(
                f"{path}: {name!r:.60} is not a list of episodes; repair or remove it"
            )
    return {name: tuple(f"demo_{m}" for m in members) for name, members in masks.items()}


def _beside(info: Info, name: str) -> dict[str, Any]:
    path = info.root / "meta" / name
    return json_files.load(path, dict) if isfile(path) else {}


def _actions(info: Info) -> list[Feature]:
    """The feature `action`, or where it is split action.arm, action.gripper, …"""
    whole = [f for n, f in info.features.items() if n == "action"]
    found = whole or [f for n, f in info.features.items() if n.startswith("action.")]
    if not found or not all(f.numeric for f in found):
        raise FormatError(
            f"{info.path}: no feature called action holds numbers; it has "
            f"{', '.join(info.features) or 'none'}"
        )
    return found


def _recordings(
    info: Info, places: Sequence[Place], known: Extras | None, keys: Sequence[Key]
) -> Iterator[RawEpisode]:
    others = [*_SCALARS, "episode_index", *(["selected"] if known else [])]
    columns = [k.feature for k in keys if k.feature.dtype != "video"] + _actions(info)
    columns += [info.features[n] for n in others if n in info.features]
    widths = {f.name: f.width if f.numeric else None for f in columns}
    for run in lerobot_places.together(places):
        ranges = [(p.start, p.start + p.length) for p in run]
        tables = parquet.spans(run[0].file, widths, run[0].rows, ranges)
        for place, table in zip(run, tables, strict=True):
            recording = _recording(info, place, table, keys)
            yield known.restored(recording, place.index) if known else recording


def _recording(info: Info, place: Place, table: pa.Table, keys: Sequence[Key]) -> RawEpisode:
    def column(feature: Feature) -> Array:
        return parquet.numbers(table[feature.name], feature.width, feature.name, place.file)

    def scalar(name: str) -> Array | None:
        return column(info.features[name])[:, 0] if name in table.column_names else None

    numbers = scalar("episode_index")
    if numbers is not None and (numbers != place.index).any():
        raise FormatError(
            f"{place.file}: rows {place.start} … {place.start + place.length} are not of episode "
            f"{place.index} alone, as the dataset's metadata say; download the dataset again"
        )
    success, selected = scalar("next.success"), scalar("selected")
    camera = keys[0].feature if keys[0].feature.camera else None
    parts = [column(k.feature)[:, k.start : k.start + k.width] for k in keys if not camera]
    return RawEpisode(
        obs=_pixels(info, place, table, camera) if camera else np.concatenate(parts, axis=1),
        action=np.concatenate([column(f) for f in _actions(info)], axis=1),
        reward=scalar("next.reward"),
        success=None if success is None else bool(success.any()),
        name=f"demo_{place.index}",
        selected=None if selected is None else selected.astype(bool),
    )


def _pixels(info: Info, place: Place, table: pa.Table, camera: Feature) -> Array:
    """(T, H, W, C)"""
    where = f"{place.file}: {camera.name}"
    if camera.dtype == "video":
        if camera.name not in place.videos:
            raise FormatError(f"{info.path} does not say where the films of {camera.name} are")
        file, begin = place.videos[camera.name]
        return frames.film(file, begin, place.length, info.fps, camera.shape, where)
    column = table[camera.name].combine_chunks()
    kind = column.type
    if not pa.types.is_struct(kind) or pa.binary() not in [
        f.type for f in kind if f.name == "bytes"
    ]:
        raise FormatError(f"{where} holds values of type {kind}; expected images as bytes")
    return frames.decoded(column.field("bytes").to_pylist(), camera.shape, where)
