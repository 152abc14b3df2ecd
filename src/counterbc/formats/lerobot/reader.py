"""Read LeRobot datasets episode by episode, in the layout that the package describes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from os.path import isfile, lexists  # False, not an error, for a folder without permission
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from counterbc.data.arrays import Array
from counterbc.data.raw_episode import read_episode, unreadable
from counterbc.errors import FormatError
from counterbc.formats import frames, json_files, parquet
from counterbc.formats.asked import asked_rows, is_asked
from counterbc.formats.extras import Extras, lost_digits, read_extras
from counterbc.formats.film_cache import cached_video
from counterbc.formats.lerobot.episode_index import EpisodeEntry, read_index, split_by_file
from counterbc.formats.lerobot.info import Feature, Info, read_info
from counterbc.formats.lerobot.keys import (
    INDICES,
    Key,
    action_features,
    choose_keys,
    dimension_names,
    extras_keys,
    feature_keys,
)
from counterbc.formats.lerobot.writer import EXTRAS, TASK
from counterbc.formats.stream import Header, RawEpisode, Stream

_SCALARS = ("next.reward", "next.success")


def recognizes(path: Path) -> bool:
    """Return whether a path is a folder with meta/info.json."""
    return isfile(path / "meta" / "info.json")


def stream(
    path: str | Path, obs: Sequence[str] | None = None, action: Sequence[str] | None = None
) -> Stream:
    """Open a dataset; `obs` and `action` name the features to read, in that order."""
    root = Path(path)
    info = read_info(root)
    entries = read_index(info)
    actions = action_features(info, action)
    extras, keys = None, feature_keys(info, actions)
    if lexists(root / EXTRAS):
        extras, keys = _read_extras(info)
        extras.check_fits([entry.length for entry in entries], str(root / EXTRAS))
        if action is not None and list(action) != ["action"]:
            extras = extras.without_action()
    if obs is None and extras is not None:  # what was written is read
        obs = [*(key for key, _ in extras.obs_keys), *extras.cameras] or None
    dataset = _Dataset(info, entries, extras, choose_keys(keys, obs, info), actions)
    blind_to = tuple(k.name for k in keys if k.feature.camera and k not in dataset.keys)
    return Stream(dataset.header(dataset.left_out(keys), blind_to), dataset.raw_episodes())


def _read_extras(info: Info) -> tuple[Extras, list[Key]]:
    """Return the content of counterbc.json, and the observation keys that it describes."""
    label = str(info.root / EXTRAS)
    values = json_files.load(info.root / EXTRAS, dict)
    extras = read_extras(values, label)
    features = json_files.texts(values, "obs_features", label)
    return extras, extras_keys(info, extras, features, label)


@dataclass(frozen=True)
class _Dataset:
    """A dataset and the observation keys to read from it."""

    info: Info
    entries: Sequence[EpisodeEntry]
    extras: Extras | None
    keys: Sequence[Key]
    actions: Sequence[Feature]

    def left_out(self, all_keys: Sequence[Key]) -> tuple[str, ...]:
        """Return what the dataset holds that is not read."""
        features, actions = self.info.features, self.actions
        names = {*_SCALARS, *INDICES, *(f.name for f in actions)}
        names |= {k.feature.name for k in all_keys} | ({"selected"} if self.extras else set())
        numeric = [f for f in (*actions, *(k.feature for k in self.keys)) if f.numeric]
        wide = any("64" in feature.dtype for feature in numeric)
        return (
            *(f"{k.name} ({k.feature.dtype})" for k in all_keys if k not in self.keys),
            *(f"{name} ({f.dtype})" for name, f in features.items() if name not in names),
            *(lost_digits([np.float64]) if wide else []),
        )

    def header(self, left_out: tuple[str, ...], blind_to: tuple[str, ...]) -> Header:
        info = self.info
        env_args = _load_meta(info, "robomimic_env_args.json")
        if info.robot is not None:
            env_args.setdefault("robot_type", info.robot)
        vectors = [k for k in self.keys if not k.feature.camera]
        cameras = [k.name for k in self.keys if k.feature.camera]
        fields: dict[str, Any] = {
            "action_names": tuple(n for f in self.actions for n in dimension_names(f)),
            "rate": info.fps,
            "masks": _task_masks(self.entries) | _robomimic_masks(info),
        } | (self.extras.header if self.extras else {})
        return Header(
            obs_keys=tuple((k.name, k.width) for k in vectors),
            obs_names=tuple(n for k in vectors for n in k.names),
            camera="" if vectors else cameras[0],
            blind_to=blind_to,
            env_args=env_args,
            source=str(info.root),
            left_out=left_out,
            **fields,
        )

    def raw_episodes(self) -> Iterator[RawEpisode]:
        features = self.info.features
        labels = [*_SCALARS, "episode_index", *(["selected"] if self.extras else [])]
        columns = [k.feature for k in self.keys if k.feature.dtype != "video"]
        columns += [*self.actions, *(features[n] for n in labels if n in features)]
        widths = {f.name: f.width if f.numeric else None for f in columns}
        for run in split_by_file([e for e in self.entries if is_asked(self._name(e))]):
            for raw, entry in zip(self._read_run(run, widths), run, strict=True):
                is_ours = self.extras is not None and raw.error is None
                yield self.extras.restore(raw, entry.index) if self.extras and is_ours else raw

    def _name(self, entry: EpisodeEntry) -> str:
        return self.extras.name(entry.index) if self.extras else f"demo_{entry.index}"

    def _read_run(
        self, run: Sequence[EpisodeEntry], widths: Mapping[str, int | None]
    ) -> Iterator[RawEpisode]:
        """Yield the episodes of one file; where it cannot be read any further, the rest say so."""
        count, file = 0, run[0].file
        try:
            self.info.check_inside(file)
            ranges = [(entry.start, entry.start + entry.length) for entry in run]
            tables = parquet.spans(file, widths, run[0].rows, ranges)
            for entry, table in zip(run, tables, strict=True):
                raw = read_episode(
                    f"demo_{entry.index}", file, partial(self._raw_episode, entry, table)
                )
                count += 1
                yield raw
        except FormatError as error:
            yield from (unreadable(f"demo_{entry.index}", error) for entry in run[count:])

    def _raw_episode(self, entry: EpisodeEntry, table: pa.Table) -> RawEpisode:
        info, keys, rows = self.info, self.keys, asked_rows(entry.length)
        table = table.slice(rows.start, rows.stop - rows.start)

        def column(feature: Feature) -> Array:
            return parquet.numbers(table[feature.name], feature.width, feature.name, entry.file)

        def scalar(name: str) -> Array | None:
            return column(info.features[name])[:, 0] if name in table.column_names else None

        numbers = scalar("episode_index")
        if numbers is not None and (numbers != entry.index).any():
            raise FormatError(
                f"{entry.file}: rows {entry.start} … {entry.start + entry.length} do not all "
                f"belong to episode {entry.index}, as the metadata say; copy or download the "
                "dataset again"
            )
        success, selected = scalar("next.success"), scalar("selected")
        vectors = [k for k in keys if not k.feature.camera]
        parts = [column(k.feature)[:, k.start : k.start + k.width] for k in vectors]
        cameras = [k for k in keys if k not in vectors]
        images = {k.name: _pixels(info, entry, rows, table, k.feature) for k in cameras}
        first = next(iter(images), "")
        return RawEpisode(
            obs=np.concatenate(parts, axis=1) if parts else images.pop(first),
            action=np.concatenate([column(f) for f in self.actions], axis=1),
            reward=scalar("next.reward"),
            success=None if success is None else bool(success.any()),
            name=f"demo_{entry.index}",
            selected=None if selected is None else selected.astype(bool),
            images=images,
            begin=rows.start,
        )


def _task_masks(entries: Sequence[EpisodeEntry]) -> dict[str, tuple[str, ...]]:
    """Return a mask for each task."""
    masks: dict[str, list[str]] = {}
    for entry in entries:
        for task in entry.tasks:
            masks.setdefault(TASK + task, []).append(f"demo_{entry.index}")
    return {mask: tuple(members) for mask, members in masks.items()}


def _robomimic_masks(info: Info) -> dict[str, tuple[str, ...]]:
    """Return the masks that a converter from robomimic wrote as numbers of episodes."""
    path = info.root / "meta" / "robomimic_masks.json"
    masks = json_files.entry({"masks": {}} | _load_meta(info, path.name), "masks", dict, path)
    for name, members in masks.items():
        if not isinstance(members, list) or not all(isinstance(m, int) for m in members):
            raise FormatError(
                f"{path}: {name!r:.60} is not a list of episode numbers; repair or remove it"
            )
    return {name: tuple(f"demo_{m}" for m in members) for name, members in masks.items()}


def _load_meta(info: Info, name: str) -> dict[str, Any]:
    """Return the content of a JSON file in meta/, or nothing if there is none."""
    path = info.root / "meta" / name
    return json_files.load(path, dict) if isfile(path) else {}


def _pixels(
    info: Info, entry: EpisodeEntry, rows: slice, table: pa.Table, camera: Feature
) -> Array:
    """Return the images of a camera in these rows of an episode: (T, H, W, C)."""
    label = f"{entry.file}: {camera.name}"
    if camera.dtype == "video":
        if camera.name not in entry.videos:
            raise FormatError(
                f"{info.path} does not say where the videos of {camera.name} are; "
                "choose other observations"
            )
        file, begin = entry.videos[camera.name]
        info.check_inside(file)
        return cached_video(
            file,
            begin=begin + rows.start / info.fps,
            count=rows.stop - rows.start,
            fps=info.fps,
            shape=camera.shape,
            label=label,
        )
    column = table[camera.name].combine_chunks()
    kind = column.type
    if not pa.types.is_struct(kind) or pa.binary() not in [
        f.type for f in kind if f.name == "bytes"
    ]:
        raise FormatError(
            f"{label} holds values of type {kind}; expected images as bytes; "
            "choose other observations"
        )
    return frames.decode(column.field("bytes").to_pylist(), camera.shape, label)
