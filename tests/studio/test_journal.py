"""Journals survive a crash up to the last whole line."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

import numpy as np
import pytest

from counterbc.errors import FormatError
from counterbc.studio import journal
from counterbc.studio.journal import JournalWriter, read_journal, read_session, sync_folder
from counterbc.studio.study_folder import StudyFolder
from tests.full_disk import largest_file
from tests.studio.clients import f32, wait_for

HEADER: dict[str, object] = {"dataset": {}, "image": None}


def never(error: FormatError) -> None:
    raise AssertionError(error)


def write(folder: Path, steps: int, **header: object) -> JournalWriter:
    writer = JournalWriter(folder, never)
    writer.line(0, {**HEADER, **header})
    for i in range(steps):
        writer.line(0, {"obs": [float(np.float32(0.1 * i))], "action": [i]})
    return writer


def test_a_journal_reads_back_what_was_written(tmp_path: Path) -> None:
    writer = write(tmp_path, 3)
    writer.line(0, {"end": "over", "success": None})
    writer.line(0, {"success": True})
    writer.close()
    (episode,) = read_session(tmp_path)
    np.testing.assert_array_equal(episode.obs, f32([[0.0], [0.1], [0.2]]))
    assert [s["action"] for s in episode.steps] == [[0], [1], [2]]
    assert (episode.end, episode.success, episode.is_discarded) == ("over", True, False)


def test_steps_are_in_the_file_before_the_episode_ends(tmp_path: Path) -> None:
    writer = write(tmp_path, 5)
    writer.flush()
    episode = read_journal(tmp_path / "0000.jsonl")
    assert episode is not None
    assert (len(episode.steps), episode.end) == (5, "interrupted")
    writer.close()


def test_steps_are_forced_to_the_disk_without_being_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[int] = []  # bytes of the file with each sync
    fsync = os.fsync

    def note(descriptor: int) -> None:
        fsync(descriptor)
        synced.append(os.fstat(descriptor).st_size)

    monkeypatch.setattr(os, "fsync", note)
    assert journal._SYNC <= 0.5  # twice that is the longest delay of a step: a second
    (tmp_path / "copy").mkdir()
    write(tmp_path / "copy", 5).close()
    content = (tmp_path / "copy" / "0000.jsonl").read_bytes()
    synced.clear()
    writer = write(tmp_path, 5)  # nobody ends the episode
    wait_for(lambda: synced and synced[-1] == len(content))
    assert (tmp_path / "0000.jsonl").read_bytes() == content
    writer.close()


def test_the_names_of_new_folders_and_files_are_forced_to_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that was synced is lost with a crash of the machine if its folder was not."""
    study = StudyFolder.open(tmp_path / "study")
    synced: list[tuple[str, set[str]]] = []  # folders, and the names in them, in order
    fsync = os.fsync

    def note(descriptor: int) -> None:
        fsync(descriptor)
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            path = Path(os.readlink(f"/proc/self/fd/{descriptor}"))
            synced.append((path.name, {entry.name for entry in path.iterdir()}))

    monkeypatch.setattr(os, "fsync", note)
    session = study.new_session("cartpole")
    assert synced == [("journal", {session})]
    writer = write(study.journal(session), 2)
    writer.frame(0, np.zeros((2, 2, 3), np.uint8))
    writer.flush()
    assert synced[1:] == [(session, {"0000.jsonl"}), (session, {"0000.jsonl", "0000.frames"})]
    writer.line(0, {"success": True})  # a file that is there already
    writer.close()
    assert len(synced) == 3


@pytest.mark.parametrize("code", [errno.EINVAL, errno.EIO])
def test_only_a_file_system_that_cannot_sync_folders_may_leave_them(
    code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(descriptor: int) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, "fsync", fail)
    if code == errno.EINVAL:
        sync_folder(tmp_path)
        return
    with pytest.raises(OSError, match="Input/output"):
        sync_folder(tmp_path)


def test_a_session_may_have_more_episodes_than_files_can_be_open(tmp_path: Path) -> None:
    writer = JournalWriter(tmp_path, never)
    for episode in range(20):
        writer.line(episode, HEADER)
        writer.line(episode, {"obs": [0.0], "action": [episode]})
        writer.flush()
        assert len(writer._files) <= journal._OPEN_FILES
    writer.line(3, {"discard": True})  # one that was closed
    writer.close()
    episodes = read_session(tmp_path)
    assert [e.steps[0]["action"] for e in episodes] == [[i] for i in range(20)]
    assert [i for i, e in enumerate(episodes) if e.is_discarded] == [3]


def test_a_journal_that_was_cut_anywhere_gives_its_whole_lines(tmp_path: Path) -> None:
    write(tmp_path, 4).close()
    path = tmp_path / "0000.jsonl"
    content = path.read_bytes()
    lines = content.splitlines(keepends=True)
    for size in range(len(content)):
        path.write_bytes(content[:size])
        whole = sum(size >= sum(map(len, lines[: i + 1])) for i in range(len(lines)))
        episode = read_journal(path)
        assert (episode is None) == (whole == 0)
        assert episode is None or len(episode.steps) == whole - 1


@pytest.mark.parametrize("damage", [b"\xff\xfe\n", b"[1]\n", b"{\n", b'"text"\n'])
def test_what_follows_a_damaged_line_is_ignored(tmp_path: Path, damage: bytes) -> None:
    write(tmp_path, 2).close()
    path = tmp_path / "0000.jsonl"
    path.write_bytes(path.read_bytes() + damage + b'{"action": [9], "obs": [9]}\n')
    episode = read_journal(path)
    assert episode is not None
    assert len(episode.steps) == 2


def test_a_discarded_episode_is_marked(tmp_path: Path) -> None:
    writer = write(tmp_path, 1)
    writer.line(0, {"discard": True})
    writer.close()
    assert read_session(tmp_path)[0].is_discarded


def test_images_and_steps_are_cut_to_the_shorter(tmp_path: Path) -> None:
    images = np.random.default_rng(0).integers(0, 256, (3, 2, 4, 3)).astype(np.uint8)
    writer = JournalWriter(tmp_path, never)
    writer.line(0, {**HEADER, "image": [2, 4, 3]})
    for image in images:
        writer.frame(0, image)
        writer.line(0, {"obs": None, "action": [0]})
    writer.close()
    frames = tmp_path / "0000.frames"
    np.testing.assert_array_equal(read_session(tmp_path)[0].obs, images)
    frames.write_bytes(frames.read_bytes()[:-1])
    (episode,) = read_session(tmp_path)
    assert len(episode.obs) == len(episode.steps) == 2


def test_a_full_disk_is_reported_once_and_keeps_what_was_written(tmp_path: Path) -> None:
    errors: list[FormatError] = []
    writer = JournalWriter(tmp_path, errors.append)
    with largest_file(2000):
        for i in range(200):
            writer.line(0, {"obs": [i], "action": [i]} if i else HEADER)
        with pytest.raises(FormatError, match="could not be written"):
            writer.flush()
    writer.close()
    assert len(errors) == 1
    (episode,) = read_session(tmp_path)
    assert [s["obs"] for s in episode.steps] == [[i + 1] for i in range(len(episode.steps))]
    assert len(episode.steps) > 20


def test_numbers_that_json_does_not_have_are_an_error_of_the_caller(tmp_path: Path) -> None:
    writer = JournalWriter(tmp_path, never)
    with pytest.raises(ValueError, match="JSON"):
        writer.line(0, {"reward": float("nan")})
    writer.close()
