"""Policies as a folder: config.json and model.safetensors; and trainings that stopped half-way."""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from counterbc.acting.policies import Curve, Member, Policies
from counterbc.data.scaling import TENSORS, Scaling
from counterbc.errors import FormatError, unknown
from counterbc.files import aside, check_free
from counterbc.policies import POLICIES, Policy

FORMAT, VERSION = "counterbc-policies", 1
_CONFIG, _MODEL, _TRAINING = "config.json", "model.safetensors", "training.safetensors"


def save(policies: Policies, folder: Path) -> None:
    """Write the folder aside, then rename it into place."""
    check_free(folder)
    with aside(folder) as temporary:
        temporary.mkdir()
        _write(policies, temporary)


def _write(policies: Policies, folder: Path) -> None:
    kind = policy_kind(policies.policy)
    config = {
        "format": FORMAT,
        "version": VERSION,
        "method": policies.method,
        "policy": {"kind": kind, **asdict(policies.policy)},
        "parts": policies.shards,
        "members": [asdict(m) for m in policies.members],
        "normalization": {
            "action_set": policies.scales.action_set,
            "scale_actions": policies.scales.scale_actions,
            "bounds_from": policies.scales.bounds_from,
        },
        "config": policies.config,
    }
    tensors = {f"policy/{k}": v for k, v in policies.params.items()}
    tensors |= {f"weighting/{k}": v for k, v in policies.weighting_params.items()}
    tensors |= {f"normalization/{n}": getattr(policies.scales, n) for n in TENSORS}
    if policies.curve is not None:
        curve = {"steps": policies.curve.steps, "loss": policies.curve.loss}
        if policies.curve.held_out is not None:
            curve["held_out"] = policies.curve.held_out
        tensors |= {f"curve/{k}": v for k, v in curve.items()}
    (folder / _CONFIG).write_text(json.dumps(config, indent=2) + "\n")
    _save_tensors(tensors, folder / _MODEL)


def _save_tensors(tensors: dict[str, Tensor], path: Path) -> None:
    try:
        save_file({k: v.detach().cpu().contiguous() for k, v in tensors.items()}, path)
        path.chmod(0o666 & ~_umask())  # safetensors writes files that only their owner reads
    except SafetensorError as error:  # how safetensors reports a write that failed
        raise OSError(str(error)) from error


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def policy_kind(policy: Policy) -> str:
    """What a policy is called in a checkpoint."""
    for name, kind in POLICIES.items():
        if type(policy) is kind:
            return name
    raise unknown("policy", type(policy).__name__, [c.__name__ for c in POLICIES.values()])


def read_config(folder: Path) -> dict[str, Any]:
    """config.json of a run, checked to be ours."""
    if not folder.is_dir():
        raise FormatError(f"{folder} is not a folder; give the folder that counterbc train wrote")
    try:
        config = json.loads((folder / _CONFIG).read_text())
    except FileNotFoundError:
        raise FormatError(f"{folder} has no {_CONFIG}; it was not written by counterbc") from None
    except (OSError, ValueError) as error:
        raise FormatError(f"{folder / _CONFIG} cannot be read ({error}); train again") from None
    if not isinstance(config, dict) or config.get("format") != FORMAT:
        raise FormatError(f"{folder} is not a counterbc run: its {_CONFIG} has another format")
    if config.get("version") != VERSION:
        raise FormatError(
            f"{folder} has version {config.get('version')}, this counterbc reads {VERSION}; "
            "train again, or install the version that wrote it"
        )
    return config


def _read_tensors(path: Path) -> dict[str, Tensor]:
    try:
        return load_file(path)
    except FileNotFoundError:
        raise FormatError(f"{path.parent} has no {path.name}; the run is incomplete") from None
    except (SafetensorError, OSError) as error:
        raise FormatError(f"{path} is damaged ({error}); train again") from None


def load(folder: Path) -> Policies:
    """Read a finished run."""
    config = read_config(folder)
    if "unfinished" in config:
        raise FormatError(
            f"{folder} holds a training that was stopped; finish it with the same command "
            "and --resume"
        )
    tensors = _read_tensors(folder / _MODEL)
    try:
        return _build(config, tensors)
    except (KeyError, TypeError, ValueError, AttributeError, RuntimeError, IndexError) as error:
        raise FormatError(
            f"{folder} is damaged: {type(error).__name__} {error}; train again"
        ) from None


