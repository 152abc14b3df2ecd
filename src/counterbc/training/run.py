"""Run a training plan: from members and pairs to policies."""

from __future__ import annotations

import hashlib
import platform
import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import torch

from counterbc.acting.policies import Policies
from counterbc.acting.run_config import RunConfig, keys_of
from counterbc.data.chunks import LEAST_SCALE
from counterbc.data.feasible import Everywhere, Feasible, feasible_set
from counterbc.data.lags import lagged_pairs, lags_among
from counterbc.data.needs import need_labels
from counterbc.data.offsets import remove_offsets
from counterbc.data.radii import two_valued
from counterbc.data.version import __version__
from counterbc.errors import OptionError, SlowWork
from counterbc.kernels.registry import LIBRARIES
from counterbc.policies import Params
from counterbc.supports import Demonstrated
from counterbc.training import checkpoints
from counterbc.training.checks import warn_diverged
from counterbc.training.counterfactuals import Counterfactuals
from counterbc.training.loop import Loop
from counterbc.training.mean_action import mean_action_error
from counterbc.training.networks import networks
from counterbc.training.plan import TrainingPlan
from counterbc.training.progress import Progress, Quiet
from counterbc.training.session import current_session
from counterbc.training.stacked_params import initial, policy_params, weighting_params
from counterbc.training.store import Store
from counterbc.training.view import View


def run(
    plan: TrainingPlan,
    *,
    device: torch.device,
    dtype: torch.dtype = torch.float32,
    out: Path | None = None,
    resume: bool = False,
    progress: Progress | None = None,
) -> Policies:
    """Train all members of a plan at once.

    With `out` the run is written to that folder, with checkpoints on the way. `resume` continues
    the run in that folder if it exists.
    """
    began, state = time.perf_counter(), None
    stops = [m.steps or plan.settings.step_count for m in plan.members]
    loop, held_out = plan_loop(plan, device, dtype, progress or Quiet(), stops)
    config = run_config(plan, device, dtype, loop.kernel_name)
    resume = resume and out is not None and out.exists()
    if out is not None and resume:
        state = checkpoints.resumed_state(plan, out, config.as_dict(), stops)
    fit_weighting(loop.view, held_out)

    def policies_now(acting: Mapping[int, Params]) -> Policies:
        ends = [stop if stop in acting else max(acting) for stop in stops]
        params, curve = _stopped(acting, ends, plan.method.shards), loop.curve
        return plan_policies(plan, params, config=config.as_dict(), curve=curve)

    total = plan.settings.step_count * plan.method.rounds
    if out is not None:
        loop.keeper = checkpoints.RunKeeper(out, total, policies_now)
        if not resume:
            initial = policies_now({0: loop.fresh(loop.view, 0)})
            checkpoints.begin(out, checkpoints.unfinished(initial))
        current_session().forget_searches()
    try:
        loop.run(state)
    except SlowWork:
        if out is not None and not resume:
            shutil.rmtree(out)
        raise
    if held_out is not None and plan.method.policy.has_density:
        errors = mean_action_error(loop.view, held_out).view(-1, plan.method.shards)
        current_session().mean_action_errors = errors.mean(-1).tolist()
    params = _stopped(loop.snapshots, stops, plan.method.shards)
    config = replace(config, seconds=round(time.perf_counter() - began, 3))
    policies = plan_policies(plan, params, config=config.as_dict(), curve=loop.curve)
    warn_diverged(policies, loop.bad_since)
    if out is not None:
        can_continue = plan.method.rounds == 1
        checkpoints.finish(policies, out, loop.state(total) if can_continue else None)
    return policies


def plan_loop(
    plan: TrainingPlan,
    device: torch.device,
    dtype: torch.dtype,
    progress: Progress,
    snapshots: Sequence[int],
) -> tuple[Loop, View | None]:
    """Return the loop of a plan, and its held-out pairs."""
    view = plan_view(plan, device, dtype)
    held_out = plan_view(plan, device, dtype, held_out=True) if plan.held_out else None

    def fresh(view: View, round_: int) -> Params:
        return initial_params(plan, view, round_)

    return Loop(view, held_out, plan.settings, fresh, progress, snapshots=snapshots), held_out


