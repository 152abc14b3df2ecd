"""A seeded sample of damage to every format: a sentence, or the same data; never a traceback.

`python -m attack --part mutate` damages thousands of files in more ways.
"""

from __future__ import annotations

import random
import warnings
from pathlib import Path

import pytest

from attack.mutators import change_bytes, copy, damage
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


def change(rng: random.Random, path: Path) -> bool:
    """Damage a file or folder; return whether only bytes of a file were changed."""
    if path.is_file() and rng.random() < 0.7:
        change_bytes(rng, path)
        return True
    return damage(rng, path).startswith("bytes")


@pytest.mark.parametrize("format", writable_formats())
def test_a_damaged_dataset_is_refused_in_a_sentence_or_read(format: str, tmp_path: Path) -> None:
    suffix = {"npz": ".npz", "robomimic": ".hdf5"}.get(format, "")
    whole, path = tmp_path / f"whole{suffix}", tmp_path / f"damaged{suffix}"
    demos = small(masks={})
    save(demos, whole, format=format)
    sentences: list[str] = []
    for case in range(CASES):
        copy(whole, path)
        is_damage = change(random.Random(f"{format} {case}"), path)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                stream = open_stream(path)
                Inspection().add(stream.header, stream.raw_episodes)
                back: Demonstrations | None = load(path)
            except CounterBCError as error:
                back = None
                sentences.append(str(error))
        if back is not None and format in CHECKED and is_damage:
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
        copy(whole, path)
        damage(random.Random(f"run {case}"), path)
        try:
            policies = Policies.load(path)
            repr(policies)
            policies[0].actor().act(tiny.obs[0])
        except CounterBCError as error:
            sentences.append(str(error))
    assert len(sentences) > CASES / 5
    assert not any("\n" in text for text in sentences)
