from __future__ import annotations

import io
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

from counterbc.data.demonstrations import Demonstrations, Episode
from counterbc.errors import DataError, FormatError
from counterbc.formats import load, minari

STEPS = (2, 3)
STORES = ("hdf5", "arrow", "parquet")


def box(*shape: int, low: Any = None, high: Any = None, dtype: str = "float64") -> dict[str, Any]:
    """Bounds without end unless given, as Minari writes them."""
    sides = {
        "low": np.full(shape, -np.inf).tolist() if low is None else low,
        "high": np.full(shape, np.inf).tolist() if high is None else high,
    }
    return {"type": "Box", "dtype": dtype, "shape": list(shape), **sides}


ACTIONS = box(2, low=[-1.0, -2.0], high=[1.0, 2.0], dtype="float32")
CAMERA = box(32, 40, 3, low=0, high=255, dtype="uint8")
PARTS = {
    "b": {"type": "Dict", "subspaces": {
        "deep": box(2),
        "pair": {"type": "Tuple", "subspaces": [
            {"type": "Discrete", "n": 9, "start": 0, "dtype": "int64"},
            {"type": "MultiBinary", "n": 2},
        ]},
    }},
    "a": box(1, 2),
    "camera": CAMERA,
    "word": {"type": "Text", "max_length": 3, "min_length": 1, "charset": "abc"},
}  # fmt: skip


def jpeg(shade: int) -> bytes:
    buffer = io.BytesIO()
    Image.fromarray(np.full((32, 40, 3), shade, np.uint8)).save(buffer, "JPEG")
    return buffer.getvalue() + b"\0" * shade  # rows of different lengths


def episode(first: int, steps: int) -> dict[str, Any]:
    """Numbers that tell where they belong: the row, counted over both episodes."""
    rows = np.arange(first, first + steps + 1)
    return {
        "observations/b/deep": np.stack([rows, rows + 0.5], axis=1),
        "observations/b/pair/_index_0": rows,
        "observations/b/pair/_index_1": np.stack([rows % 2, rows * 0], axis=1),
        "observations/a": np.stack([rows + 0.25, rows + 0.75], axis=1)[:, None],
        "observations/camera": [jpeg(int(r)) for r in rows],
        "observations/word": ["abc"] * len(rows),
        "actions": np.stack([rows, -rows], axis=1)[:-1].astype(np.float32),
        "rewards": rows[:-1] * 0.1,
        "terminations": np.zeros(steps, bool),
        "truncations": np.zeros(steps, bool),
        "infos/success": np.append(np.zeros(steps, bool), first > 0),
    }


def write_hdf5(folder: Path, episodes: list[dict[str, Any]]) -> None:
    with h5py.File(folder / "main_data.hdf5", "w") as file:
        for i, values in enumerate(episodes):
            group = file.create_group(f"episode_{i}")
            for key, value in values.items():
                if key.endswith("camera"):
                    kind = h5py.vlen_dtype(np.uint8)
                    rows = group.create_dataset(key, (len(value),), kind)
                    for j, content in enumerate(value):
                        rows[j] = np.frombuffer(content, np.uint8)
                else:
                    group[key] = value


def nested(values: dict[str, Any], steps: int) -> pa.Array:
    """Columns as Minari nests them, padded to one row more than steps."""
    parts: dict[str, dict[str, Any]] = {}
    for key, value in values.items():
        head, _, rest = key.partition("/")
        parts.setdefault(head.removeprefix("_index_"), {})[rest] = value
    arrays = [
        nested(part, steps) if "" not in part else _column(part[""], steps)
        for part in parts.values()
    ]
    return pa.StructArray.from_arrays(arrays, list(parts))


def _column(value: Any, steps: int) -> pa.Array:
    if isinstance(value, list):
        return pa.array(value)
    padded = np.concatenate([value, np.zeros((1, *value.shape[1:]), value.dtype)])[: steps + 1]
    if padded.ndim == 1:
        return pa.array(padded)
    flat = padded.reshape(steps + 1, -1)
    return pa.FixedSizeListArray.from_arrays(pa.array(flat.ravel()), flat.shape[1])


