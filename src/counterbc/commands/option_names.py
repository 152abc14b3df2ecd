"""What to type instead of an option that a command does not have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from difflib import get_close_matches
from typing import Annotated, Any, cast, get_args, get_origin

from tyro.conf import Positional

_POSITIONAL = get_args(Positional[int])[1:]
FOREIGN = {
    "learning-rate": ("lr", "rate", "alpha"),
    "batch": ("batch-size", "bs", "minibatch"),
    "steps": ("epochs", "num-epochs", "n-epochs", "iterations", "iters", "num-steps", "max-steps",
              "train-steps", "updates"),
    "out": ("output", "output-dir", "out-dir", "save", "save-dir", "logdir"),
    "seeds": ("seed", "num-seeds", "n-seeds"),
    "device": ("gpu", "cuda", "cpu", "accelerator"),
    "method": ("algo", "algorithm", "agent", "loss"),
    "policy": ("model", "network", "arch", "policy-type"),
    "radius": ("delta", "eps", "epsilon"),
    "hidden": ("hidden-size", "hidden-dim", "hidden-sizes", "layers", "width", "net-arch"),
    "horizon": ("chunk-size", "chunk", "pred-horizon", "action-horizon"),
    "obs": ("obs-keys", "keys", "observation", "observations", "camera", "cameras", "image"),
    "env": ("env-id", "env-name", "environment", "task", "gym-id"),
    "episodes": ("num-episodes", "n-episodes", "eval-episodes", "rollouts", "n-rollouts"),
    "mask": ("filter-key", "split", "filter"),
    "start": ("checkpoint", "ckpt", "pretrained", "init"),
    "resume": ("continue", "restart"),
    "video": ("record", "render", "film", "gif"),
    "demos": ("data", "dataset", "datasets", "input", "file", "path"),
    "runs": ("run", "folder"),
}  # fmt: skip
"""What people type who know other programs, by the option that it is here."""


def unknown_option(command: type, prog: str, arguments: Sequence[str]) -> str:
    """Return a sentence about the first option that the command does not have; empty if none."""
    options, places = _names(command)
    for word in arguments:
        name = word.partition("=")[0].removeprefix("--").replace("_", "-")
        if word.startswith("--") and name and name not in {*options, "help"}:
            return f"{prog} has no option --{name}; {_advice(name, options, places)}{prog} --help"
    return ""


def _names(command: type) -> tuple[set[str], set[str]]:
    """Return the options of a command, and its arguments that have a place instead of a name."""
    options, places = set[str](), set[str]()
    for f in fields(command):
        kind, marks = f.type, list[Any]()
        while get_origin(kind) is Annotated:
            kind, *more = get_args(kind)
            marks += more
        if is_dataclass(kind):
            options |= _names(cast("type", kind))[0]
            continue
        name = f.metadata.get("option", f.name).replace("_", "-")
        if any(mark in _POSITIONAL for mark in marks):
            places.add(name)
        else:
            options |= {name, f"no-{name}"} if bool in (kind, *get_args(kind)) else {name}
    return options, places


def _advice(name: str, options: set[str], places: set[str]) -> str:
    """Return what to type instead, as the middle of a sentence."""
    meant = next((ours for ours, others in FOREIGN.items() if name in others), name)
    if meant in places:
        return f"give {meant.upper()} without an option name; see "
    if meant == "out" and "file" in places:
        return "give FILE without an option name; see "
    if name == "seed" and meant in options and "demos" in places:
        return "--seeds N trains N policies, with seeds 0 to N − 1; see "
    if meant in options:
        return f"did you mean --{meant}? See "
    alike = get_close_matches(name, sorted(options), n=2, cutoff=0.7)
    return f"did you mean {' or '.join(f'--{n}' for n in alike)}? See " if alike else "see "
