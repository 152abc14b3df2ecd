"""Features and columns of the LeRobot v3.0 datasets that we write.

Keys named observation.… become features of that name. `object`, `keypoints`, `environment_state`
and the header's `environment_keys` become observation.environment_state. All others are joined into
observation.state, which LeRobot's policies read. A camera becomes observation.images.NAME, unless
it has the name of a feature.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from counterbc.data.arrays import Array
from counterbc.data.obs_rows import pixel_rows
from counterbc.errors import FormatError
from counterbc.formats import frames
from counterbc.formats.lerobot import stats
from counterbc.formats.lerobot.keys import ENVIRONMENT, FEATURE_KEY, STATE, camera_feature
from counterbc.formats.lerobot.stats import Stats
from counterbc.formats.stream import Header, RawEpisode, camera_names

Feature = dict[str, Any]
"""A feature as in info.json: dtype, shape, names."""

_ENVIRONMENT_KEYS = ("object", "environment_state", "keypoints")


def choose_features(
    header: Header, first: RawEpisode, *, reward: bool, success: bool
) -> dict[str, Feature]:
    """Return the features in order.

    A stream shows only its first episode at this point; `reward` and `success` say whether any
    episode is known to have them.
    """
    features: dict[str, Feature] = {}
    for name, images in zip(camera_features(header, first), pixel_rows(first), strict=True):
        if images.shape[3] not in (1, 3):
            raise FormatError(
                f"LeRobot cannot store images of shape {images.shape[1:]}; allowed are "
                "(H, W, 3) and (H, W, 1); write robomimic HDF5 instead"
            )
        names = ["height", "width", "channels"]
        features[name] = {"dtype": "image", "shape": list(images.shape[1:]), "names": names}
    end = 0
    for (_, width), name in zip(header.obs_keys, obs_features(header), strict=True):
        feature = features.setdefault(name, _feature("float32", 0, []))
        feature["shape"][0] += width
        feature["names"] += header.obs_names[end : end + width]
        end += width
    features["action"] = _feature("float32", first.action.shape[1], list(header.action_names))
    if reward or first.reward is not None:
        features["next.reward"] = _feature("float32")
    if success or first.success is not None:
        features["next.success"] = _feature("bool")
    if first.selected is not None:
        features["selected"] = _feature("bool")
    features["timestamp"] = _feature("float32")
    indices = ("frame_index", "episode_index", "index", "task_index")
    return features | {name: _feature("int64") for name in indices}


def _feature(dtype: str, width: int = 1, names: list[str] | None = None) -> Feature:
    return {"dtype": dtype, "shape": [width], "names": names}


def obs_features(header: Header) -> list[str]:
    """Return the name of the feature that holds each observation key."""
    feature_keys = {key for key, _ in header.obs_keys if FEATURE_KEY.fullmatch(key)}
    state = STATE if STATE not in feature_keys else f"{STATE}_of_others"
    environment = ENVIRONMENT if ENVIRONMENT not in feature_keys else state
    environment_keys = (*_ENVIRONMENT_KEYS, *header.environment_keys)
    return [
        key if key in feature_keys else environment if key in environment_keys else state
        for key, _ in header.obs_keys
    ]


def camera_features(header: Header, raw: RawEpisode) -> list[str]:
    """Return the name of the feature that holds the images of each camera, in order."""
    return [camera_feature(name, i) for i, name in enumerate(camera_names(header, raw))]


def obs_columns(raw: RawEpisode, header: Header) -> dict[str, Array]:
    """Return the observations of an episode by feature: (T, width), or (T, H, W, C)."""
    images = dict(zip(camera_features(header, raw), pixel_rows(raw), strict=True))
    parts: dict[str, list[Array]] = {}
    end = 0
    for (_, width), name in zip(header.obs_keys, obs_features(header), strict=True):
        parts.setdefault(name, []).append(raw.obs[:, end : end + width])
        end += width
    return images | {name: np.concatenate(columns, axis=1) for name, columns in parts.items()}


def schema(features: dict[str, Feature]) -> pa.Schema:
    """Return the columns of a data file; features with one number are not lists in LeRobot."""
    return pa.schema([(name, _type(feature)) for name, feature in features.items()])


def _type(feature: Feature) -> pa.DataType:
    if feature["dtype"] == "image":
        return pa.struct([("bytes", pa.binary()), ("path", pa.string())])
    kind = {"float32": pa.float32(), "int64": pa.int64(), "bool": pa.bool_()}[feature["dtype"]]
    width = feature["shape"][0]
    return kind if width == 1 else pa.list_(kind, width)


def column(values: Array, feature: Feature) -> pa.Array:
    """Return a Parquet column of (T, width) numbers, or of (T, H, W, C) images as PNG."""
    kind = _type(feature)
    if feature["dtype"] == "image":
        return pa.array([{"bytes": frames.png(f), "path": None} for f in values], kind)
    flat = np.ascontiguousarray(values).reshape(-1)
    if feature["shape"] == [1]:
        return pa.array(flat, kind)
    return pa.FixedSizeListArray.from_arrays(pa.array(flat, kind.value_type), type=kind)


NUMBERS = ""
"""Stands for all columns of numbers side by side, which are reduced at once: that is faster."""


def episode_stats(values: dict[str, Array], features: dict[str, Feature]) -> dict[str, Stats]:
    """Return the statistics of each column of images, and of all `NUMBERS` together."""
    result = {
        name: stats.pixel_stats(values[name]) for name in features if _is_image(features[name])
    }
    numeric = [values[name] for name in features if name not in result]
    result[NUMBERS] = stats.number_stats(np.concatenate(numeric, axis=1, dtype=np.float64))
    return result


def stats_of_columns(
    statistics: dict[str, Stats], features: dict[str, Feature]
) -> dict[str, dict[str, list[Any]]]:
    """Return the statistics of each column as lists, from those of `NUMBERS` and images."""
    lists = {name: {k: v.tolist() for k, v in s.items()} for name, s in statistics.items()}
    whole, end = lists.pop(NUMBERS), 0
    for name in (n for n, feature in features.items() if not _is_image(feature)):
        start, end = end, end + features[name]["shape"][0]
        lists[name] = {k: v if k == "count" else v[start:end] for k, v in whole.items()}
    return lists


def _is_image(feature: Feature) -> bool:
    return bool(feature["dtype"] == "image")


def episodes_schema(features: dict[str, Feature]) -> pa.Schema:
    """Return the columns of the episodes table: location and statistics of an episode."""
    whole = (
        "length", "data/chunk_index", "data/file_index", "dataset_from_index", "dataset_to_index",
        "meta/episodes/chunk_index", "meta/episodes/file_index",
    )  # fmt: skip
    fields = [("episode_index", pa.int64()), ("tasks", pa.list_(pa.string()))]
    fields += [(name, pa.int64()) for name in whole]
    for name, feature in features.items():
        kind = pa.list_(pa.float64())
        if feature["dtype"] == "image":
            kind = pa.list_(pa.list_(kind))
        fields += [(f"stats/{name}/{k}", kind) for k in stats.NAMES if k != "count"]
        fields.append((f"stats/{name}/count", pa.list_(pa.int64())))
    return pa.schema(fields)