def write_arrow(folder: Path, episodes: list[dict[str, Any]], store: str) -> None:
    for i, values in enumerate(episodes):
        steps = len(values["rewards"])
        batch = pa.RecordBatch.from_struct_array(nested(values, steps))
        (folder / str(i)).mkdir()
        (folder / str(i) / "metadata.json").write_text(json.dumps({"id": i, "total_steps": steps}))
        path = folder / str(i) / f"part-0.{store}"
        if store == "parquet":
            pq.write_table(pa.Table.from_batches([batch]), path)
        else:
            with pa.ipc.new_file(path, batch.schema) as writer:
                writer.write(batch)


def made(
    root: Path,
    store: str = "hdf5",
    change: Callable[[dict[str, Any]], Any] = lambda values: None,
    **metadata: Any,
) -> Path:
    """A dataset of two episodes as Minari makes it; `change` edits the second one."""
    folder = root / "data"
    folder.mkdir(parents=True)
    episodes = [episode(first, steps) for first, steps in zip((0, 2), STEPS, strict=True)]
    change(episodes[1])
    about = {
        "dataset_id": "made-v0",
        "total_episodes": 2,
        "total_steps": sum(STEPS),
        "data_format": store,
        "observation_space": json.dumps({"type": "Dict", "subspaces": PARTS}),
        "action_space": json.dumps(ACTIONS),
        "env_spec": json.dumps({"id": "Door-v1", "kwargs": {"x": 1}}),
        "minari_version": "0.5.4",
    }
    (folder / "metadata.json").write_text(json.dumps(about | metadata))
    if store == "hdf5":
        write_hdf5(folder, episodes)
    else:
        write_arrow(folder, episodes, store)
    return root


# Reading


@pytest.mark.parametrize("store", STORES)
def test_the_parts_of_a_dict_are_joined_and_the_last_observation_is_dropped(
    tmp_path: Path, store: str
) -> None:
    demos = load(made(tmp_path, store))
    assert [len(e) for e in demos.episodes] == list(STEPS)
    assert demos.obs_keys == (("b.deep", 2), ("b.pair.0", 1), ("b.pair.1", 2), ("a", 2))
    assert demos.obs.tolist() == [
        [r, r + 0.5, r, r % 2, 0, r + 0.25, r + 0.75] for r in range(5)
    ]  # fmt: skip
    assert demos.action.tolist() == [[r, -r] for r in range(5)]
    assert [e.success for e in demos.episodes] == [False, True]
    rewards = [e.reward for e in demos.episodes if e.reward is not None]
    assert np.allclose(np.concatenate(rewards), np.arange(5) * 0.1)


@pytest.mark.parametrize("store", STORES)
def test_jpeg_images_are_read_when_they_are_chosen(tmp_path: Path, store: str) -> None:
    root = made(tmp_path, store)
    demos = load(root, obs=["camera"])
    assert demos.obs_shape == (32, 40, 3)
    assert demos.obs[:, 0, 0, 0].tolist() == [0, 1, 2, 3, 4]
    assert minari.stream(root).header.left_out == (
        "camera (Box)", "word (Text)", "terminations", "truncations",
        "the last observation of each episode", "metadata dataset_id", "digits beyond 32 bits",
    )  # fmt: skip


def test_bounds_environment_and_source_come_from_the_metadata(tmp_path: Path) -> None:
    demos = load(made(tmp_path))
    assert demos.action_low is not None
    assert demos.action_high is not None
    assert (demos.action_low.tolist(), demos.action_high.tolist()) == ([-1, -2], [1, 2])
    assert demos.env == "Door-v1"
    assert demos.env_args["env_kwargs"] == {"x": 1}
    assert json.loads(demos.env_args["env_spec"])["id"] == "Door-v1"
    assert demos.source == str(tmp_path)
    assert demos.rate is None


