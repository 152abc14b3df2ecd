"""Findings are sorted by the exception and the innermost frame in the library."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from attack import causes
from counterbc.data.episode import Episode


def test_an_exception_is_placed_in_the_innermost_function_of_the_library() -> None:
    with pytest.raises(AttributeError) as info:
        Episode.__len__(3)  # type: ignore[arg-type] # on purpose
    assert causes.of_exception(info.value) == "AttributeError at data/episode.py:__len__"


def test_an_exception_outside_the_library_has_no_place() -> None:
    with pytest.raises(ValueError, match="invalid") as info:
        int("x")
    assert causes.of_exception(info.value) == "ValueError at outside the library"


def test_a_printed_traceback_has_the_same_cause() -> None:
    code = "from counterbc.data.episode import Episode; Episode.__len__(3)"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert causes.of_traceback(result.stderr) == "AttributeError at data/episode.py:__len__"


def test_a_crash_has_the_signal_and_the_innermost_frame() -> None:
    dump = (
        "Fatal Python error: Segmentation fault\n\nCurrent thread 0x1 (most recent call first):\n"
        f'  File "{Path("/x/h5py/_hl/files.py")}", line 5 in make_fid\n'
        '  File "/x/counterbc/formats/hdf5.py", line 40 in open_file\n'
        '  File "/x/counterbc/cli.py", line 9 in main\n'
    )
    assert causes.of_dump(dump) == "Segmentation fault at formats/hdf5.py:open_file"
    assert causes.of_dump("") == "outside the library"
