"""Malicious inputs through every command that reads them: refused, or read within bounds."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np

from attack.commands import Result, run_command
from attack.malice import INPUTS
from attack.malice.canary import SECRET, harm, plant
from attack.part import Finding, Limits, Part, explain, hides_memory
from attack.rows import Row
from counterbc import load
from counterbc.errors import CounterBCError

_TRAINING = ("--steps", 3, "--radius", 0.2, "--lag", 0, "--ensemble", 1, "--kernel", "torch")


def cases(count: int, seed: int) -> list[str]:
    """Return the names of all malicious inputs; there are as many as there are."""
    return list(INPUTS)


def run(key: str, scratch: Path) -> Row:
    """Make one input and give it to every command that reads such files."""
    place = scratch / "place"
    place.mkdir()
    (scratch / "bases").symlink_to(scratch.parent / "bases")
    plant(place)
    path = INPUTS[key](place)
    current = os.getcwd()
    os.chdir(place)  # modules beside a file must not be found
    sys.path.insert(0, "")
    try:
        results = _run_commands(path) if key.startswith("run") else _data_commands(path)
    finally:
        sys.path.remove("")
        os.chdir(current)
    for result in results:
        if result.status:
            sentence = explain(result.err)
            if hides_memory(sentence):
                raise Finding("memory", f"{key}: refused after memory ran out", sentence)
        _check_output(key, result)
    if trace := harm(place, "".join(result.out + result.err for result in results)):
        raise Finding("harm", f"{key}: {trace}")
    outcome = "refused" if results[0].status else "read"
    return Row(key, outcome, text=results[0].err[-400:])


def _data_commands(path: Path) -> list[Result]:
    out = path.parent / "out"
    out.mkdir()
    results = [
        run_command("inspect", path),
        run_command("inspect", path, "--json"),
        run_command("convert", path, out / "converted.npz"),
        run_command("train", path, *_TRAINING, "--out", out / "run"),
    ]
    if not results[-1].status:  # in the world that the file names
        results.append(run_command("evaluate", out / "run", "--episodes", 1))
    try:
        demos = load(path)
    except CounterBCError:
        return results
    if np.any(demos.action == SECRET) or np.any(demos.obs == SECRET):
        raise Finding("harm", "a secret was read", str(path))
    return results


def _run_commands(path: Path) -> list[Result]:
    return [
        run_command("evaluate", path, "--episodes", 1),
        run_command("evaluate", path, "--env", "intersection", "--episodes", 1),
        run_command("export", path, path.parent / "policy.onnx"),
    ]


def _check_output(key: str, result: Result) -> None:
    """Refuse control characters in what was printed, which a terminal would obey."""
    text = result.out + result.err
    if any(ord(c) < 32 and c not in "\n\t\r" for c in text) or "\x7f" in text:
        raise Finding("harm", f"{key}: control characters were printed", repr(text[-500:]))


PART = Part(
    "malice",
    "malicious files, folders and runs",
    cases,
    run,
    quick=1,
    full=1,
    batch=4,
    limits=Limits(cpu_seconds=60.0),
)
