"""Files are read with one sentence for every failure, and written whole or not at all."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path
from typing import IO

import pytest

from counterbc import files
from counterbc.errors import DataError, FormatError, InfeasibleActions
from counterbc.files import (
    Guard,
    aside,
    check_free,
    check_regular,
    check_suffix,
    last_name,
    next_free,
    reason,
    sha256,
)


def test_a_finished_file_replaces_nothing_and_leaves_nothing_else(tmp_path: Path) -> None:
    target = tmp_path / "run.txt"
    with aside(target) as temporary:
        temporary.write_text("whole")
        assert not target.exists()
    assert target.read_text() == "whole"
    assert list(tmp_path.iterdir()) == [target]


def test_an_error_leaves_neither_the_file_nor_a_temporary_one(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), aside(tmp_path / "run.txt") as temporary:
        _ = temporary.write_text("half") / 0  # fails after something was written
    assert list(tmp_path.iterdir()) == []


def test_a_folder_is_moved_into_place_whole(tmp_path: Path) -> None:
    with aside(tmp_path / "run") as temporary:
        temporary.mkdir()
        (temporary / "a").write_text("1")
    assert (tmp_path / "run" / "a").read_text() == "1"


@pytest.mark.parametrize("system", ["as it is", "without an exchange of names"])
def test_a_folder_replaces_another_when_asked(
    system: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if system != "as it is":
        monkeypatch.setattr(files, "_LINUX", False)
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "old").write_text("1")
    with aside(tmp_path / "run", replace=True) as temporary:
        temporary.mkdir()
        (temporary / "new").write_text("2")
    assert [p.name for p in (tmp_path / "run").iterdir()] == ["new"]
    assert [p.name for p in tmp_path.iterdir()] == ["run"]


def test_a_full_disk_is_named(tmp_path: Path) -> None:
    full = pytest.raises(FormatError, match=r"could not be written \(the disk is full\)")
    with full, aside(tmp_path / "run.txt"):
        raise OSError(errno.ENOSPC, "No space left on device")


def test_a_path_that_exists_or_has_no_folder_is_refused(tmp_path: Path) -> None:
    check_free(tmp_path / "new")
    with pytest.raises(FormatError, match="already exists"):
        check_free(tmp_path)
    with pytest.raises(FormatError, match="does not exist; create it first"):
        check_free(tmp_path / "no" / "new")
    link = tmp_path / "broken"
    link.symlink_to(tmp_path / "nowhere")
    with pytest.raises(FormatError, match="already exists"):
        check_free(link)


def test_the_next_free_name_is_never_one_that_exists(tmp_path: Path) -> None:
    demos, folder = tmp_path / "demos.hdf5", tmp_path / "run"
    assert (next_free(demos), last_name(demos)) == (demos, demos)
    for name in ("demos.hdf5", "demos-2.hdf5", "run"):
        (tmp_path / name).touch()
    assert next_free(demos) == tmp_path / "demos-3.hdf5"
    assert last_name(demos) == tmp_path / "demos-2.hdf5"
    assert (next_free(folder), last_name(folder)) == (tmp_path / "run-2", folder)


def test_a_name_whose_ending_means_something_else_is_refused() -> None:
    check_suffix(Path("page.HTML"), (".html",), "page")
    check_suffix(Path("copy"), (".hdf5", ""), "copy")
    with pytest.raises(
        FormatError, match=r"page\.txt ends in '\.txt'; name the page \.html or \.htm"
    ):
        check_suffix(Path("page.txt"), (".html", ".htm"), "page")


def test_the_hash_of_a_file_is_that_of_its_bytes(tmp_path: Path) -> None:
    file = tmp_path / "abc"
    file.write_bytes(b"abc")  # the first example of FIPS 180-2
    assert sha256(file) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


@pytest.mark.parametrize(
    "error", [KeyError("x"), OSError("x"), MemoryError("x"), ValueError("x\ny")]
)
def test_an_error_of_a_library_becomes_one_sentence(error: Exception) -> None:
    message = (
        r"^a cannot be read; it may be incomplete or damaged \(x\); copy or download it again$"
    )
    with pytest.raises(FormatError, match=message), Guard(Path("a")):
        raise error


@pytest.mark.parametrize(
    "error",
    [DataError("mine"), FormatError("mine"), InfeasibleActions("mine"), KeyboardInterrupt()],
)
def test_our_errors_warnings_and_interrupts_pass_unchanged(error: BaseException) -> None:
    with pytest.raises(type(error)) as error_info, Guard(Path("a")):
        raise error
    assert error_info.value is error


def test_missing_permission_is_named_as_such() -> None:
    with pytest.raises(FormatError, match="a cannot be read: permission denied"), Guard(Path("a")):
        raise PermissionError("x")


def test_a_long_message_of_a_library_is_cut() -> None:
    with pytest.raises(FormatError) as error, Guard(Path("a"), "train again"):
        raise ValueError("x" * 10_000)
    assert str(error.value).endswith("x…); train again")
    assert len(str(error.value)) < 400


def test_pipes_devices_and_folders_are_no_files(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "zero").symlink_to("/dev/zero")
    for path in (tmp_path / "pipe", tmp_path / "zero", tmp_path):
        with pytest.raises(FormatError, match="is not a file; put a plain file in its place"):
            check_regular(path)
    (tmp_path / "file").touch()
    check_regular(tmp_path / "file")


def test_what_another_program_creates_meanwhile_is_not_overwritten(tmp_path: Path) -> None:
    for name in ("file", "folder"):
        target = tmp_path / name
        late = pytest.raises(FormatError, match="was created by another program meanwhile")
        with late, aside(target) as temporary:
            if name == "folder":
                temporary.mkdir()
                target.mkdir()
            else:
                temporary.write_text("ours")
                target.write_text("theirs")
    assert (tmp_path / "file").read_text() == "theirs"
    with aside(tmp_path / "file", replace=True) as temporary:
        temporary.write_text("ours")
    assert (tmp_path / "file").read_text() == "ours"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["file", "folder"]


@pytest.mark.parametrize("kernel_can", [True, False])
def test_a_file_system_without_an_atomic_rename_does_not_overwrite_either(
    kernel_can: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "_LINUX", kernel_can)
    for name in ("file", "folder"):
        (tmp_path / f"new {name}").mkdir() if name == "folder" else (tmp_path / "new file").touch()
        (tmp_path / name).touch()
        with pytest.raises(FileExistsError):
            files._move(tmp_path / f"new {name}", tmp_path / name)
        (tmp_path / name).unlink()
        files._move(tmp_path / f"new {name}", tmp_path / name)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["file", "folder"]


def test_a_finished_file_and_its_folder_are_on_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synchronized: list[str] = []
    fsync = os.fsync

    def record(descriptor: int) -> None:
        synchronized.append(Path(os.readlink(f"/proc/self/fd/{descriptor}")).name)
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", record)
    with aside(tmp_path / "run") as temporary:
        temporary.mkdir()
        (temporary / "a").write_text("1")
        (temporary / "b").write_text("2")
    assert sorted(synchronized[:2]) == ["a", "b"]
    assert synchronized[2:] == ["run", tmp_path.name]


def test_an_error_after_an_interrupt_is_the_interrupt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "interrupts", [2])
    with pytest.raises(KeyboardInterrupt), Guard("a"):
        raise RuntimeError("Link iteration failed")
    with pytest.raises(KeyboardInterrupt), aside(tmp_path / "a"):
        raise OSError("cannot close")
    assert list(tmp_path.iterdir()) == []


def test_a_kill_after_the_work_was_done_leaves_nothing_after_the_next_refusal(
    tmp_path: Path,
) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / ".run.12345678").mkdir()
    (tmp_path / ".run.12345678" / ".counterbc-lock").touch()
    with pytest.raises(FormatError, match="already exists"):
        files.check_free(tmp_path / "run")
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_leftovers_of_killed_processes_are_removed_and_those_of_others_kept(tmp_path: Path) -> None:
    write = (
        "import os, sys, time; from pathlib import Path; from counterbc.files import aside\n"
        "with aside(Path('run')) as t: t.write_text('half'); print('ready', flush=True); "
        "time.sleep(60)"
    )
    words = [sys.executable, "-c", write]
    processes = [
        subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.PIPE, text=True) for _ in range(2)
    ]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    processes[0].kill()
    processes[0].wait()
    (tmp_path / ".run.abcdefgh").mkdir()  # not locked yet
    (tmp_path / ".run.oldolder").mkdir()
    os.utime(tmp_path / ".run.oldolder", (0, 0))
    (tmp_path / ".runs").mkdir()
    files.remove_leftovers(tmp_path / "run")
    hidden = sorted(p.name for p in tmp_path.iterdir())
    assert ".runs" in hidden
    assert ".run.abcdefgh" in hidden
    assert len(hidden) == 3  # the third belongs to the process that is still writing
    processes[1].kill()
    processes[1].wait()
    with aside(tmp_path / "run") as temporary:
        temporary.write_text("whole")
    assert sorted(p.name for p in tmp_path.iterdir()) == [".run.abcdefgh", ".runs", "run"]
    for process in processes:
        assert process.stdout is not None
        process.stdout.close()


def test_a_folder_that_is_not_locked_yet_is_no_leftover(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = files._try_lock

    def lock_late(file: IO[str]) -> bool:
        monkeypatch.setattr(files, "_try_lock", lock)
        files.remove_leftovers(tmp_path / "run")  # by a process that begins at the same time
        return lock(file)

    monkeypatch.setattr(files, "_try_lock", lock_late)
    with aside(tmp_path / "run") as temporary:
        files.remove_leftovers(tmp_path / "run")
        temporary.write_text("whole")
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_without_locks_files_are_written_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "_try_lock", lambda file: False)
    with aside(tmp_path / "run") as temporary:
        files.remove_leftovers(tmp_path / "run")
        temporary.write_text("whole")
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    files.make_folder(tmp_path / "a" / "b")
    files.make_folder(tmp_path / "a" / "b")
    (tmp_path / "file").touch()
    with pytest.raises(FormatError, match=r"could not be written .* choose another folder"):
        files.make_folder(tmp_path / "file" / "study")


def test_a_reason_keeps_the_quotes_of_a_message_and_leaves_those_of_a_key_error() -> None:
    assert reason(AttributeError("'list' object has no attribute 'shape'")) == (
        "'list' object has no attribute 'shape'"
    )
    assert reason(KeyError("no group\nof this name")) == "no group"
    assert reason(ValueError()) == "ValueError"
