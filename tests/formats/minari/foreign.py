"""A dataset of two episodes as Minari itself writes it, in each of its three stores."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image

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
    rows = np.concatenate([value, np.zeros((1, *value.shape[1:]), value.dtype)])[: steps + 1]
    if rows.ndim == 1:
        return pa.array(rows)
    flat = rows.reshape(steps + 1, -1)
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


def foreign(
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


def set_values(key: str, value: Any) -> Callable[[dict[str, Any]], None]:
    return lambda values: values.update({key: value})
