"""How the threads wait for each other with which torch (OpenMP) and numpy (OpenBLAS) compute.

By default they spin: a thread that is done runs in a loop until the others are done as well. Where
other programs need the cores, the loop keeps the very thread from running that it waits for, and
small training steps, or small matrices, take many times as long. `benchmarks/busy.py` measures it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import MutableMapping
from functools import cache

POLICIES = ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME")
"""The variables of the environment that decide it; OpenMP reads them once, as it is loaded."""
BLAS_THREADS = ("OPENBLAS_NUM_THREADS", "GOTO_NUM_THREADS", "OMP_NUM_THREADS")
"""The variables that decide the threads of OpenBLAS, which always spin; numpy and scipy have one
library each, which reads them once, as it is loaded."""


@cache
def let_threads_sleep() -> bool:
    """Let waiting threads sleep, unless the user decided; return whether it is too late for that.

    It is where torch was imported before: its threads may spin. Only the first call decides.
    """
    return choose_policy(os.environ, "torch" in sys.modules)


def choose_policy(environment: MutableMapping[str, str], torch_is_loaded: bool) -> bool:
    """Set the policy of an environment that has none; return whether torch has read another."""
    if any(name in environment for name in POLICIES):
        return False
    environment["OMP_WAIT_POLICY"] = "PASSIVE"  # of child processes in any case
    return torch_is_loaded


def use_one_blas_thread(environment: MutableMapping[str, str]) -> None:
    """Let OpenBLAS use one thread, unless an environment has a number already.

    The command line does this before it imports numpy and scipy. Programs that import the library
    keep their threads, also for products of their own.
    """
    if not any(name in environment for name in BLAS_THREADS):
        environment["OPENBLAS_NUM_THREADS"] = "1"
