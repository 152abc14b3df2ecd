"""Awkward numbers through the commands: finite and sensible results, or a sentence."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np

from attack.commands import Result, run_command
from attack.part import Finding, Limits, Part, explain
from attack.rows import Row
from counterbc import Demonstrations, Episode, Policies, load, save
from counterbc.errors import CounterBCError

Array = np.ndarray[tuple[int, ...], np.dtype[np.float32]]
_PAIRS, _LENGTH = 120, 20
_TRAINING = ("--steps", 100, "--lag", 0, "--ensemble", 1, "--kernel", "torch", "--hidden", 16)
_DIAGNOSIS = ("--radius", 0.2, "--steps", 60, "--repeats", 1, "--rounds", 1, "--folds", 2)
_ONES = np.ones(2)


def _demos(obs: object, action: object, length: int = _LENGTH, **fields: object) -> Demonstrations:
    x, a = np.asarray(obs), np.asarray(action)
    episodes = tuple(
        Episode(x[i : i + length], a[i : i + length], operator=f"op{i // length % 2}")
        for i in range(0, len(x), length)
    )
    return Demonstrations(episodes, **fields)  # type: ignore[arg-type] # bounds of any kind


def _data() -> tuple[Array, Array]:
    rng = np.random.default_rng(0)
    obs = rng.normal(size=(_PAIRS, 3)).astype(np.float32)
    action = np.stack([np.tanh(obs[:, 0]), np.tanh(obs[:, 1] - obs[:, 2])], 1)
    return obs, action.astype(np.float32)


def _outlier(values: Array, number: float) -> Array:
    return np.where(np.arange(_PAIRS)[:, None] == 3, np.float32(number), values)


OBS, ACTION = _data()
_F = np.float32
DATASETS: dict[str, Callable[[], Demonstrations]] = {
    "usual": lambda: _demos(OBS, ACTION, action_low=-_ONES, action_high=_ONES),
    "constant obs": lambda: _demos(np.full_like(OBS, 5), ACTION),
    "constant actions": lambda: _demos(OBS, np.zeros_like(ACTION)),
    "obs of 1e30": lambda: _demos(OBS * _F(1e30), ACTION),
    "obs of 3e38": lambda: _demos(np.sign(OBS) * _F(3e38), ACTION),
    "one obs of 1e30": lambda: _demos(_outlier(OBS, 1e30), ACTION),
    "one action of 1e30": lambda: _demos(OBS, _outlier(ACTION, 1e30)),
    "obs at an offset of 1e8": lambda: _demos(_F(1e8) + OBS, ACTION),
    "actions at an offset of 1e8": lambda: _demos(OBS, _F(1e8) + ACTION),
    "denormal obs": lambda: _demos(OBS * _F(1e-42), ACTION),
    "denormal actions": lambda: _demos(OBS, ACTION * _F(1e-42)),
    "actions of 1e30": lambda: _demos(OBS, ACTION * _F(1e30)),
    "actions of 3e38": lambda: _demos(OBS, np.sign(ACTION) * _F(3e38)),
    "actions of 1e-30": lambda: _demos(OBS, ACTION * _F(1e-30)),
    "bounds of 1e30": lambda: _demos(
        OBS, ACTION, action_low=-1e30 * _ONES, action_high=1e30 * _ONES
    ),
    "bounds of 3e38": lambda: _demos(
        OBS, ACTION, action_low=-3e38 * _ONES, action_high=3e38 * _ONES
    ),
    "bounds of 1e-40": lambda: _demos(
        OBS, ACTION * _F(1e-40), action_low=-1e-40 * _ONES, action_high=1e-40 * _ONES
    ),
    "bounds beside the actions": lambda: _demos(
        OBS, ACTION, action_low=5 * _ONES, action_high=6 * _ONES
    ),
    "one pair": lambda: _demos(OBS[:1], ACTION[:1]),
    "two pairs": lambda: _demos(OBS[:2], ACTION[:2]),
    "equal pairs": lambda: _demos(np.repeat(OBS[:1], _PAIRS, 0), np.repeat(ACTION[:1], _PAIRS, 0)),
    "equal episodes": lambda: _demos(np.tile(OBS[:20], (6, 1)), np.tile(ACTION[:20], (6, 1))),
    "episodes of one pair": lambda: _demos(OBS, ACTION, 1),
    "opposite actions": lambda: _demos(
        np.zeros_like(OBS), np.where(np.arange(_PAIRS)[:, None] % 2, 1, -1) * np.ones_like(ACTION)
    ),
    "whole numbers": lambda: _demos(np.round(OBS * 3).astype(int), np.sign(ACTION).astype(int)),
    "1000 observations": lambda: _demos(np.tile(OBS, (1, 333)), ACTION),
    "100 actions": lambda: _demos(OBS, np.tile(ACTION, (1, 50))),
    "no actions": lambda: _demos(OBS, np.zeros((_PAIRS, 0))),
    "no observations": lambda: _demos(np.zeros((_PAIRS, 0)), ACTION),
    "float64 of 1e300": lambda: _demos(OBS.astype(np.float64) * 1e300, ACTION),
    "nan": lambda: _demos(_outlier(OBS, math.nan), ACTION),
    "inf": lambda: _demos(OBS, _outlier(ACTION, math.inf)),
}
"""Datasets by name; making one may be refused already."""


def cases(count: int, seed: int) -> list[str]:
    """Return the names of all datasets."""
    return list(DATASETS)


def run(key: str, scratch: Path) -> Row:
    """Give one dataset to the commands; what they print and write must be finite."""
    try:
        demos = DATASETS[key]()
    except CounterBCError as error:
        return Row(key, "refused", text=str(error))
    path = scratch / "d.npz"
    save(demos, path)
    results = {
        "inspect": run_command("inspect", path, "--json"),
        "score": run_command("score", path, *_DIAGNOSIS, "--kernel", "torch", "--json"),
        "intents": run_command("intents", path, "--json"),
        "clean": run_command("clean", path, *_DIAGNOSIS, "--kernel", "torch",
                             "--out", scratch / "c.npz", "--json"),
    }  # fmt: skip
    for name, options in (("bc", ("--method", "bc")), ("counter-bc", ("--radius", 0.2))):
        out = scratch / name
        results[name] = run_command("train", path, *options, *_TRAINING, "--out", out, "--json")
        if not results[name].status:
            _check_policy(key, name, out, demos)
    for name, result in results.items():
        _check_result(key, name, result)
    if not results["clean"].status and not np.isfinite(load(scratch / "c.npz").action).all():
        raise Finding("bad data", f"{key}: cleaned actions are not finite")
    statuses = {name: result.status for name, result in results.items()}
    return Row(key, "as promised", facts=statuses)


def _check_result(key: str, name: str, result: Result) -> None:
    if result.status == 0:
        json.loads(result.out, parse_constant=_refuse_constant)
    elif not (name in ("bc", "counter-bc") and result.out):  # every member diverged, which it says
        try:
            explain(result.err)
        except Finding as finding:
            raise Finding(finding.outcome, f"{key}, {name}: {finding.cause}", result.err) from None


def _refuse_constant(text: str) -> None:
    raise Finding("bad data", f"{text} in JSON")


def _check_policy(key: str, name: str, out: Path, demos: Demonstrations) -> None:
    policies = Policies.load(out)
    actions = np.array([policies[0].actor().act(obs) for obs in demos.obs[:20]])
    if not np.isfinite(actions).all():
        raise Finding("bad data", f"{key}, {name}: actions are not finite")


PART = Part(
    "numerics",
    "datasets of awkward numbers through six commands",
    cases,
    run,
    quick=1,
    full=1,
    batch=4,
    needs_bases=False,
    limits=Limits(cpu_seconds=300.0, clock_seconds=1800.0),
)
