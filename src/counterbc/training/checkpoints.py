"""Trainings that are not finished: a run folder with a configuration and a training state."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import torch
from torch import Tensor

from counterbc.acting import run_folder
from counterbc.acting.policies import Policies, policy_kind
from counterbc.errors import FormatError
from counterbc.files import Guard, aside, check_free, remove_leftovers
from counterbc.kernels.registry import LIBRARIES
from counterbc.policies import Params, Policy
from counterbc.training.plan import TrainingPlan
from counterbc.training.stored_run import StoredRun

TRAINING = run_folder.TRAINING
_NESTED = {"settings": "{}", "versions": "version of {}", "data": "{} of the data"}
"""The parts of a configuration that are compared field by field, and how to name a field."""


def check_out(folder: Path, resume: bool, policy: Policy) -> None:
    """Refuse, before any work, a folder or a policy that a run cannot be saved with."""
    policy_kind(policy)
    if resume and folder.exists():
        run_folder.read_config(folder)
    else:
        check_free(folder)


def begin(folder: Path, contents: dict[str, Any]) -> None:
    """Create a run folder that holds only config.json with these contents."""
    with aside(folder) as temporary:
        temporary.mkdir()
        run_folder.write_config(temporary / run_folder.CONFIG, contents)


def unfinished(policies: Policies) -> dict[str, Any]:
    """Return config.json of a training that is not finished."""
    contents, _ = policies.contents()
    return {"unfinished": contents.pop("config"), **contents}


class Keeper(Protocol):
    """Where the state of a training is kept."""

    path: Path
    """The file of the state."""

    @property
    def hint(self) -> str:
        """What to do after a stop, as the end of a sentence."""

    def save(self, state: dict[str, Tensor], acting: Mapping[int, Params], step: int) -> None:
        """Keep the state after `step` steps.

        `acting` are the parameters that would act, now and at the steps where some members stop.
        """


class RunKeeper:
    """Keeps a training in its run folder: its state, and policies that act as it is."""

    def __init__(
        self, folder: Path, total: int, policies: Callable[[Mapping[int, Params]], Policies]
    ) -> None:
        """`policies` returns the policies with the parameters that act at some steps."""
        self.folder, self.path, self.total = folder, folder / TRAINING, total
        self.policies = policies

    @property
    def hint(self) -> str:
        """What to do after a stop."""
        can_act = (self.folder / run_folder.MODEL).exists()
        use = f"; {self.folder} can be used as it is" if can_act else ""
        return f"; to resume, give the same options and --resume{use}"

    def save(self, state: dict[str, Tensor], acting: Mapping[int, Params], step: int) -> None:
        """Replace the state that a stopped training resumes from, and what acts meanwhile."""
        save_state(self.folder, state)
        policies = self.policies(acting)
        _, tensors = policies.contents()
        tensors[run_folder.STOPPED] = torch.tensor([step, self.total])
        with aside(self.folder / run_folder.MODEL, replace=True) as temporary:
            run_folder.save_tensors(tensors, temporary)
        if "unfinished" not in run_folder.read_config(self.folder):  # a finished run is extended
            with aside(self.folder / run_folder.CONFIG, replace=True) as temporary:
                run_folder.write_config(temporary, unfinished(policies))


def save_state(folder: Path, state: dict[str, Tensor]) -> None:
    """Replace the state that a stopped training resumes from."""
    with aside(folder / TRAINING, replace=True) as temporary:
        run_folder.save_tensors(state, temporary)


def load_state(folder: Path, config: dict[str, Any]) -> dict[str, Tensor] | None:
    """Return the state of a training with the same configuration; None before its first save.

    The number of steps may be another one: the training ends earlier, or continues.
    """
    contents = run_folder.read_config(folder)
    is_finished, current = "unfinished" not in contents, json.loads(json.dumps(config))
    with Guard(folder / run_folder.CONFIG, "train again in another folder"):
        previous: dict[str, Any] = contents["config" if is_finished else "unfinished"].copy()
        old, new = (c.get("settings", {}).get("steps") for c in (previous, current))
    if is_finished and old == new:
        raise FormatError(
            f"{folder} is finished already, after {new} steps; give more --steps to train it "
            "further"
        )
    for name in ("seconds", "stopped_after"):
        previous.pop(name, None)
    if old != new:
        previous["settings"] = {**previous["settings"], "steps": new}
        previous["members"] = current["members"]
    if previous != current:
        raise _differs(folder, previous, current)
    path = folder / TRAINING
    state = run_folder.load_tensors(path) if os.path.lexists(path) else None
    if is_finished and state is None:
        raise FormatError(
            f"{folder} is finished and has no {TRAINING} to continue from; train again with "
            f"--steps {new} in another folder"
        )
    return state


def _check_steps(folder: Path, state: dict[str, Tensor], steps: int) -> None:
    """Refuse fewer steps than were taken."""
    with Guard(folder / TRAINING, "delete that file to start from the first step"):
        taken = int(state["done"])
    if taken > steps:
        raise FormatError(
            f"{folder} was trained for {taken} steps already; to keep it as it is, give --steps "
            f"{taken}, or more to train it further"
        )


def resumed_state(
    plan: TrainingPlan, folder: Path, config: dict[str, Any], stops: Sequence[int]
) -> dict[str, Tensor] | None:
    """Return the state that a training continues from, without snapshots at other steps."""
    rounds, steps, stored = plan.method.rounds, plan.settings.step_count, StoredRun.read(folder)
    if rounds > 1 and stored is not None and stored.steps != steps:
        raise FormatError(
            f"{folder} was started with {stored.steps} steps in each of {rounds} rounds, which "
            f"cannot become {steps} later; train again in another folder"
        )
    state = load_state(folder, config)
    if state is None:
        return None
    _check_steps(folder, state, steps * rounds)
    snapshots = tuple(f"snapshot/{stop}/" for stop in stops)
    return {
        name: value
        for name, value in state.items()
        if not name.startswith("snapshot/") or name.startswith(snapshots)
    }


def _differs(folder: Path, previous: dict[str, Any], current: dict[str, Any]) -> FormatError:
    """Return the error of a training that was started with another configuration."""
    with Guard(folder / run_folder.CONFIG, "train again in another folder"):
        other_settings = sorted(_settings(previous) ^ _settings(current))
        differences = _differences(previous, current)
    if other_settings:
        return FormatError(
            f"{folder} holds a training that was started by another version of counterbc, with "
            f"other settings than this one ({', '.join(other_settings)}); finish it with that "
            "version, or train again in another folder"
        )
    return FormatError(f"{folder} was started differently: {differences}")


def finish(policies: Policies, folder: Path, state: dict[str, Tensor] | None) -> None:
    """Turn an unfinished run into a finished one; interrupted in between, it stays unfinished.

    `state` is what a training of more steps would continue from; None where that is not possible.
    """
    with aside(folder / run_folder.CONFIG, replace=True) as config:
        run_folder.write(config.parent, *policies.contents())
        os.replace(config.parent / run_folder.MODEL, folder / run_folder.MODEL)
    try:
        if state is not None:
            save_state(folder, state)
    except FormatError:  # such as a full disk; the run is finished all the same
        state = None
    if state is None:
        (folder / TRAINING).unlink(missing_ok=True)
    remove_leftovers(folder / TRAINING)


def _settings(config: dict[str, Any]) -> set[str]:
    """Return the names of the settings in a configuration."""
    return set(config.get("settings", {}))


def _differences(previous: dict[str, Any], current: dict[str, Any]) -> str:
    """Return what differs between two configurations, and what to do about it."""
    changes = _changes(previous, current)
    if len(changes) > 1:
        changes.pop("definition", None)  # it follows from the other fields
    step = "resume it with the same data, options and versions"
    choices = [config.get("settings", {}).get("kernel") for config in (previous, current)]
    texts = []
    for name, (old, new) in changes.items():
        by_auto = name == "kernel" and choices[0] == choices[1]
        if by_auto and len(changes) == 1:
            missing = [x for x in LIBRARIES if x.name in str(old) and x.name not in str(new)]
            step = missing[0].install if missing else step
        was, now = _short(old), _short(new)
        if was is None or now is None:
            texts.append(f"other {name}")
        else:
            texts.append(f"{name} was {was}, here it {'would be' if by_auto else 'is'} {now}")
    texts = texts or ["other fields in config.json"]
    return "; ".join([*texts, f"{step}, or choose another folder"])


def _changes(previous: dict[str, Any], current: dict[str, Any]) -> dict[str, tuple[Any, Any]]:
    """Return the fields that differ, by name: the value before and the value now.

    A value in effect, such as that of the kernel, replaces the setting of the same name.
    """
    changes: dict[str, tuple[Any, Any]] = {}
    for key in {**previous, **current}:
        old, new = _unwrap(previous.get(key)), _unwrap(current.get(key))
        fields = {key: (old, new)}
        if key in _NESTED and isinstance(old, dict) and isinstance(new, dict):
            fields = {_NESTED[key].format(n): (old.get(n), new.get(n)) for n in {**old, **new}}
        changes |= {name: pair for name, pair in fields.items() if pair[0] != pair[1]}
    changes.pop(_NESTED["versions"].format("kernel"), None)  # a copy of the field kernel
    return changes


def _unwrap(value: Any) -> Any:
    """Return the only element of a list of one record; any other value as it is."""
    single = isinstance(value, list) and len(value) == 1 and isinstance(value[0], dict)
    return value[0] if single else value


def _short(value: Any) -> str | None:
    """Return a small value as text; None for one that is too long to show."""
    if value is None:
        return "not given"
    if isinstance(value, dict):
        return None
    if isinstance(value, list) and any(isinstance(x, str | dict | list) for x in value):
        return None
    text = repr(value) if isinstance(value, str) and " " in value else str(value)
    return text if len(text) <= 60 else None