def test_open_bounds_are_unknown_bounds(tmp_path: Path) -> None:
    half = box(2, low=[-1.0, -np.inf], high=[1.0, 1.0])
    assert load(made(tmp_path, action_space=json.dumps(half))).action_low is None


@pytest.mark.parametrize("name", ["", "data", "data/main_data.hdf5"])
def test_a_path_may_be_the_folder_its_data_or_their_file(tmp_path: Path, name: str) -> None:
    made(tmp_path)
    assert minari.recognizes(tmp_path / name)
    assert load(tmp_path / name).pairs == 5


@pytest.mark.parametrize("store", STORES)
def test_recognized_is_what_minari_made(tmp_path: Path, store: str) -> None:
    (tmp_path / "metadata.json").write_text("[]")
    assert not minari.recognizes(tmp_path)
    assert not minari.recognizes(tmp_path / "metadata.json")
    assert minari.recognizes(made(tmp_path / "demos", store))


def test_parts_are_chosen_by_name_and_not_joined_with_images(tmp_path: Path) -> None:
    root = made(tmp_path)
    assert load(root, obs=["a", "b.pair.0"]).obs[3].tolist() == [3.25, 3.75, 3]
    with pytest.raises(FormatError, match=r"no observation 'c'; allowed: b.deep, b.pair.0"):
        load(root, obs=["c"])
    for wish in (["camera", "a"], ["word"], []):
        with pytest.raises(FormatError, match="choose one image or only vectors from b"):
            load(root, obs=wish)


def test_jpeg_images_of_one_length_are_read_from_the_table_that_they_make(tmp_path: Path) -> None:
    rows = np.stack([np.frombuffer(jpeg(7), np.uint8)] * 3)
    root = made(tmp_path, observation_space=json.dumps(CAMERA), total_episodes=1, total_steps=2)
    values = {"observations": rows, "actions": np.zeros((2, 2)), "rewards": np.zeros(2)}
    write_hdf5(root / "data", [values])
    assert np.array_equal(load(root).obs, np.full((2, 32, 40, 3), 7))


def test_images_that_were_not_compressed_are_read_as_they_are(tmp_path: Path) -> None:
    frames = np.random.default_rng(0).integers(0, 256, (4, 32, 40, 3), dtype=np.uint8)
    space = json.dumps(CAMERA)
    root = made(tmp_path, observation_space=space, total_episodes=1, total_steps=3)
    values = {"observations": frames, "actions": np.zeros((3, 2)), "rewards": np.zeros(3)}
    write_hdf5(root / "data", [values])
    assert np.array_equal(load(root).obs, frames[:3])


# Bad datasets


def test_discrete_actions_are_refused(tmp_path: Path) -> None:
    space = json.dumps({"type": "Discrete", "n": 4, "start": 0})
    with pytest.raises(
        FormatError, match=r"the action space is Discrete; only continuous actions \(Box\)"
    ):
        load(made(tmp_path, action_space=space))


@pytest.mark.parametrize(
    ("metadata", "sentence"),
    [
        ({"data_format": "lance"}, "data_format is 'lance'; allowed: hdf5, arrow, parquet"),
        ({"total_episodes": 3}, "declares 3 episodes, but .* has 2"),
        ({"total_episodes": 10**12}, "declares 1000000000000 episodes, but .* has 2"),
        ({"total_episodes": 0}, "total_episodes is 0; expected a whole number of at least 1"),
        ({"total_steps": 6}, "declares 6 steps, but the episodes have 5"),
        ({"observation_space": None}, "observation_space is None; expected a text"),
        ({"observation_space": "{"}, "observation_space is not JSON"),
        ({"observation_space": "[]"}, "observation_space holds a JSON list; expected an object"),
        ({"observation_space": "{}"}, "observation_space: has no type"),
        ({"observation_space": '{"type": "Dict", "subspaces": {}}'}, "observation_space is empty"),
        ({"observation_space": '{"type": "Graph"}'}, "cannot join nothing; choose one image"),
        ({"action_space": json.dumps(box(3))}, "actions of 'episode_0' has 2 numbers per row"),
        ({"action_space": '{"type": "Box", "shape": [1000000000000]}'}, "expected positive sizes"),
        ({"action_space": '{"type": "Box", "shape": [2], "low": [1, 2, 3]}'}, "expected 2 numbers"),
        ({"action_space": '{"type": "Box", "shape": [2], "low": "x"}'}, "has the bound 'x'"),
        ({"env_spec": "{"}, "env_spec is not JSON"),
        ({"counterbc": 1}, "counterbc is 1; expected an object"),
        ({"counterbc": {}}, "counterbc: has no obs_keys"),
    ],
)
def test_metadata_that_are_wrong_are_refused(
    tmp_path: Path, metadata: dict[str, Any], sentence: str
) -> None:
    root = made(tmp_path, **metadata)
    with pytest.raises(FormatError, match=sentence):
        load(root)


