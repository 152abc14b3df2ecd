"""How the threads of OpenMP wait for each other."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from counterbc.data.waiting import POLICIES, choose_policy

PRINT = "import os; print(os.environ['OMP_WAIT_POLICY'])"


def environment(**policies: str) -> dict[str, str]:
    """Return the environment of this process with other policies."""
    return {k: v for k, v in os.environ.items() if k not in POLICIES} | policies


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
