"""A seeded sample of damage to every format: a sentence, or the same data; never a traceback."""

from __future__ import annotations

import random
import shutil
import warnings
from pathlib import Path

import pytest

from counterbc import Policies
from counterbc.data.demonstrations import Demonstrations
from counterbc.data.inspection import Inspection
from counterbc.errors import CounterBCError
from counterbc.formats import load, open_stream, save, writable_formats
from tests.fixture_types import Train
from tests.formats.datasets import small

CASES = 60
CHECKED = ("npz", "robomimic")
"""Formats in which every byte of our files is covered by a checksum, or does not matter."""


def damage(rng: random.Random, path: Path) -> None:
    """Change a file, or one file of a folder, in one place."""
    files = sorted(p for p in path.rglob("*") if p.is_file()) if path.is_dir() else [path]
    file = rng.choice(files)
    content = bytearray(file.read_bytes())
    place, kind = rng.randrange(len(content)), rng.randrange(6)
    if kind == 0:
        del content[place:]
    elif kind == 1:
        content[place : place + 16] = bytes(16)
    elif kind == 2:
        content[place:place] = rng.randbytes(rng.randint(1, 16))
    elif kind == 3:
        content[place] = rng.randrange(256)
    else:
        content[place] ^= 1 << rng.randrange(8)
    file.write_bytes(content)


@pytest.mark.parametrize("format", writable_formats())
def test_a_damaged_dataset_is_refused_in_a_sentence_or_read(format: str, tmp_path: Path) -> None:
    whole, path = tmp_path / "whole", tmp_path / "damaged"
    demos = small(masks={})
    save(demos, whole, format=format)
    sentences: list[str] = []
    for case in range(CASES):
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
        shutil.copytree(whole, path) if whole.is_dir() else shutil.copy(whole, path)
        damage(random.Random(f"{format} {case}"), path)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                stream = open_stream(path)
                Inspection().add(stream.header, stream.raw_episodes)
                back: Demonstrations | None = load(path)
            except CounterBCError as error:
                back = None
                sentences.append(str(error))
        if back is not None and format in CHECKED:
            assert back.fingerprint() == demos.fingerprint()
            assert [len(e) for e in back.episodes] == [len(e) for e in demos.episodes]
    assert len(sentences) > CASES / 5
    assert not any("\n" in text for text in sentences)


def test_a_damaged_run_is_refused_in_a_sentence_or_read(
    tiny: Demonstrations, quick: Train, tmp_path: Path
) -> None:
    whole, path = tmp_path / "whole", tmp_path / "damaged"
    quick(tiny, "bc", seeds=2, steps=2, out=whole)
    sentences: list[str] = []
    for case in range(CASES):
        shutil.rmtree(path, ignore_errors=True)
        shutil.copytree(whole, path)
        damage(random.Random(f"run {case}"), path)
        try:
            policies = Policies.load(path)
            repr(policies)
            policies[0].actor().act(tiny.obs[0])
        except CounterBCError as error:
            sentences.append(str(error))
    assert len(sentences) > CASES / 5
    assert not any("\n" in text for text in sentences)
