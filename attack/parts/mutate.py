"""Damaged files of every format, runs and stopped trainings: a sentence, or the same data."""

from __future__ import annotations

import json
import random
import warnings
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from attack.bases import BASES, RESUME, Base
from attack.commands import Result, run_command
from attack.mutators import copy, damage
from attack.part import Finding, Part, explain, hides_memory
from attack.rows import UNNOTICEABLE, Row
from attack.structure import Structure
from counterbc import Demonstrations, Policies, load
from counterbc.errors import CounterBCError
from counterbc.formats import writable_formats

_CONVERT_SHARE, _TRAIN_SHARE = 0.25, 0.05
_EXPORT_SHARE, _EVALUATE_SHARE = 0.3, 0.1
_OBSERVATIONS = (0.0, 1.0, 1e6)  # that damaged policies act on
_PAIRS, _OBS_NUMBERS = 5000, 3000  # larger datasets are not trained on
_QUICK_TRAINING = ("--steps", 3, "--radius", 0.2, "--lag", 0, "--ensemble", 1, "--kernel", "torch")
_REARRANGED = ("structure", "columns exchanged", "episodes exchanged")
_BATCH = 200


def cases(count: int, seed: int) -> list[str]:
    """Return keys such as own.npz/0-17, in batches of the same base."""
    names = list(BASES)
    each = -(-count // len(names))
    keys = []
    for first in range(0, each, _BATCH):
        for name in names:
            keys += [f"{name}/{seed}-{i}" for i in range(first, min(first + _BATCH, each))]
    return keys


@dataclass(frozen=True)
class _Damaged:
    """A damaged copy of a base."""

    base: Base
    whole: Path
    path: Path
    change: str
    rng: random.Random

    @property
    def is_edited(self) -> bool:
        """Whether the structure was edited, which may give a valid file with other content."""
        return not self.change.startswith(("bytes", "folder"))


def run(key: str, scratch: Path) -> Row:
    """Damage one base and read it in every way."""
    name = key.partition("/")[0]
    base, whole, path = BASES[name], scratch.parent / "bases" / name, scratch / name
    rng = random.Random(key)
    copy(whole, path)
    change = damage(rng, path / "run" if base.kind == "training" else path)
    damaged = _Damaged(base, whole, path, change, rng)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            row = _CHECKS[base.kind](damaged, key)
    except Finding as finding:
        row = finding.row(key)
    row.facts |= {"base": name, "change": change}
    return row


def _refusal(key: str, error: CounterBCError) -> Row:
    text = str(error)
    if hides_memory(text):
        raise Finding("memory", f"{key.partition('/')[0]}: refused after memory ran out", text)
    if "\n" in text:
        raise Finding("bad message", f"more than a line: {text[:60]}", text)
    return Row(key, "refused", "", text[:400])


def _expect_sentence(result: Result) -> None:
    if result.status:
        explain(result.err)


def _check_data(damaged: _Damaged, key: str) -> Row:
    result = run_command("inspect", damaged.path, "--json")
    _expect_sentence(result)
    left_out = [] if result.status else json.loads(result.out)["left_out"]
    if not result.status:
        _expect_sentence(run_command("inspect", damaged.path))
    with warnings.catch_warnings(record=True) as messages:
        warnings.simplefilter("always")
        try:
            demos = load(damaged.path)
        except CounterBCError as error:
            return _refusal(key, error)
    _check_sane(demos)
    is_noted = bool(messages) or left_out != _left_out(damaged.whole)
    differences = _compare(damaged, demos, is_noted)
    if damaged.rng.random() < _CONVERT_SHARE:
        _convert(damaged, demos, damaged.rng.choice(writable_formats()))
    is_small = demos.pairs < _PAIRS and np.prod(demos.obs_shape) < _OBS_NUMBERS
    if is_small and damaged.rng.random() < _TRAIN_SHARE:
        out = damaged.path.parent / "trained"
        _expect_sentence(run_command("train", damaged.path, *_QUICK_TRAINING, "--out", out))
    is_rearranged = bool(set(differences) & set(_REARRANGED)) and not damaged.is_edited
    outcome = UNNOTICEABLE if is_rearranged and not is_noted else "read"
    return Row(key, outcome, facts={"differs": differences, "noted": is_noted})


def _check_sane(demos: Demonstrations) -> None:
    repr(demos)
    for episode in demos.episodes:
        arrays = [
            episode.obs,
            episode.action,
            *([] if episode.reward is None else [episode.reward]),
        ]
        if not all(np.isfinite(array).all() and len(array) == len(episode) for array in arrays):
            raise Finding("bad data", f"{demos.source}: not finite, or of different lengths")


def _compare(damaged: _Damaged, demos: Demonstrations, is_noted: bool) -> list[str]:
    """Return how the data differ from the base; damage must not rearrange them silently."""
    differences = _structure(damaged.whole).differences(Structure.of(demos))
    if not differences or damaged.is_edited:
        return differences
    name = damaged.whole.name
    if differences[0] in _REARRANGED and not is_noted and damaged.base.counts:
        raise Finding("structure", f"{name}: {differences[0]}", damaged.change)
    if damaged.base.checksums and {"numbers", "bounds"} & set(differences):
        raise Finding("numbers", f"{name}: {differences[0]}", damaged.change)
    return differences


@cache
def _structure(whole: Path) -> Structure:
    return Structure.of(load(whole))


@cache
def _left_out(whole: Path) -> list[str]:
    return list(json.loads(run_command("inspect", whole, "--json").out)["left_out"])


def _convert(damaged: _Damaged, demos: Demonstrations, format: str) -> None:
    target = damaged.path.parent / "converted"
    result = run_command("convert", damaged.path, target, "--to", format)
    _expect_sentence(result)
    if not result.status and load(target, format=format).fingerprint() != demos.fingerprint():
        raise Finding("wrong conversion", f"{damaged.whole.name} to {format}", damaged.change)


def _check_run(damaged: _Damaged, key: str) -> Row:
    try:
        policies = Policies.load(damaged.path)
    except CounterBCError as error:
        return _refusal(key, error)
    repr(policies)
    for member in range(len(policies)):
        _check_acts(policies, member, damaged)
    if damaged.rng.random() < _EXPORT_SHARE:
        _expect_sentence(run_command("export", damaged.path, damaged.path.parent / "policy.onnx"))
    if damaged.rng.random() < _EVALUATE_SHARE:
        words = ("evaluate", damaged.path, "--env", "intersection", "--episodes", 2)
        _expect_sentence(run_command(*words))
    return Row(key, "read")


def _check_acts(policies: Policies, member: int, damaged: _Damaged) -> None:
    policy = policies[member]
    for scale in _OBSERVATIONS:
        action = policy.actor().act(np.full(policy.obs_shape, scale, np.float32))
        if not np.isfinite(action).all():
            raise Finding("bad data", f"{damaged.whole.name}: an action is not finite")


def _check_training(damaged: _Damaged, key: str) -> Row:
    demos, out = damaged.path / "demos.npz", damaged.path / "run"
    result = run_command("train", demos, *RESUME, "--out", out, "--resume")
    if result.status:
        return Row(key, "refused", "", explain(result.err)[:400])
    _check_acts(Policies.load(out), 0, damaged)
    return Row(key, "read")


_CHECKS = {"data": _check_data, "run": _check_run, "training": _check_training}
PART = Part(
    "mutate",
    "damaged files, runs and stopped trainings",
    cases,
    run,
    quick=2200,
    full=20_000,
    batch=_BATCH,
)
