from __future__ import annotations

import io
import os
import pickle
from pathlib import Path

import h5py
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy.io import savemat

from counterbc.errors import FormatError
from counterbc.formats import load
from counterbc.formats.description import describe

ARRAY = io.BytesIO()
np.save(ARRAY, np.zeros(3))
FILES = {
    "pickle": (pickle.dumps({"obs": [1, 2]}), "a Python pickle, which can run any code and is"),
    "old pickle": (pickle.dumps([1, 2], protocol=2), "a Python pickle"),
    "MATLAB": (b"MATLAB 5.0 MAT-file, Platform: GLNXA64" + b"\0" * 200, "a MATLAB file"),
    "array": (ARRAY.getvalue(), "a single numpy array"),
    "gzip": (b"\x1f\x8b\x08\x00", "compressed with gzip"),
    "nothing": (b"", "an empty file"),
    "numbers": (b"1.5,2\n3,4\n", "a text whose first line is '1.5,2'"),
    "JSON": (b'{"a": 1}', "JSON that begins with"),
    "picture": (b"\x89PNG\r\n\x1a\n" + b"\0" * 9, r"a file that begins with the bytes b'\x89PNG"),
}


@pytest.mark.parametrize("name", FILES)
def test_a_file_in_no_format_is_named_for_what_it_is(name: str, tmp_path: Path) -> None:
    content, words = FILES[name]
    path = tmp_path / "demos"
    path.write_bytes(content)
    assert describe(path)[0].startswith(words)
    with pytest.raises(FormatError, match="not in a supported format; it is ") as error:
        load(path)
    assert words in str(error.value)
    assert "\n" not in str(error.value)


def test_a_pickle_is_never_opened(tmp_path: Path) -> None:
    class Trap:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return (open, (str(tmp_path / "opened"),))

    path = tmp_path / "demos.pkl"
    path.write_bytes(pickle.dumps(Trap()))
    with pytest.raises(FormatError, match="ten lines"):
        load(path)
    assert [p.name for p in tmp_path.iterdir()] == ["demos.pkl"]


def test_an_hdf5_file_in_no_format_is_listed_and_its_arrays_can_be_chosen(tmp_path: Path) -> None:
    path = tmp_path / "own.hdf5"
    with h5py.File(path, "w") as file:
        file.update({"qpos": np.ones((3, 2)), "command": np.ones((3, 1)), "timeouts": [0, 0, 1]})
    with pytest.raises(
        FormatError, match=r"an HDF5 file with command, qpos, timeouts;.*--format d4"
    ):
        load(path)
    demos = load(path, ["qpos"], action=["command"], format="d4rl")
    assert (demos.obs_keys, demos.action_names) == ((("qpos", 2),), ("command",))


def test_an_hdf5_file_of_one_episode_is_sent_to_the_recipe(tmp_path: Path) -> None:
    path = tmp_path / "episode_0.hdf5"
    with h5py.File(path, "w") as file:
        file.update({"observations/qpos": np.ones((3, 2)), "action": np.ones((3, 2))})
    content, step = describe(path)
    assert content == "an HDF5 file with action, observations"
    assert "docs/formats.md has ten lines" in step  # --format d4rl would need the episodes' ends


def test_a_folder_is_named_for_what_lies_in_it(tmp_path: Path) -> None:
    assert describe(tmp_path)[0] == "an empty folder"
    (tmp_path / "trial_1.csv").touch()
    assert describe(tmp_path)[0] == "a folder with trial_1.csv"
    (tmp_path / "trial_2.csv").touch()
    assert describe(tmp_path)[0] == "a folder with 2 tables: trial_1.csv, trial_2.csv"
    (tmp_path / "trial_3.mat").touch()
    assert "begin each with the same row" in describe(tmp_path)[1]
    (tmp_path / ".zgroup").touch()
    assert describe(tmp_path)[0].startswith("a zarr archive with .zgroup")


@pytest.mark.parametrize(
    ("name", "step"),
    [("a.mat", "docs/formats.md has ten lines"), ("a.npz", "give its files instead: "),
     ("a.txt", "give the path of one dataset in it")],
)  # fmt: skip
def test_a_folder_of_trials_has_a_next_step(name: str, step: str, tmp_path: Path) -> None:
    (tmp_path / name).touch()
    assert step in describe(tmp_path)[1]


def test_a_table_without_its_dataset_is_named_with_its_columns(tmp_path: Path) -> None:
    path = tmp_path / "episode_000000.parquet"
    pq.write_table(pa.table({"state": [1.0], "actions": [2.0]}), path)
    content, step = describe(path)
    assert content == "a Parquet table with columns state, actions"
    assert "meta/info.json" in step
    path.write_bytes(path.read_bytes()[:-5])
    assert describe(path)[0] == "a damaged Parquet file"


def test_the_recipe_for_anything_else_reads_pickles_matlab_files_hdf5_and_tables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = (Path(__file__).parents[2] / "docs/formats.md").read_text(encoding="utf-8")
    recipe = page.split("## Anything else")[1].split("```python\n")[1].split("```")[0]
    obs, action = np.arange(6.0).reshape(3, 2), np.arange(6.0).reshape(3, 2) / 8
    trials = tmp_path / "trials"
    trials.mkdir()
    columns = {"header": "x,y,vx,vy", "comments": "", "delimiter": ","}
    np.savetxt(trials / "a.csv", np.hstack([obs, action]), **columns)
    savemat(trials / "b.mat", {"obs": obs + 10, "action": action})
    (trials / "c.pkl").write_bytes(pickle.dumps({"obs": obs + 20, "action": action}))
    with h5py.File(trials / "d.hdf5", "w") as file:
        file.update({"observations/qpos": obs + 30, "action": action})
    monkeypatch.chdir(tmp_path)
    exec(recipe, {})
    demos = load(tmp_path / "demos.hdf5")
    assert [e.name for e in demos.episodes] == ["a", "b", "c", "d"]
    assert demos.obs[:, 0].tolist() == [0, 2, 4, 10, 12, 14, 20, 22, 24, 30, 32, 34]
    assert np.array_equal(demos.action, np.vstack([action] * 4))
    body = recipe.split("counterbc as cb")[1].strip().splitlines()
    assert len([line for line in body if line.strip()]) <= 10


def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    pipe = tmp_path / "demos.hdf5"
    os.mkfifo(pipe)
    with pytest.raises(FormatError, match="is not a file"):
        describe(pipe)