def _part(tensors: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {k.removeprefix(prefix): v for k, v in tensors.items() if k.startswith(prefix)}


def _build(config: dict[str, Any], tensors: dict[str, Tensor]) -> Policies:
    spec = dict(config["policy"])
    kind = spec.pop("kind")
    if kind not in POLICIES:
        raise unknown("policy", kind, POLICIES)
    options: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in spec.items()}
    policy = POLICIES[kind](**options)
    named: dict[str, Any] = {n: tensors[f"normalization/{n}"] for n in TENSORS}
    scales = Scaling(**named, **config["normalization"])
    members = tuple(
        Member(
            int(m["seed"]), tuple(map(float, m["radius"])), int(m["dataset"]), str(m["fingerprint"])
        )
        for m in config["members"]
    )
    if not isinstance(config["config"], dict) or not isinstance(config["method"], str):
        raise TypeError("config and method are not what they should be")
    curve, params = _part(tensors, "curve/"), _part(tensors, "policy/")
    shards = int(config["parts"])
    if len(scales.obs_mean) != len(members) or not params:
        raise ValueError(f"{len(scales.obs_mean)} normalizations for {len(members)} members")
    shapes = [tuple(getattr(scales, n).shape) for n in TENSORS]
    if len(shapes[0]) != 2 or len(shapes[2]) != 2 or shapes[::2] != shapes[1::2]:
        raise ValueError(f"the normalization has shapes {shapes}")
    fresh = policy.init(torch.Generator(), scales.obs_mean.shape[1], scales.action_low.shape[1])
    wanted = {k: (len(members) * shards, *v.shape) for k, v in fresh.items()}
    if wanted != {k: tuple(v.shape) for k, v in params.items()}:
        raise ValueError("the parameters do not fit the policy")
    return Policies(
        policy, params, scales, members, shards, config["method"], config["config"],
        Curve(**curve) if curve else None, _part(tensors, "weighting/"),
    )  # fmt: skip


# Trainings that stopped half-way


def check_out(folder: Path, resume: bool, policy: Policy) -> None:
    """Refuse, before any work, a folder or a policy that a run could not be saved with."""
    policy_kind(policy)
    if not (resume and folder.exists()):
        check_free(folder)


def begin(folder: Path, config: dict[str, Any]) -> None:
    """A run folder that holds only its configuration so far."""
    with aside(folder) as temporary:
        temporary.mkdir()
        text = {"format": FORMAT, "version": VERSION, "unfinished": config}
        (temporary / _CONFIG).write_text(json.dumps(text, indent=2) + "\n")


def save_state(folder: Path, state: dict[str, Tensor]) -> None:
    """What a stopped training needs, replaced as a whole."""
    with aside(folder / _TRAINING) as temporary:
        _save_tensors(state, temporary)


def load_state(folder: Path, config: dict[str, Any]) -> dict[str, Tensor] | None:
    """The state of a stopped training with the same configuration; None before its first save."""
    found = read_config(folder)
    if "unfinished" not in found:
        raise FormatError(f"{folder} is finished already; there is nothing to resume")
    if found["unfinished"] != json.loads(json.dumps(config)):
        mine, theirs = json.loads(json.dumps(config)), found["unfinished"]
        changed = [k for k in mine if mine[k] != theirs.get(k)]
        raise FormatError(
            f"{folder} was started with another {', '.join(changed) or 'configuration'}; "
            "resume it with the same data and options, or choose another folder"
        )
    return _read_tensors(folder / _TRAINING) if (folder / _TRAINING).exists() else None


def finish(policies: Policies, folder: Path) -> None:
    """Turn an unfinished run into a finished one; stopped in between, it is still unfinished."""
    with aside(folder / _CONFIG) as config:
        _write(policies, config.parent)
        os.replace(config.parent / _MODEL, folder / _MODEL)
    (folder / _TRAINING).unlink(missing_ok=True)
