"""The content of meta/info.json of a LeRobot dataset, checked before other files are opened."""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import prod
from pathlib import Path, PurePosixPath
from typing import Any

from counterbc.errors import FormatError
from counterbc.formats import json_files
from counterbc.formats.untrusted import MAX_EPISODES, check_at_most

_FIELD = re.compile(r"\{(\w+)(?::0(\d)d)?\}")
_MAX_WIDTH = 2**28  # numbers per row; ten times a 4K colour image


@dataclass(frozen=True)
class Feature:
    """A column of the data, or a camera."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    names: tuple[str, ...]
    """One for each number of a row; empty if they are not recorded."""

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
        """Whether it is read by default: numbers that are not an image."""
        return self.numeric and len(self.shape) < 3


@dataclass(frozen=True)
class Info:
    """The part of info.json that the reader needs."""

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
        """Return the path that a template stands for, which must be inside the dataset's folder.

        The template comes from an untrusted file: `str.format` would give access to attributes and
        unlimited padding, so only plain and zero-padded fields are replaced.
        """
        unknown = [m[0] for m in _FIELD.finditer(template) if m[1] not in values]
        path_text = _FIELD.sub(lambda m: str(values.get(m[1], "")).zfill(int(m[2] or 0)), template)
        parts = PurePosixPath(path_text).parts
        outside = (
            path_text.startswith("/") or ".." in parts or "\\" in path_text or "\0" in path_text
        )
        if unknown or outside or not parts or set("{}") & set(path_text):
            raise FormatError(
                f"{self.path}: the path {template!r:.120} is not inside the folder of the dataset "
                f"or has unknown fields; allowed fields: {', '.join(values)}; repair it"
            )
        return self.root / path_text

    def check_inside(self, path: Path) -> None:
        """Refuse a file that a link takes out of the dataset's folder.

        The cache of Hugging Face stores the files of a snapshot as links to its folder of blobs.
        """
        root, target = self.root.resolve(), path.resolve()
        blobs = root.parent.parent / "blobs"
        is_cache = root.parent.name == "snapshots" and target.is_relative_to(blobs)
        if not target.is_relative_to(root) and not is_cache:
            raise FormatError(
                f"{path} is a link to {target}, outside the folder of the dataset; "
                "copy that file into the folder"
            )


def read_info(root: Path) -> Info:
    """Read and check info.json of version 2 or 3."""
    path = root / "meta" / "info.json"
    info = json_files.load(path, dict)
    features = json_files.entry(info, "features", dict, path)
    episodes = json_files.count(info, "total_episodes", path, 1)
    check_at_most(str(path), episodes, MAX_EPISODES, "episodes")
    video_path, robot = info.get("video_path"), info.get("robot_type")
    return Info(
        root=root,
        major=_major(info, path),
        fps=json_files.rate(info, "fps", path),
        features={name: _feature(name, values, path) for name, values in features.items()},
        episodes=episodes,
        frames=json_files.count(info, "total_frames", path, 1),
        chunk=json_files.count({"chunks_size": 1000} | info, "chunks_size", path, 1),
        data_path=json_files.entry(info, "data_path", str, path),
        video_path=video_path if isinstance(video_path, str) else None,
        robot=robot if isinstance(robot, str) else None,
    )


def _major(info: dict[str, Any], path: Path) -> int:
    version = json_files.entry(info, "codebase_version", str, path)
    match = re.fullmatch(r"v([23])\.\d+", version)
    if not match:
        raise FormatError(
            f"{path}: the dataset has version {version!r:.40}; versions v2.0, v2.1 and v3.0 can be "
            "read; convert it with LeRobot's own scripts"
        )
    storage = info.get("storage_format", "parquet")
    if storage != "parquet":
        raise FormatError(
            f"{path}: the dataset is stored as {storage!r:.40}; only Parquet can be read; "
            "export it to Parquet with LeRobot"
        )
    return int(match[1])


def _feature(name: str, values: Any, path: Path) -> Feature:
    label = f"{path}: feature {name!r:.80}"
    if not isinstance(values, dict):
        raise FormatError(f"{label} is {values!r:.40}; expected an object; repair it")
    shape = json_files.entry(values, "shape", list, label)
    sizes = [s for s in shape if isinstance(s, int) and not isinstance(s, bool) and s > 0]
    if len(sizes) != len(shape) or prod(sizes) > _MAX_WIDTH:
        raise FormatError(f"{label} has shape {shape!r:.60}; expected positive sizes; repair it")
    dtype = json_files.entry(values, "dtype", str, label)
    names = _names(values.get("names"))
    return Feature(name, dtype, tuple(sizes), names if len(names) == prod(sizes) else ())


def _names(names: Any) -> tuple[str, ...]:
    """Return names recorded as a list, a nested list, {"motors": […]} or {"x": 0, "y": 1}."""
    if isinstance(names, str):
        return (names,)
    if isinstance(names, dict):
        if all(isinstance(i, int) for i in names.values()):
            return tuple(sorted(names, key=lambda n: names[n]))
        names = list(names.values())
    return tuple(n for part in names for n in _names(part)) if isinstance(names, list) else ()
