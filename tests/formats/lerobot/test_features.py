from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from counterbc.data.demonstrations import Demonstrations, Episode
from counterbc.errors import FormatError
from counterbc.formats import (
    lerobot,
)
from counterbc.formats.lerobot import stats
from counterbc.formats.lerobot.features import (
    Feature,
    camera_features,
    episode_stats,
    obs_columns,
    obs_features,
    stats_of_columns,
)
from counterbc.formats.lerobot.keys import ENVIRONMENT, STATE
from counterbc.formats.stream import Header, RawEpisode
from tests.formats.lerobot.samples import demos, info


def test_the_columns_are_those_of_info_in_order_and_type(tmp_path: Path) -> None:
    lerobot.write(demos(), tmp_path / "demos")
    file = pq.ParquetFile(tmp_path / "demos/data/chunk-000/file-000.parquet")
    assert file.schema_arrow.names == list(info(tmp_path / "demos")["features"])
    types = dict(zip(file.schema_arrow.names, file.schema_arrow.types, strict=True))
    assert types["observation.state"] == pa.list_(pa.float32(), 3)
    assert types["observation.environment_state"] == pa.float32()
    assert types["next.success"] == pa.bool_()
    assert types["index"] == pa.int64()
    assert file.num_row_groups == 3
    assert file.metadata.row_group(0).column(0).compression == "SNAPPY"
    table = file.read().to_pydict()
    assert table["index"] == list(range(9))
    assert table["frame_index"] == [0, 1, 2, 3, 0, 1, 0, 1, 2]
    assert table["episode_index"] == [0, 0, 0, 0, 1, 1, 2, 2, 2]
    assert table["task_index"] == [0, 0, 0, 0, 1, 1, 0, 0, 0]
    assert np.allclose(table["timestamp"][:4], [0, 0.05, 0.1, 0.15])
    assert table["next.success"] == [False] * 3 + [True] + [False] * 4 + [True]


def test_images_with_too_many_channels_are_refused(tmp_path: Path) -> None:
    many_channels = Demonstrations((Episode(np.zeros((2, 8, 8, 12), np.uint8), np.zeros((2, 1))),))
    with pytest.raises(FormatError, match=r"cannot store images of shape \(8, 8, 12\)"):
        lerobot.write(many_channels, tmp_path / "demos")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("keys", "features"),
    [
        (["position", "object", "speed"], [STATE, ENVIRONMENT, STATE]),
        (["observation.touch", "environment_state"], ["observation.touch", ENVIRONMENT]),
        (["a", STATE, ENVIRONMENT, "object"],
         [f"{STATE}_of_others", STATE, ENVIRONMENT, f"{STATE}_of_others"]),
    ],
)  # fmt: skip
def test_keys_are_joined_into_the_features_that_policies_read(
    keys: list[str], features: list[str]
) -> None:
    assert obs_features(Header(obs_keys=tuple((key, 1) for key in keys))) == features


def test_declared_keys_of_the_environment_become_its_state() -> None:
    header = Header(obs_keys=(("arm", 1), ("cup", 1)), environment_keys=("cup",))
    assert obs_features(header) == [STATE, ENVIRONMENT]


def test_observations_are_split_by_feature() -> None:
    header = Header(obs_keys=(("position", 2), ("object", 1), ("speed", 1)))
    columns = obs_columns(RawEpisode(np.array([[1, 2, 3, 4]]), np.zeros((1, 1))), header)
    assert {name: values.tolist() for name, values in columns.items()} == {
        STATE: [[1, 2, 4]],
        ENVIRONMENT: [[3]],
    }


def test_a_camera_becomes_a_feature_of_images_whatever_its_name() -> None:
    image = np.zeros((1, 4, 4, 3), np.uint8)
    names = ("top", "observation.images.wrist", "over/there")
    raw = RawEpisode(np.zeros((1, 1)), np.zeros((1, 1)), images=dict.fromkeys(names, image))
    assert camera_features(Header(obs_keys=(("state", 1),)), raw) == [
        "observation.images.top", "observation.images.wrist", "observation.images.camera_2",
    ]  # fmt: skip


def test_statistics_of_each_column_are_those_of_its_numbers_and_images_alone() -> None:
    rng = np.random.default_rng(0)
    values = {
        "action": rng.normal(size=(9, 2)),
        "cam": rng.integers(0, 255, (9, 4, 4, 3), np.uint8),
        "next.reward": rng.normal(size=(9, 1)),
    }
    features: dict[str, Feature] = {
        "action": {"dtype": "float32", "shape": [2]},
        "cam": {"dtype": "image", "shape": [4, 4, 3]},
        "next.reward": {"dtype": "float32", "shape": [1]},
    }
    columns = stats_of_columns(episode_stats(values, features), features)
    assert sorted(columns) == sorted(features)
    for name in ("action", "next.reward"):
        for key, expected in stats.number_stats(values[name]).items():
            np.testing.assert_allclose(columns[name][key], expected, rtol=1e-12)
    np.testing.assert_array_equal(columns["cam"]["mean"], stats.pixel_stats(values["cam"])["mean"])
