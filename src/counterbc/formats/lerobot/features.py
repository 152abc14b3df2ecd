"""Features and columns of a LeRobot v3.0 dataset that we write.

Keys called observation.… stay features of their own; `object` and `environment_state` become
observation.environment_state; all others are joined to observation.state, which is what LeRobot's
policies read.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pyarrow as pa

from counterbc.data.episode import Array
from counterbc.errors import FormatError
from counterbc.formats import frames
from counterbc.formats.lerobot import stats as lerobot_stats
from counterbc.formats.lerobot.keys import ENVIRONMENT, STATE
from counterbc.formats.lerobot.stats import Stats
from counterbc.formats.stream import Header, RawEpisode

Feature = dict[str, Any]
"""As in info.json: dtype, shape, names."""

_IMAGE = "observation.images.image"
_OWN_FEATURE = re.compile(r"observation\.[\w.\- ]+")
_SURROUNDINGS = ("object", "environment_state")


def of(header: Header, first: RawEpisode, rewarded: bool, judged: bool) -> dict[str, Feature]:
    """The features in order; what a stream has beyond its first episode cannot be known here."""
    features: dict[str, Feature] = {}
    if first.obs.ndim == 4:
        if first.obs.shape[3] not in (1, 3):
            raise FormatError(
                f"images of shape {first.obs.shape[1:]} have no place in LeRobot; "
                "it takes (H, W, 3) and (H, W, 1); write robomimic HDF5 instead"
            )
        names = ["height", "width", "channels"]
        shape = list(first.obs.shape[1:])
        features[_IMAGE] = {"dtype": "image", "shape": shape, "names": names}
    end = 0
    for (_, width), name in zip(header.obs_keys, obs_features(header), strict=True):
        about = features.setdefault(name, _feature("float32", 0, []))
        about["shape"][0] += width
        about["names"] += header.obs_names[end : end + width]
        end += width
    features["action"] = _feature("float32", first.action.shape[1], list(header.action_names))
    if rewarded or first.reward is not None:
        features["next.reward"] = _feature("float32")
    if judged or first.success is not None:
        features["next.success"] = _feature("bool")
    if first.selected is not None:
        features["selected"] = _feature("bool")
    features["timestamp"] = _feature("float32")
    whole = ("frame_index", "episode_index", "index", "task_index")
    return features | {name: _feature("int64") for name in whole}


def _feature(dtype: str, width: int = 1, names: list[str] | None = None) -> Feature:
    return {"dtype": dtype, "shape": [width], "names": names}


def obs_features(header: Header) -> list[str]:
    """The feature that holds each observation key."""
    own = {key for key, _ in header.obs_keys if _OWN_FEATURE.fullmatch(key)}
    rest = STATE if STATE not in own else f"{STATE}_of_others"
    around = ENVIRONMENT if ENVIRONMENT not in own else rest
    return [
        key if key in own else around if key in _SURROUNDINGS else rest
        for key, _ in header.obs_keys
    ]


def obs_columns(obs: Array, header: Header) -> dict[str, Array]:
    """The observations of an episode, feature by feature: (T, width), or (T, H, W, C)."""
    if obs.ndim == 4:
        return {_IMAGE: obs}
    parts: dict[str, list[Array]] = {}
    end = 0
    for (_, width), name in zip(header.obs_keys, obs_features(header), strict=True):
        parts.setdefault(name, []).append(obs[:, end : end + width])
        end += width
    return {name: np.concatenate(columns, axis=1) for name, columns in parts.items()}


def schema(features: dict[str, Feature]) -> pa.Schema:
    """The columns of a data file; LeRobot keeps features of one number as numbers."""
    return pa.schema([(name, _type(about)) for name, about in features.items()])


def _type(about: Feature) -> pa.DataType:
    if about["dtype"] == "image":
        return pa.struct([("bytes", pa.binary()), ("path", pa.string())])
    kind = {"float32": pa.float32(), "int64": pa.int64(), "bool": pa.bool_()}[about["dtype"]]
    width = about["shape"][0]
    return kind if width == 1 else pa.list_(kind, width)


def array(values: Array, about: Feature) -> pa.Array:
    """A column for Parquet: of (T, width) numbers, or of (T, H, W, C) images as PNG."""
    kind = _type(about)
    if about["dtype"] == "image":
        return pa.array([{"bytes": frames.png(f), "path": None} for f in values], kind)
    flat = np.ascontiguousarray(values).reshape(-1)
    if about["shape"] == [1]:
        return pa.array(flat, kind)
    return pa.FixedSizeListArray.from_arrays(pa.array(flat, kind.value_type), type=kind)


def stats(values: dict[str, Array], features: dict[str, Feature]) -> dict[str, Stats]:
    """The statistics of one episode's columns; all numbers in one go, which is far quicker."""
    images = [name for name, about in features.items() if about["dtype"] == "image"]
    found = {name: lerobot_stats.of_pixels(values[name]) for name in images}
    numeric = [name for name in features if name not in found]
    joined = np.concatenate([values[n] for n in numeric], axis=1, dtype=np.float64)
    whole, end = lerobot_stats.of_numbers(joined), 0
    for name in numeric:
        start, end = end, end + values[name].shape[1]
        found[name] = {k: v if k == "count" else v[start:end] for k, v in whole.items()}
    return found


def episodes_schema(features: dict[str, Feature]) -> pa.Schema:
    """The columns of the episodes table: where an episode lies, and its statistics."""
    whole = (
        "length", "data/chunk_index", "data/file_index", "dataset_from_index", "dataset_to_index",
        "meta/episodes/chunk_index", "meta/episodes/file_index",
    )  # fmt: skip
    fields = [("episode_index", pa.int64()), ("tasks", pa.list_(pa.string()))]
    fields += [(name, pa.int64()) for name in whole]
    for name, about in features.items():
        kind = pa.list_(pa.float64())
        if about["dtype"] == "image":
            kind = pa.list_(pa.list_(kind))
        fields += [(f"stats/{name}/{k}", kind) for k in lerobot_stats.NAMES if k != "count"]
        fields.append((f"stats/{name}/count", pa.list_(pa.int64())))
    return pa.schema(fields)
