"""What meta/info.json says about a LeRobot dataset, checked before anything else is opened."""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import prod
from pathlib import Path, PurePosixPath
from typing import Any

from counterbc.errors import FormatError
from counterbc.formats import json_files

_FIELD = re.compile(r"\{(\w+)(?::0(\d)d)?\}")
_MOST = 2**28  # numbers in a row; ten times a 4K colour image


@dataclass(frozen=True)
class Feature:
    """One column, or one camera."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    names: tuple[str, ...]
    """One for each number of a row; empty where they are not told."""

    @property
    def width(self) -> int:
        return prod(self.shape)

    @property
    def camera(self) -> bool:
        return self.dtype in ("image", "video")

    @property
    def numeric(self) -> bool:
        return not self.camera and self.dtype != "string"

    @property
    def vector(self) -> bool:
        """Numbers to learn from without being asked for: no pictures kept as numbers."""
        return self.numeric and len(self.shape) < 3


@dataclass(frozen=True)
class Info:
    """The part of info.json that reading needs."""

    root: Path
    major: int
    fps: float
    features: dict[str, Feature]
    episodes: int
    frames: int
    chunk: int
    data_path: str
    video_path: str | None
    robot: str | None

    @property
    def path(self) -> Path:
        return self.root / "meta" / "info.json"

    def file(self, template: str, **values: int | str) -> Path:
        """Where a template leads, which must be inside the dataset's folder.

        It comes from a file of others: `str.format` would let it reach attributes and pad without
        end, so only plain and zero-padded fields are filled in.
        """
        unknown = [m[0] for m in _FIELD.finditer(template) if m[1] not in values]
        filled = _FIELD.sub(lambda m: str(values.get(m[1], "")).zfill(int(m[2] or 0)), template)
        parts = PurePosixPath(filled).parts
        outside = filled.startswith("/") or ".." in parts or "\\" in filled or "\0" in filled
        if unknown or outside or not parts or set("{}") & set(filled):
            raise FormatError(
                f"{self.path}: the path {template!r:.120} does not lead to a file in the dataset's "
                f"folder; allowed fields: {', '.join(values)}"
            )
        return self.root / filled


def read(root: Path) -> Info:
    """Read and check info.json of versions 2 and 3."""
    path = root / "meta" / "info.json"
    info = json_files.load(path, dict)
    features = json_files.entry(info, "features", dict, path)
    video_path, robot = info.get("video_path"), info.get("robot_type")
    return Info(
        root=root,
        major=_major(info, path),
        fps=json_files.rate(info, "fps", path),
        features={name: _feature(name, about, path) for name, about in features.items()},
        episodes=json_files.count(info, "total_episodes", path, 1),
        frames=json_files.count(info, "total_frames", path, 1),
        chunk=json_files.count({"chunks_size": 1000} | info, "chunks_size", path, 1),
        data_path=json_files.entry(info, "data_path", str, path),
        video_path=video_path if isinstance(video_path, str) else None,
        robot=robot if isinstance(robot, str) else None,
    )


def _major(info: dict[str, Any], path: Path) -> int:
    version = json_files.entry(info, "codebase_version", str, path)
    found = re.fullmatch(r"v([23])\.\d+", version)
    if not found:
        raise FormatError(
            f"{path}: the dataset has version {version!r:.40}; versions v2.0, v2.1 and v3.0 are "
            "read; convert it with LeRobot's own scripts"
        )
    storage = info.get("storage_format", "parquet")
    if storage != "parquet":
        raise FormatError(
            f"{path}: the dataset is stored as {storage!r:.40}; only Parquet is read; "
            "export it to Parquet with LeRobot"
        )
    return int(found[1])


def _feature(name: str, about: Any, path: Path) -> Feature:
    where = f"{path}: feature {name!r:.80}"
    if not isinstance(about, dict):
        raise FormatError(f"{where} is {about!r:.40}; expected an object; repair it")
    shape = json_files.entry(about, "shape", list, where)
    sizes = [s for s in shape if isinstance(s, int) and not isinstance(s, bool) and s > 0]
    if len(sizes) != len(shape) or prod(sizes) > _MOST:
        raise FormatError(f"{where} has shape {shape!r:.60}; expected sizes from 1; repair it")
    dtype = json_files.entry(about, "dtype", str, where)
    names = _names(about.get("names"))
    return Feature(name, dtype, tuple(sizes), names if len(names) == prod(sizes) else ())


def _names(names: Any) -> tuple[str, ...]:
    """Names are written as a list, a list in a list, {"motors": […]} or {"x": 0, "y": 1}."""
    if isinstance(names, str):
        return (names,)
    if isinstance(names, dict):
        if all(isinstance(i, int) for i in names.values()):
            return tuple(sorted(names, key=lambda n: names[n]))
        names = list(names.values())
    return tuple(n for part in names for n in _names(part)) if isinstance(names, list) else ()
