"""The attack survives what it tests: crashes, hangs, memory, exceptions; and it resumes."""

from __future__ import annotations

import faulthandler
import os
import signal
import time
from pathlib import Path

import pytest

from attack.part import Finding, Limits, Part
from attack.rows import Row, RowFile
from attack.runner import in_child, run_part

KEYS = ["good", "crash", "hang", "wait", "memory", "raise", "exit", "found", "last"]


def _run(key: str, scratch: Path) -> Row:
    (scratch / "file").write_text(key)
    if key == "crash":
        os.kill(os.getpid(), signal.SIGSEGV)
    elif key == "hang":
        while True:
            pass
    elif key == "wait":
        time.sleep(60)
    elif key == "memory":
        return Row(key, "read", facts={"size": len(bytearray(400 * 2**20))})
    elif key == "raise":
        raise ValueError(key)
    elif key == "exit":
        os._exit(7)
    elif key == "found":
        raise Finding("bad data", "a cause")
    return Row(key, "read")


def _part(memory: int = 2 * 2**30) -> Part:
    limits = Limits(cpu_seconds=3, clock_seconds=8, memory=memory)
    return Part(
        "part", "a part", lambda count, seed: KEYS, _run, quick=1, full=1, batch=4, limits=limits
    )


def test_a_case_that_ends_while_its_worker_is_stopped_keeps_its_row(tmp_path: Path) -> None:
    def run(key: str, scratch: Path) -> Row:
        if key == "late":
            signal.signal(signal.SIGUSR1, lambda *_: None)  # asked what it does just before a kill
            time.sleep(0.4)
        return Row(key, "read")

    limits = Limits(cpu_seconds=5, clock_seconds=0.2)
    keys = ["late", "next"]
    part = Part("part", "a part", lambda count, seed: keys, run, quick=1, full=1, limits=limits)
    run_part(part, keys, tmp_path, workers=1)
    assert [(r.key, r.outcome) for r in RowFile(tmp_path, "part").rows()] == [
        ("late", "read"), ("next", "read")
    ]  # fmt: skip


@pytest.mark.slow
def test_every_case_gets_a_row_whatever_happens_in_it(tmp_path: Path) -> None:
    run_part(_part(200 * 2**20 + _resident(tmp_path)), KEYS, tmp_path, workers=2)
    rows = {row.key: row for row in RowFile(tmp_path, "part").rows()}
    assert {key: row.outcome for key, row in rows.items()} == {
        "good": "read", "crash": "crash", "hang": "hang", "wait": "hang", "memory": "memory",
        "raise": "traceback", "exit": "crash", "found": "bad data", "last": "read",
    }  # fmt: skip
    assert rows["crash"].cause == "SIGSEGV: Segmentation fault at outside the library"
    assert rows["exit"].cause.startswith("exit 7")
    assert rows["raise"].cause == "ValueError at outside the library"
    assert rows["memory"].megabytes > 400
    assert sorted(path.name for path in tmp_path.iterdir()) == ["part.jsonl"]


def test_a_crash_is_named_where_a_library_has_replaced_the_handlers(tmp_path: Path) -> None:
    def run_cases() -> None:
        faulthandler.enable()
        signal.signal(signal.SIGSEGV, signal.SIG_DFL)  # as Ray does, with a handler of its own
        run_part(_part(), ["crash"], tmp_path, workers=1)

    in_child(run_cases)
    (row,) = RowFile(tmp_path, "part").rows()
    assert row.cause == "SIGSEGV: Segmentation fault at outside the library"


def _resident(folder: Path) -> int:
    """Return the resident bytes of a child, which maps fewer pages than this process."""
    statm = folder / "statm"
    in_child(lambda: statm.write_text(Path("/proc/self/statm").read_text()))
    pages = int(statm.read_text().split()[1])
    statm.unlink()
    return pages * os.sysconf("SC_PAGE_SIZE")


def test_a_second_run_only_computes_what_has_no_row(tmp_path: Path) -> None:
    rows = RowFile(tmp_path, "part")
    rows.add(Row("good", "read", text="from before"))
    run_part(_part(), ["good", "last"], tmp_path, workers=1)
    assert [(row.key, row.text) for row in rows.rows()] == [("good", "from before"), ("last", "")]


def test_a_function_in_a_child_leaves_only_its_files(tmp_path: Path) -> None:
    in_child(lambda: (tmp_path / "made").write_text("x"))
    assert (tmp_path / "made").exists()
    with pytest.raises(RuntimeError, match="could not be made"):
        in_child(lambda: 1 / 0)
