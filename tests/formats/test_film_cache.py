"""Decoded films on disk: used, checked, bounded, and never in the way."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from counterbc.data.arrays import Array
from counterbc.errors import FormatError, OptionError
from counterbc.formats import film_cache, frames

SHAPE = (32, 48, 3)
Read = Callable[..., Array]
pytestmark = pytest.mark.needs("av")


def film(path: Path, shades: range) -> Path:
    av: Any = importlib.import_module("av")
    with av.open(str(path), "w") as container:
        stream = container.add_stream("mpeg4", rate=10)
        stream.width, stream.height, stream.pix_fmt = 48, 32, "yuv420p"
        for shade in shades:
            pixels = np.full(SHAPE, 20 * shade + 40, np.uint8)
            container.mux(stream.encode(av.VideoFrame.from_ndarray(pixels, format="rgb24")))
        container.mux(stream.encode(None))
    return path


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("COUNTERBC_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "films"


@pytest.fixture
def decodings(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The films that were decodings, one entry for each time."""
    paths: list[Path] = []
    decode = frames.decode_video

    def counting(path: Path, **options: Any) -> Array:
        paths.append(path)
        return decode(path, **options)

    monkeypatch.setattr(film_cache, "decode_video", counting)
    return paths


def read(path: Path, begin: float = 0.0, count: int = 3) -> Array:
    return film_cache.cached_video(
        path, begin=begin, count=count, fps=10, shape=SHAPE, label="front"
    )


def test_a_film_is_decoded_once_for_the_same_frames(
    tmp_path: Path, cache: Path, decodings: list[Path]
) -> None:
    path = film(tmp_path / "a.mp4", range(5))
    first, second = read(path), read(path)
    np.testing.assert_array_equal(first, second)
    assert decodings == [path]
    read(path, begin=0.1)
    read(path, count=2)
    assert len(decodings) == 3
    assert len(list(cache.iterdir())) == 3


def test_the_same_film_elsewhere_uses_the_entry_and_another_film_does_not(
    tmp_path: Path, cache: Path, decodings: list[Path]
) -> None:
    path = film(tmp_path / "a.mp4", range(5))
    read(path)
    path.rename(tmp_path / "moved.mp4")
    read(tmp_path / "moved.mp4")
    assert len(decodings) == 1
    film(path, range(2, 7))
    frames_after = read(path)
    assert len(decodings) == 2
    assert abs(float(frames_after[0].mean()) - 80) < 4


@pytest.mark.parametrize("damage", ["byte", "shorter", "longer", "empty", "shape", "link", "pipe"])
def test_an_entry_that_is_damaged_is_made_again(
    tmp_path: Path, cache: Path, decodings: list[Path], damage: str
) -> None:
    path = film(tmp_path / "a.mp4", range(5))
    whole = read(path)
    (entry,) = cache.iterdir()
    content = bytearray(entry.read_bytes())
    if damage in ("link", "pipe"):
        entry.unlink()
        secret = tmp_path / "elsewhere"
        secret.write_bytes(content)
        entry.symlink_to(secret) if damage == "link" else os.mkfifo(entry)
    else:
        content[-1] ^= 1 if damage == "byte" else 0
        content[40] = 255 if damage == "shape" else content[40]
        sizes = {"shorter": slice(-1), "empty": slice(0)}
        entry.write_bytes(content[sizes.get(damage, slice(None))] + b"x" * (damage == "longer"))
    np.testing.assert_array_equal(read(path), whole)
    assert len(decodings) == 2
    np.testing.assert_array_equal(read(path), whole)
    assert len(decodings) == 2
    assert entry.is_file()
    assert not entry.is_symlink()


def test_entries_that_were_not_used_for_long_are_removed_first(
    tmp_path: Path, cache: Path, decodings: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    size = 3 * 32 * 48 * 3 + 64
    monkeypatch.setenv("COUNTERBC_CACHE_GB", str(2.5 * size / 1e9))
    films = [film(tmp_path / f"{i}.mp4", range(i, i + 5)) for i in range(3)]
    for i, path in enumerate(films[:2]):
        read(path)
        for entry in cache.iterdir():
            os.utime(entry, (i, i)) if entry.stat().st_mtime > 1e6 else None
    read(films[0])  # now the second is the oldest
    read(films[2])
    assert len(list(cache.iterdir())) == 2
    decodings.clear()
    read(films[0])
    assert decodings == []
    read(films[1])
    assert decodings == [films[1]]


def test_an_entry_larger_than_the_bound_is_not_kept(
    tmp_path: Path, cache: Path, decodings: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COUNTERBC_CACHE_GB", "0.00001")
    path = film(tmp_path / "a.mp4", range(5))
    read(path)
    read(path)
    assert len(decodings) == 2
    assert not cache.exists()


def test_a_cache_that_cannot_be_written_is_not_in_the_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, decodings: list[Path]
) -> None:
    path = film(tmp_path / "a.mp4", range(5))
    (tmp_path / "file").write_text("not a folder")
    for folder in (str(tmp_path / "file"), ""):
        monkeypatch.setenv("COUNTERBC_CACHE", folder)
        assert len(read(path)) == 3
    assert len(decodings) == 2


def test_errors_of_the_film_pass_and_a_bound_that_is_no_number_is_refused(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(FormatError, match="is missing; download the videos"):
        read(tmp_path / "none.mp4")
    path = film(tmp_path / "a.mp4", range(2))
    with pytest.raises(FormatError, match="has 2 frames"):
        read(path)
    assert not cache.exists()
    monkeypatch.setenv("COUNTERBC_CACHE_GB", "lots")
    with pytest.raises(OptionError, match="COUNTERBC_CACHE_GB is 'lots'; expected gigabytes"):
        read(path, count=2)


def test_only_the_owner_can_look_into_the_cache(tmp_path: Path, cache: Path) -> None:
    read(film(tmp_path / "a.mp4", range(5)))
    assert cache.stat().st_mode & 0o077 == 0
