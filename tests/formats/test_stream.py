from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from counterbc.data.demonstrations import Demonstrations
from counterbc.data.inspection import Inspection
from counterbc.errors import DataError, FormatError, OptionError
from counterbc.formats import (
    open_stream,
)
from counterbc.formats.stream import Header, RawEpisode, Stream
from tests.formats.datasets import assert_same, small


def stream(*lengths: int, **fields: Any) -> Stream:
    """Return episodes whose observations count up, with a key `a` of width 1 and `b` of width 2."""
    raw = [RawEpisode(np.arange(3.0 * n).reshape(n, 3), np.zeros((n, 1))) for n in lengths]
    header = Header(obs_keys=(("a", 1), ("b", 2)), source="a file", **fields)
    return Stream(header, iter(raw))


def test_a_stream_of_a_dataset_gives_it_back(tiny: Demonstrations) -> None:
    back = Stream.of(tiny).demonstrations()
    assert back.fingerprint() == tiny.fingerprint()
    unchanged = Stream.of(tiny)
    assert Stream.of(unchanged) is unchanged


def test_checked_fills_in_names_and_keeps_what_only_the_header_knows() -> None:
    result = stream(2, 1, operators=("ann",), left_out=("forces",)).checked()
    assert result.header.obs_names == ("a[0]", "b[0]", "b[1]")
    assert (result.header.operators, result.header.left_out) == (
        ("ann",),
        ("forces",),
    )
    episodes = list(result.raw_episodes)
    assert [raw.name for raw in episodes] == ["demo_0", "demo_1"]
    assert episodes[0].obs.dtype == np.float32


def test_an_episode_is_checked_when_it_is_read() -> None:
    good, bad = stream(2), np.full((1, 3), np.nan)
    result = Stream(
        good.header, chain(good.raw_episodes, [RawEpisode(bad, np.zeros((1, 1)))])
    ).checked()  # fmt: skip
    next(result.raw_episodes)
    with pytest.raises(DataError, match=r"^a file: obs of episode 'demo_1' has 3 values"):
        next(result.raw_episodes)


def test_two_episodes_of_one_name_are_refused() -> None:
    (raw,) = stream(2).raw_episodes
    episodes = [replace(raw, name=name) for name in ("x", "y", "y")]
    result = Stream(stream().header, iter(episodes)).checked()
    with pytest.raises(DataError, match="a file: two episodes are named 'y'; rename one"):
        list(result.raw_episodes)


def test_a_stream_without_episodes_is_refused() -> None:
    with pytest.raises(DataError, match="a file: a dataset needs at least one episode"):
        stream().checked()


def test_observation_keys_are_chosen_in_order_and_the_others_are_named() -> None:
    names = ("x", "y", "z")
    subset = stream(2, obs_names=names).choose(["b"])
    assert subset.header.obs_keys == (("b", 2),)
    assert subset.header.obs_names == ("y", "z")
    assert subset.header.left_out == ("obs/a",)
    assert next(subset.raw_episodes).obs.tolist() == [[1, 2], [4, 5]]
    assert next(stream(1).choose(["b", "a"]).raw_episodes).obs.tolist() == [[1, 2, 0]]
    with pytest.raises(FormatError, match="a file has no observation key 'c'; allowed: a, b"):
        stream(1).choose(["c"])


def test_an_unknown_mask_and_a_mask_without_episodes_are_refused() -> None:
    with pytest.raises(OptionError, match="unknown mask 'x'; allowed: there are none"):
        stream(1).subset("x")
    absent = stream(1, masks={"x": ("demo_9",)}).subset("x")
    with pytest.raises(DataError, match="none of its episodes is in the mask 'x'; choose another"):
        list(absent.raw_episodes)


DEMOS, LENGTH, WIDTH = 500, 2000, 30