def fit_weighting(view: View, held_out: View | None) -> None:
    """Fit the weighting before training."""
    view.fit()
    if held_out is not None:
        held_out.fitted = view.fitted


def _stopped(snapshots: Mapping[int, Params], stops: Sequence[int], shards: int) -> Params:
    """Return the parameters of each network at the step at which its member stops."""
    networks = {s: [i for i, stop in enumerate(stops) if stop == s] for s in set(stops)}
    params = {name: value.clone() for name, value in snapshots[max(stops)].items()}
    for step, members in networks.items():
        rows = [i * shards + k for i in members for k in range(shards)]
        for name, value in snapshots[step].items():
            params[name][rows] = value[rows]
    return params


def plan_policies(plan: TrainingPlan, params: Params, **facts: Any) -> Policies:
    """Return policies with these parameters; acting is float32, whatever the training was."""
    params = {k: v.detach().cpu().float() for k, v in params.items()}
    return Policies(
        policy=plan.method.policy,
        params=policy_params(params),
        scales=plan.scales,
        members=plan.members,
        shards=plan.method.shards,
        method=plan.name,
        weighting_params=weighting_params(params),
        **facts,
    )


def plan_view(
    plan: TrainingPlan, device: torch.device, dtype: torch.dtype, *, held_out: bool = False
) -> View:
    """Return the pairs of each network: those it learns from, or those held out."""
    datasets = plan.held_out if held_out else plan.datasets
    lists = [datasets[m.dataset].learned for m in plan.members] if held_out else plan.lists
    lags = [lags_among(m.lag, plan.datasets[m.dataset], datasets[m.dataset]) for m in plan.members]
    # A pair lies in the store once for each way in which members scale it, each lag and offset.
    facts = zip(plan.members, plan.scales.keys(), lags, strict=True)
    keys = [(m.dataset, scales, lag, m.offsets) for m, scales, lag in facts]
    stores = {
        k: (remove_offsets(datasets[k[0]], k[3]), plan.scales[i], k[2])
        for k, i in {k: i for i, k in enumerate(keys)}.items()
    }
    store, begins = Store.of(
        list(stores.values()),
        dtype,
        plan.settings.feasible == "project",
        plan.method.weighting.needs,
        plan.operators,
        censored=plan.censored,
    )
    begin = dict(zip(stores, begins, strict=True))
    lists_by_key = {(id(actions), k): actions for actions, k in zip(lists, keys, strict=True)}
    rows_of = {
        (list_id, k): torch.tensor(lagged_pairs(datasets[k[0]], actions, k[2])) + begin[k]
        for (list_id, k), actions in lists_by_key.items()
    }
    rows = [rows_of[id(actions), k] for actions, k in zip(lists, keys, strict=True)]
    store = store.to(device)
    method = plan.method
    nets = networks(list(plan.members), rows, method.shards, method.disjoint).to(device)
    radii = torch.tensor([m.radius for m in plan.members], dtype=torch.float64)
    varies = plan.scales.target_scale > LEAST_SCALE  # other numbers have no counterfactuals
    radius = radii.repeat(1, method.policy.horizon) / plan.scales.target_scale * varies
    radius = radius.to(device, dtype)
    counterfactuals = Counterfactuals(
        plan.method.support,
        _feasible(plan),
        nets,
        store.action,
        radius[nets.members],
        resample=plan.settings.resample,
        memory=plan.settings.memory,
        horizon=plan.method.policy.horizon,
    )
    return View(store, nets, plan.method, counterfactuals)


