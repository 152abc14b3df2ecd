"""kill -9 at random moments, then the same command again: the same result, and no leftovers."""

from __future__ import annotations

import hashlib
import json
import random
import signal
import time
from collections.abc import Sequence
from pathlib import Path

import pyarrow.parquet as pq

from attack import processes, workload
from attack.part import COMMAND_LIMITS, Finding, Part
from attack.processes import Ending, Process
from attack.rows import Row

KINDS = ("train", "study", "convert and clean")
_WRITERS = (
    "convert to npz", "convert to robomimic", "convert to lerobot", "convert to minari", "clean",
)  # fmt: skip
_CLOCK = ("seconds", "finished", "created")  # parts of names of what depends on the clock
_SECOND_KILL_SHARE = 0.4
_TRIES = 8  # to kill a process before it ends


def cases(count: int, seed: int) -> list[str]:
    """Return `count` cases of each kind."""
    return [f"{kind}/{seed}-{i}" for i in range(count) for kind in KINDS]


def run(key: str, scratch: Path) -> Row:
    """Kill a command, once or twice, run it to its end, and compare with an undisturbed run."""
    kind, rng = key.partition("/")[0], random.Random(key)
    name = rng.choice(_WRITERS) if kind not in ("train", "study") else kind
    log, bases = scratch / "log", scratch.parent / "bases"
    whole, whole_seconds = _undisturbed(name, bases, scratch)
    out = scratch / "out"
    processes.clear(out)
    words = workload.commands(bases, out)[name]
    times = [_kill(words, log, rng, whole_seconds, out)]
    if name == "train":
        words = [*words, "--resume"]
    kept = contents(out)
    if rng.random() < _SECOND_KILL_SHARE and not _is_complete(kept, whole):
        times.append(_kill(words, log, rng, whole_seconds, None))
    ending = processes.run(words, log)
    ending.check_text()
    result = contents(out)
    if ending.status and not _says_finished(ending, result, whole):
        raise Finding("refused to finish", f"{name}: {ending.last_line[:60]}", ending.text)
    _compare(name, kept, result, whole)
    if hidden := processes.leftovers(out):
        raise Finding("leftovers", f"{name}: {hidden[0][:20]}", str(hidden))
    return Row(key, "as promised", facts={"command": name, "killed_at": times})


def _undisturbed(name: str, bases: Path, scratch: Path) -> tuple[dict[str, str], float]:
    """Return what a command writes if nothing happens, and how long it takes."""
    if name not in _references:
        out = scratch / "whole"
        processes.clear(out)
        began = time.monotonic()
        ending = processes.run(workload.commands(bases, out)[name], scratch / "log")
        if ending.status:
            raise RuntimeError(f"{name} fails without an attack: {ending.text[-500:]}")
        _references[name] = contents(out), time.monotonic() - began
    return _references[name]


_references: dict[str, tuple[dict[str, str], float]] = {}


def _kill(
    words: Sequence[object], log: Path, rng: random.Random, seconds: float, out: Path | None
) -> float:
    """Kill a command at a random moment; one that ends before is started again, if `out` is given.

    Without `out` an earlier end is accepted.
    """
    for _ in range(_TRIES):
        process = Process(words, log)
        moment = rng.uniform(0, seconds)
        time.sleep(moment)
        process.signal(signal.SIGKILL)
        if process.wait().status == -signal.SIGKILL or out is None:
            return round(moment, 3)
        processes.clear(out)
        seconds *= 0.7
    raise RuntimeError("the command always ended before it could be killed")


def _is_complete(result: dict[str, str], whole: dict[str, str]) -> bool:
    return result.keys() >= whole.keys()


def _says_finished(ending: Ending, result: dict[str, str], whole: dict[str, str]) -> bool:
    """Return whether a command refuses because the kill came after its work was done."""
    texts = ("already exists", "finished already", "nothing to resume")
    return any(text in ending.last_line for text in texts) and _is_complete(result, whole)


def _compare(
    name: str, kept: dict[str, str], result: dict[str, str], whole: dict[str, str]
) -> None:
    if wrong := sorted(file for file in whole if result.get(file) != whole[file]):
        raise Finding("different result", f"{name}: {wrong[0]}", str(wrong))
    if extra := sorted(set(result) - set(whole)):
        raise Finding("leftovers", f"{name}: {extra[0]}", str(extra))
    cells = {file: digest for file, digest in kept.items() if "/cells/" in f"/{file}"}
    if lost := sorted(file for file, digest in cells.items() if result.get(file) != digest):
        raise Finding("lost rows", f"{name}: a finished cell", str(lost))


def contents(folder: Path) -> dict[str, str]:
    """Return a digest of every visible file; what depends on the clock does not count.

    Nor does the state that a finished run would be continued from: it is written last.
    """
    paths = (path for path in sorted(folder.rglob("*")) if path.is_file())
    files = (path for path in paths if path.name != "training.safetensors")
    names = {path: path.relative_to(folder) for path in files}
    return {
        str(name): hashlib.sha256(_content(path)).hexdigest()[:12]
        for path, name in names.items()
        if not any(part.startswith(".") for part in name.parts)
    }


def _content(path: Path) -> bytes:
    if path.suffix == ".parquet":
        table = pq.read_table(path)
        names = [n for n in table.column_names if not any(word in n for word in _CLOCK)]
        return repr(table.select(names).to_pylist()).encode()
    if path.suffix == ".json":
        return json.dumps(_without_clock(json.loads(path.read_text())), sort_keys=True).encode()
    if path.suffix in (".png", ".svg"):
        return b"a picture"
    return path.read_bytes()


def _without_clock(value: object) -> object:
    if isinstance(value, dict):
        items = ((k, v) for k, v in value.items() if not any(word in k for word in _CLOCK))
        return {key: _without_clock(inner) for key, inner in items}
    return [_without_clock(inner) for inner in value] if isinstance(value, list) else value


PART = Part(
    "kills",
    "kills of `train`, of a study, of `convert` and `clean`, then the same command again",
    cases,
    run,
    quick=10,
    full=100,
    batch=30,
    limits=COMMAND_LIMITS,
)