def test_spaces_within_spaces_without_end_are_refused(tmp_path: Path) -> None:
    space: dict[str, Any] = box(1)
    for _ in range(100):
        space = {"type": "Tuple", "subspaces": [space]}
    with pytest.raises(FormatError, match="expected a space"):
        load(made(tmp_path, observation_space=json.dumps(space)))


def replaced(key: str, value: Any) -> Callable[[dict[str, Any]], None]:
    return lambda values: values.update({key: value})


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (replaced("actions", np.zeros((4, 2))), "actions of 'episode_1' has 4 rows; expected 3"),
        (replaced("observations/a", np.zeros((3, 1, 2))), "has 3 rows; expected 4"),
        (
            replaced("observations/a", np.zeros((4, 3))),
            "has 3 numbers per row, but its space has 2",
        ),
        (replaced("actions", np.array([[b"x", b"y"]] * 3)), "only numbers can be read"),
        (replaced("actions", np.full((3, 2), np.nan)), "action of episode 'demo_1' has 6 values"),
        (replaced("rewards", np.zeros(0)), "has 4 rows; expected 1"),
        (replaced("rewards", np.float64(1)), "has 4 rows; expected 2"),
        (lambda values: values.pop("observations/a"), "has no observations/a"),
        (lambda values: values.pop("rewards"), "'episode_1' has no rewards"),
    ],
)
def test_a_bad_episode_is_refused(
    tmp_path: Path, change: Callable[[dict[str, Any]], None], sentence: str
) -> None:
    root = made(tmp_path, change=change)
    with pytest.raises((FormatError, DataError), match=sentence) as caught:
        load(root)
    assert str(root) in str(caught.value)


def test_an_episode_of_no_steps_is_refused(tmp_path: Path) -> None:
    def empty(values: dict[str, Any]) -> None:
        values.update(episode(2, 0))

    for store in STORES:
        root = made(tmp_path / store, store, empty, total_steps=2)
        with pytest.raises(DataError, match="episode 'demo_1' is empty"):
            load(root)


@pytest.mark.parametrize("store", ["arrow", "parquet"])
def test_a_table_that_is_not_what_its_metadata_say_is_refused(tmp_path: Path, store: str) -> None:
    root = made(tmp_path / "long", store)
    (root / "data/1/metadata.json").write_text('{"total_steps": 2}')
    with pytest.raises(
        FormatError, match=r"has 4 rows(; expected|, but its metadata.json declares) 3"
    ):
        load(root)
    root = made(tmp_path / "lacking", store, lambda values: values.pop("observations/a"))
    with pytest.raises(FormatError, match=r"observations\.a is missing; the table has"):
        load(root)
    root = made(tmp_path / "absent", store)
    (root / f"data/1/part-0.{store}").unlink()
    with pytest.raises(FormatError, match=f"has no {store} file"):
        load(root)
    shutil.rmtree(root / "data/1")
    with pytest.raises(FormatError, match=r"data/1/metadata\.json is missing"):
        load(root)


@pytest.mark.parametrize("share", [0, 0.3, 0.99])
@pytest.mark.parametrize("store", STORES)
def test_a_file_that_is_cut_short_is_refused(tmp_path: Path, store: str, share: float) -> None:
    root = made(tmp_path, store)
    path = root / ("data/main_data.hdf5" if store == "hdf5" else f"data/1/part-0.{store}")
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    with pytest.raises(FormatError, match=r"cannot be read; it may be incomplete|is not an HDF5"):
        load(root)


