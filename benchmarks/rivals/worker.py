"""Serve one rival: prepare its methods, take their steps, and say how long that took.

    python -m benchmarks.rivals.worker MODULE PROBLEM.npz

Requests and answers are lines of JSON. The process sleeps between them, so that rivals take turns.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import time
import traceback
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks.rivals.problem import Problem, Variant


def cpu_seconds() -> float:
    """Return the processor time of this process, its threads and its finished children."""
    kinds = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    usages = [resource.getrusage(kind) for kind in kinds]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def measure_time(function: Callable[[], Any]) -> dict[str, float]:
    """Return wall and processor seconds of a call."""
    wall, cpu = time.perf_counter(), cpu_seconds()
    function()
    return {"wall": time.perf_counter() - wall, "cpu": cpu_seconds() - cpu}


class Server:
    """The variants of one rival."""

    def __init__(self, module: str, problem: Problem) -> None:
        self.module, self.problem = module, problem
        self.variants: dict[str, Variant] = {}

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """Return what was asked for: `prepare`, `run` or `losses` of a variant."""
        name, steps = request["variant"], request.get("steps", 0)
        if request["do"] == "prepare":

            def prepare() -> None:
                rival, _, method = name.partition(": ")
                rivals = import_module(f"benchmarks.rivals.{self.module}").RIVALS
                self.variants[name] = rivals[rival](self.problem, method)
                self.variants[name].run(steps)

            seconds = measure_time(prepare)
            variant = self.variants[name]
            return seconds | {"models": variant.models, "kernel": variant.kernel}
        variant = self.variants[name]
        if request["do"] == "run":
            return measure_time(lambda: variant.run(steps))
        return {"losses": None if variant.losses is None else [float(x) for x in variant.losses()]}


def main() -> None:
    """Answer requests until there are no more."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print goes to stderr
    server = Server(sys.argv[1], Problem.load(Path(sys.argv[2])))
    for line in sys.stdin:
        try:
            answer = server.answer(json.loads(line))
        except Exception as error:  # the other rivals still run
            traceback.print_exc()
            answer = {"error": f"{type(error).__name__}: {error}".splitlines()[0]}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
