"""How the threads of OpenMP and OpenBLAS wait for each other."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from counterbc.data.waiting import BLAS_THREADS, POLICIES, choose_policy, use_one_blas_thread

PRINT = "import os; print(os.environ['OMP_WAIT_POLICY'])"
COUNT_SCIPYS_THREADS = """
import os, numpy
before = len(os.listdir("/proc/self/task"))
import scipy.linalg
print(len(os.listdir("/proc/self/task")) - before)
"""


def environment(**policies: str) -> dict[str, str]:
    """Return the environment of this process with other policies."""
    decided = (*POLICIES, *BLAS_THREADS)
    return {k: v for k, v in os.environ.items() if k not in decided} | policies


def output(code: str, **policies: str) -> str:
    """Return what a process prints that has these policies in its environment."""
    process = subprocess.run(
        [sys.executable, "-c", code], env=environment(**policies), capture_output=True, text=True
    )
    assert process.returncode == 0, process.stderr
    return process.stdout.strip()


def test_importing_the_package_lets_waiting_threads_sleep() -> None:
    assert output(f"import counterbc; {PRINT}") == "PASSIVE"


def test_a_policy_of_the_user_stays() -> None:
    assert output(f"import counterbc; {PRINT}", OMP_WAIT_POLICY="ACTIVE") == "ACTIVE"


@pytest.mark.parametrize("name", POLICIES)
def test_any_policy_of_the_user_decides(name: str) -> None:
    chosen = {name: "7"}
    assert not choose_policy(chosen, torch_is_loaded=True)
    assert chosen == {name: "7"}


@pytest.mark.parametrize("torch_is_loaded", [False, True])
def test_threads_may_spin_where_torch_came_first(torch_is_loaded: bool) -> None:
    chosen: dict[str, str] = {}
    assert choose_policy(chosen, torch_is_loaded) is torch_is_loaded
    assert chosen == {"OMP_WAIT_POLICY": "PASSIVE"}


COMMAND = "from counterbc.cli import main; main(['inspect', 'no file'])"


def test_commands_leave_openblas_one_thread_and_the_library_decides_nothing() -> None:
    number = "import os; print(os.environ.get('OPENBLAS_NUM_THREADS'))"
    assert output(f"{COMMAND}; {number}") == "1"
    assert output(f"{COMMAND}; {number}", OPENBLAS_NUM_THREADS="2") == "2"
    assert output(f"import counterbc; {number}") == "None"


@pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="counts threads in /proc")
def test_factorizations_of_a_command_start_no_threads() -> None:
    assert output(f"{COMMAND}\n{COUNT_SCIPYS_THREADS}") == "0"


@pytest.mark.parametrize("name", BLAS_THREADS)
def test_a_number_of_threads_of_the_user_stays(name: str) -> None:
    chosen = {name: "4"}
    use_one_blas_thread(chosen)
    assert chosen == {name: "4"}