@pytest.mark.parametrize("store", STORES)
def test_damaged_images_are_refused(tmp_path: Path, store: str) -> None:
    change = replaced("observations/camera", [b"no", b"jpeg", b"at", b"all"])
    root = made(tmp_path, store, change)
    with pytest.raises(FormatError, match="row 0 is not a PNG or JPEG image"):
        load(root, obs=["camera"])
    assert load(root).pairs == 5


def test_a_link_out_of_the_file_is_not_followed(tmp_path: Path) -> None:
    root = made(tmp_path)
    with h5py.File(tmp_path / "other.hdf5", "w") as file:
        file["x"] = np.zeros((3, 2))
    with h5py.File(root / "data/main_data.hdf5", "a") as file:
        del file["episode_1/actions"]
        file["episode_1/actions"] = h5py.ExternalLink(str(tmp_path / "other.hdf5"), "x")
    with pytest.raises(FormatError, match="links are not followed"):
        load(root)


# Writing; that it reads back unchanged is tested for all formats together


def written(root: Path, **fields: Any) -> tuple[list[str], dict[str, Any]]:
    rng = np.random.default_rng(0)
    episodes = tuple(
        Episode(rng.normal(size=(n, 3)), np.zeros((n, 2)), np.ones(n), success=success)
        for n, success in ((2, True), (3, False))
    )
    said = minari.write(Demonstrations(episodes, **fields), root)
    return said, json.loads((root / "data/metadata.json").read_text())


def test_the_layout_is_minaris(tmp_path: Path) -> None:
    low, high = np.array([-1, -2]), np.array([1, 2])
    keys = (("position", 2), ("angle", 1))
    said, about = written(tmp_path / "door-v1", action_low=low, action_high=high, obs_keys=keys)
    assert said == [
        "the observation after the last action is not recorded; the one before it is repeated"
    ]
    known = ("dataset_id", "total_episodes", "total_steps", "data_format", "minari_version")
    assert [about[k] for k in known] == ["door-v1", 2, 5, "hdf5", "0.5.0"]
    assert json.loads(about["action_space"]) == ACTIONS
    space = json.loads(about["observation_space"])
    assert list(space["subspaces"]) == ["position", "angle"]
    with h5py.File(tmp_path / "door-v1/data/main_data.hdf5") as file:
        one = file["episode_1"]
        assert dict(one.attrs) == {"id": 1, "total_steps": 3}
        assert one["observations/position"].shape == (4, 2)
        assert np.array_equal(one["observations/angle"][2], one["observations/angle"][3])
        assert one["actions"].shape == (3, 2)
        assert one["truncations"][()].tolist() == [False, False, True]
        assert one["terminations"][()].tolist() == [False, False, False]
        assert file["episode_0/terminations"][()].tolist() == [False, True]
        assert file["episode_0/infos/success"][()].tolist() == [False, False, True]


def test_an_environment_that_gymnasium_described_is_described_again(tmp_path: Path) -> None:
    demos = load(made(tmp_path / "made"))
    minari.write(demos, tmp_path / "again-v0")
    about = json.loads((tmp_path / "again-v0/data/metadata.json").read_text())
    assert json.loads(about["env_spec"])["id"] == "Door-v1"
    said, about = written(tmp_path / "lift", env_args={"env_name": "Lift"})
    assert said[1] == "the environment has no gymnasium specification; env_spec is left out"
    assert "env_spec" not in about


def test_what_is_made_up_for_minari_is_said(tmp_path: Path) -> None:
    bare = Demonstrations((Episode(np.zeros((2, 1)), np.zeros((2, 1))),))
    assert minari.write(bare, tmp_path / "bare")[1:] == [
        "1 episodes have no reward; it is written as 0 there",
        "1 episodes have no success; they are written as truncated",
    ]