def _write(path: Path, demos: int, length: int) -> Path:
    rng = np.random.default_rng(0)
    values = rng.standard_normal((length, WIDTH))
    with h5py.File(path, "w") as file:
        for i in range(demos):
            values[:, 0] = i  # no two demos are the same
            file[f"data/demo_{i}/obs/state"] = values[:, :-5]
            file[f"data/demo_{i}/actions"] = values[:, -5:]
    return path


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write 240 MB of float64."""
    path = _write(tmp_path_factory.mktemp("large") / "large.hdf5", DEMOS, LENGTH)
    assert path.stat().st_size > 240e6
    return path


PEAK = """
import sys
from pathlib import Path
from counterbc.cli import main
status = main(sys.argv[1:])
peak = Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0]
print(peak, file=sys.stderr)
sys.exit(status)
"""


def _peak(command: str, *arguments: object) -> float:
    """Return the largest memory of a command in megabytes."""
    words = [sys.executable, "-c", PEAK, command, *map(str, arguments)]
    process = subprocess.run(words, capture_output=True, text=True, check=True)
    return int(process.stderr.split()[-1]) / 1000  # after lines of progress


@pytest.mark.skipif(sys.platform != "linux", reason="asks /proc for the peak")
@pytest.mark.parametrize("kind", ["robomimic", "npz"])
def test_a_large_file_is_converted_in_little_memory(kind: str, large: Path, tmp_path: Path) -> None:
    # megabytes, most of them Python and its libraries
    assert _peak("convert", large, tmp_path / "out", "--to", kind) < 120


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="asks /proc for the peak")
def test_a_large_file_is_inspected_in_the_memory_of_a_small_one(
    large: Path, tmp_path: Path
) -> None:
    small_file = _write(tmp_path / "small.hdf5", 40, 120)  # as many steps as inspect samples
    assert _peak("inspect", large) < _peak("inspect", small_file) + 40


def test_masks_of_a_subset_name_only_what_is_in_it(tiny: Demonstrations, tmp_path: Path) -> None:
    names = [e.name for e in tiny.episodes]
    masks = {"good": tuple(names[:1]), "all": tuple(names)}
    replace(tiny, masks=masks).save(tmp_path / "d.hdf5")
    part = open_stream(tmp_path / "d.hdf5").subset("good").demonstrations()
    assert part.masks == {"good": tuple(names[:1]), "all": tuple(names[:1])}


def test_a_declaration_fills_a_gap_but_contradicts_no_file() -> None:
    silent = Stream.of(small(actions_are=None))
    assert silent.declare("taken").demonstrations().actions_are == "taken"
    assert Stream.of(small()).declare("taken").header.actions_are == "taken"
    with pytest.raises(OptionError, match=r"declares that its actions are taken, not asked; leave"):
        Stream.of(small()).declare("asked")
    with pytest.raises(DataError, match="actions_are is 'cut'; allowed"):
        silent.declare("cut")


def test_what_actions_are_relative_to_is_looked_up_when_it_is_declared() -> None:
    declared = Stream.of(small()).declare_relative("x,-").demonstrations()
    assert declared.relative == "x,-"
    assert_same(replace(declared, relative=small().relative), small())
    with pytest.raises(OptionError, match="'wheel': there is no 'wheel'; keys: position"):
        Stream.of(small()).declare_relative("wheel")
    with pytest.raises(DataError, match="relative is 'auto'; allowed"):
        Stream.of(small()).declare_relative("auto")


def broken(header: Header) -> Stream:
    """Return a stream that fails after its first episode."""

    def raw_episodes() -> Any:
        yield RawEpisode(np.zeros((2, 3)), np.zeros((2, 1)))
        raise ZeroDivisionError("a bug")

    return Stream(header, raw_episodes()).guarded(Path("a file"))


def test_whatever_goes_wrong_while_a_stream_is_read_is_one_sentence() -> None:
    header = Header(obs_keys=(("a", 3),), source="a file")
    sentence = r"^a file cannot be read; it may be incomplete or damaged \(a bug\); copy .* whole$"
    for read in (
        broken(header).demonstrations,
        lambda: list(broken(header).checked().raw_episodes),
        lambda: Inspection().add(header, broken(header).raw_episodes),
    ):
        with pytest.raises(FormatError, match=sentence):
            read()


def test_a_scalar_in_place_of_rows_is_refused() -> None:
    raw = RawEpisode(np.zeros((2, 3)), np.array(1.0), name="demo_7")
    with pytest.raises(FormatError, match="a file: the action of episode 'demo_7' is a single"):
        Stream(Header(source="a file"), iter([raw])).guarded(Path("a file")).demonstrations()
