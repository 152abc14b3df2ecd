"""Damaged copies of a real dataset are read or refused, and never crash."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np

from counterbc.formats import (
    load,
)
from tests.formats.lerobot.editing import edit_info

Change = Callable[[Path], None]


EPISODE = "data/chunk-000/episode_000001.parquet"


LINES = "meta/episodes.jsonl"


def truncate(name: str, share: float) -> Change:
    def change(root: Path) -> None:
        content = (root / name).read_bytes()
        (root / name).write_bytes(content[: int(share * len(content))])

    return change


def flip(name: str, seed: int, count: int = 1) -> Change:
    def change(root: Path) -> None:
        content = bytearray((root / name).read_bytes())
        rng = np.random.default_rng(seed)
        for place in rng.integers(len(content), size=count):
            content[place] ^= int(rng.integers(1, 256))
        (root / name).write_bytes(content)

    return change


def flip_footer(seed: int) -> Change:
    def change(root: Path) -> None:
        content = bytearray((root / EPISODE).read_bytes())
        rng = np.random.default_rng(seed)
        for _ in range(int(rng.integers(1, 4))):
            place = len(content) - int(rng.integers(1, 3200))
            content[place] = int(rng.integers(256))
        (root / EPISODE).write_bytes(content)

    return change


def remove(name: str) -> Change:
    return lambda root: (root / name).unlink()


def substitute(name: str, old: str, new: str) -> Change:
    def change(root: Path) -> None:
        content = (root / name).read_text()
        assert old in content
        (root / name).write_text(content.replace(old, new))

    return change


def swap_episodes(root: Path) -> None:
    a, b = root / EPISODE, root / EPISODE.replace("001", "002")
    first = a.read_bytes()
    a.write_bytes(b.read_bytes())
    b.write_bytes(first)


MUST_FAIL: dict[str, Change] = {
    **{
        f"data cut to {share}": truncate(EPISODE, share)
        for share in (0, 0.001, 0.1, 0.5, 0.9, 0.999)
    },
    **{f"{n} cut to half": truncate(n, 0.5) for n in ("meta/info.json", LINES)},
    **{f"{n} removed": remove(n) for n in ("meta/info.json", LINES, EPISODE)},
    "two episodes swapped": swap_episodes,
    "a longer episode": substitute(LINES, '"length": 393', '"length": 394'),
    "an endless episode": substitute(LINES, '"length": 393', '"length": 393000000000'),
    "a negative episode": substitute(LINES, '"length": 393', '"length": -1'),
    "an episode twice": substitute(LINES, '"episode_index": 1', '"episode_index": 0'),
    "an episode that is text": substitute(LINES, '"episode_index": 1', '"episode_index": "1"'),
    "a wider action": substitute("meta/info.json", "26", "27"),
    "no features": substitute("meta/info.json", '"features"', '"other"'),
    "no action": substitute("meta/info.json", '"action"', '"deed"'),
    "an old version": substitute("meta/info.json", '"v2.1"', '"v1.4"'),
    "another version": substitute("meta/info.json", '"v2.1"', '"v3.0"'),
    "more frames": substitute("meta/info.json", '"total_frames": ', '"total_frames": 1'),
    "a path outside": substitute("meta/info.json", '"data/chunk', '"../data/chunk'),
    "no chunks": substitute("meta/info.json", '"chunks_size": 1000', '"chunks_size": 0'),
    "small chunks": substitute("meta/info.json", '"chunks_size": 1000', '"chunks_size": 1'),
    "a column called otherwise": substitute("meta/info.json", "observation.state", "observation.x"),
}


MAY_FAIL: dict[str, Change] = {
    **{f"bytes flipped {i}": flip(EPISODE, i, 1 + i % 4) for i in range(16)},
    **{f"bytes flipped in the footer {i}": flip_footer(i) for i in range(16)},
    "a footer on which pyarrow can end the process": flip_footer(551),
    **{f"info flipped {i}": flip("meta/info.json", i) for i in range(8)},
    **{f"lines flipped {i}": flip(LINES, i) for i in range(8)},
    "no tasks": remove("meta/tasks.jsonl"),
    "no statistics": remove("meta/episodes_stats.jsonl"),
}


WORKER = """
import json, sys
from counterbc.errors import CounterBCError
from counterbc.formats import load
for path in sys.stdin.read().splitlines():
    try:
        demos = load(path)
        said = ["read", len(demos), demos.pairs, demos.obs_shape == (26,), demos.action_size]
    except CounterBCError as error:
        said = ["refused", str(error)]
    print(json.dumps(said), flush=True)
"""


def cut_down(data: Path, root: Path) -> Path:
    """The first three episodes of the real dataset."""
    real = data / "fixtures/lerobot_v21_g1"
    shutil.copytree(real / "meta", root / "meta", copy_function=shutil.copyfile)
    (root / "data/chunk-000").mkdir(parents=True)
    for i in range(3):
        name = f"data/chunk-000/episode_{i:06d}.parquet"
        shutil.copyfile(real / name, root / name)
    for folder in (root, root / "meta"):
        folder.chmod(0o755)  # the original may be read only
    lines = (root / LINES).read_text().splitlines()[:3]
    (root / LINES).write_text("\n".join(lines))
    frames = sum(json.loads(line)["length"] for line in lines)
    edit_info(root, total_episodes=3, total_frames=frames)
    return root


def test_mutations_of_the_real_dataset_are_read_or_refused_and_break_nothing(
    data: Path, tmp_path: Path
) -> None:
    """In a process of its own, which a crash of a library would end."""
    whole = load(cut_down(data, tmp_path / "whole"))
    changes: dict[str, Change] = {"nothing": lambda _: None} | MUST_FAIL | MAY_FAIL
    paths = [tmp_path / str(i) for i in range(len(changes))]
    for path, change in zip(paths, changes.values(), strict=True):
        shutil.copytree(tmp_path / "whole", path)
        change(path)
    process = subprocess.run(
        [sys.executable, "-c", WORKER],
        input="\n".join(map(str, paths)),
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert process.returncode == 0, process.stderr[-2000:]
    answers = dict(zip(changes, map(json.loads, process.stdout.splitlines()), strict=True))
    right = ["read", 3, whole.pairs, True, 26]
    assert answers["nothing"] == right
    assert {n: answers[n] for n in MUST_FAIL if answers[n][0] != "refused"} == {}
    assert {
        n: answers[n] for n in MAY_FAIL if answers[n] != right and answers[n][0] == "read"
    } == {}
    assert answers["no tasks"] == answers["no statistics"] == right
    assert sum(answers[n][0] == "refused" for n in MAY_FAIL) > 10
