"""A disk that is full in the middle of a session: a real one where it can be mounted."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from counterbc.formats import load
from counterbc.studio.journal import read_session
from tests.studio.clients import Page, dataset_of
from tests.studio.processes import StudioProcess

SIZE = 120_000  # bytes, room for two short episodes and their dataset
LARGEST = 40_000  # bytes of a file, where no disk can be mounted


@contextmanager
def small_disk(folder: Path) -> Iterator[Callable[[], None] | None]:
    """Mount a small disk on a folder; yield what enlarges it, or None where that is not allowed."""
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", str(folder)]
    try:
        is_mounted = subprocess.run(mount, capture_output=True, check=False).returncode == 0
    except OSError:
        is_mounted = False
    if not is_mounted:
        yield None
        return
    larger = ["mount", "-o", "remount,size=50m", str(folder)]

    def enlarge() -> None:
        subprocess.run(larger, check=True)

    try:
        yield enlarge
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def record_until_full(page: Page) -> str:
    """Record two short episodes, and one until the recording stops; return what the page is told.

    Datasets may not be written any more before that.
    """
    page.begin("air-hockey")
    page.do("record")
    for _ in range(2):
        page.do("start")
        while page.receive().get("step", 0) < 5:
            pass
        page.do("end")
        page.wait("saved")
    page.do("start")
    text = ""
    while "Recording stopped" not in text:
        text = page.wait("problem")["text"]
    return text


@pytest.mark.slow
def test_a_disk_that_is_full_keeps_the_finished_episodes_of_the_same_session(
    tmp_path: Path,
) -> None:
    study = tmp_path / "study"
    with small_disk(study) as enlarge:
        studio = StudioProcess(study, largest=None if enlarge else LARGEST)
        page = studio.page()
        problem = record_until_full(page)
        assert ("the disk is full" in problem) is (enlarge is not None)
        page.send(type="ping", sent=1)
        page.wait("pong")  # the server stays up
        before = load(dataset_of(study)).episodes
        page.close()
        assert studio.stop() == 143
        finished = [e for e in read_session(study / "journal" / "air-hockey-001") if e.steps][:2]
        assert [e.end for e in finished] == ["stopped", "stopped"]
        if enlarge:
            enlarge()
        again = StudioProcess(study)
        after = load(dataset_of(study)).episodes
        assert again.stop() == 143
        assert (len(before), len(after)) == (2, 3)  # with what was recorded of the last one
        for journal, *episodes in zip(finished, before, after, strict=False):
            for episode in episodes:
                np.testing.assert_array_equal(episode.obs, journal.obs)