def _feasible(plan: TrainingPlan) -> Feasible:
    """Return the set that counterfactuals are limited to."""
    if not plan.settings.limited:
        return Everywhere()
    if plan.scales.relative or plan.method.policy.standardizes:
        raise OptionError(
            "limiting counterfactuals to A needs actions in the scale of their bounds, not "
            "relative or standardized ones; turn off limited, or choose another policy"
        )
    low, high = plan.datasets[0].action_low, plan.datasets[0].action_high
    is_scaled = (
        low is not None and high is not None and bool((low == -1).all() and (high == 1).all())
    )
    if not plan.settings.scale_actions and not is_scaled:
        raise OptionError(
            "limiting counterfactuals to A needs scaled actions, or bounds of ±1; turn on "
            "scale_actions, or turn off limited"
        )
    return feasible_set(plan.datasets[0].action_set)


def initial_params(plan: TrainingPlan, view: View, round_: int) -> Params:
    """Return the parameters that a round begins with."""
    like = view.store.action
    sizes = (view.store.obs_size, view.store.action.shape[1], len(plan.operators))
    params = initial(plan.method, view.nets, round_, *sizes)
    if plan.start is not None:
        params |= {f"policy.{k}": v for k, v in plan.start.params.items()}
    return {k: v.to(like) for k, v in params.items()}


def run_config(
    plan: TrainingPlan, device: torch.device, dtype: torch.dtype, kernel: str
) -> RunConfig:
    """Return everything that decides the result."""
    first, needs = plan.datasets[0], plan.method.weighting.needs
    keys = tuple(key for key, _ in first.obs_keys)
    return RunConfig(
        method=plan.name,
        definition=repr(plan.method),
        preset=plan.preset,
        settings=plan.settings.as_dict(),
        learning_rate=plan.settings.rate(plan.method.policy),
        members=[m.name for m in plan.members],
        radius_from=_radius_from(plan),
        data=[
            {"source": d.source, "fingerprint": d.fingerprint(), "pairs": d.pairs}
            for d in plan.datasets
        ],
        labels=need_labels(plan.datasets + plan.held_out, needs),
        env=first.env,
        backend=first.backend,
        rate=first.rate if len({d.rate for d in plan.datasets}) == 1 else None,
        obs_names=list(first.obs_names),
        keys=[] if keys == keys_of(first.obs_names) else list(keys),
        cameras=list(first.cameras),
        image_size=list(first.image_size) if first.cameras else [],
        blind_to=list(dict.fromkeys(name for d in plan.datasets for name in d.blind_to)),
        action_names=list(first.action_names),
        two_valued=[
            n for n, b in zip(first.action_names, two_valued(plan.datasets), strict=True) if b
        ],
        device=device.type,
        dtype=str(dtype).removeprefix("torch."),
        censored=plan.censored,
        kernel=kernel,
        versions=versions(kernel),
        choices=[choice.as_dict() for choice in plan.choices],
        started_from=None if plan.start is None else _params_fingerprint(plan.start.params),
    )


def _radius_from(plan: TrainingPlan) -> str:
    if isinstance(plan.method.support, Demonstrated):
        return "not used"
    is_chosen = bool(plan.choices) and plan.settings.radius == "auto"
    return "cross-validation" if is_chosen else "given"


def versions(kernel: str | None = None) -> dict[str, str | None]:
    """Return the versions, and the kernel if given, that decide the bits of a training.

    The version of a kernel library is None where that library is not installed.
    """
    versions: dict[str, str | None] = {
        "counterbc": __version__,
        "torch": str(torch.__version__),
        "numpy": np.__version__,
        "python": platform.python_version(),
        **{x.name: version(x.name) if find_spec(x.name) else None for x in LIBRARIES},
    }
    return versions if kernel is None else versions | {"kernel": kernel}


def _params_fingerprint(params: Params) -> str:
    digest = hashlib.sha256()
    for name, value in sorted(params.items()):
        digest.update(name.encode() + value.contiguous().numpy().tobytes())
    return digest.hexdigest()[:16]
