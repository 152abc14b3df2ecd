"""train(): from demonstrations and a method to policies."""

from __future__ import annotations

import platform
import time
import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

import counterbc
from counterbc.demonstrations import Demonstrations
from counterbc.errors import DataError, Diverged, InfeasibleActions, OptionError
from counterbc.feasible import Everywhere, Feasible, feasible_set
from counterbc.methods import Method, find_method
from counterbc.normalization import Normalization
from counterbc.policies import Params
from counterbc.settings import Settings, settings_for
from counterbc.supports import Demonstrated
from counterbc.trained import Member, Policies
from counterbc.training import checkpoints
from counterbc.training.counterfactuals import Counterfactuals
from counterbc.training.loop import Loop
from counterbc.training.networks import networks
from counterbc.training.population import View, initial, policy_params
from counterbc.training.progress import Bar, Progress, Quiet
from counterbc.training.store import Store

Radius = float | Sequence[float]


def train(
    demos: Demonstrations | Sequence[Demonstrations],
    method: str | Method = "counter-bc",
    *,
    seeds: int | Sequence[int] = 1,
    radii: Sequence[Radius] | None = None,
    preset: str = "default",
    start: Policies | None = None,
    device: str | torch.device | None = None,
    dtype: torch.dtype = torch.float32,
    out: str | Path | None = None,
    resume: bool = False,
    progress: bool | Progress = True,
    **changes: Any,
) -> Policies:
    """Train seeds × radii members at once.

    `demos` is one dataset for all seeds, or one dataset per seed. `changes` are fields of
    `Settings`, e.g. radius=0.3 or steps=2000. `start` continues from trained policies, their scales
    included, on new pairs. With `out` the run is written to that folder, checkpoints on the way;
    `resume=True` finishes one that was stopped.
    """
    name, chosen = find_method(method)
    settings = settings_for(preset, **changes)
    job = Job(_datasets(demos), name, settings.apply(chosen), settings, preset, start)
    job.assign(seeds, radii)
    return job.run(
        torch.device(device or ("cuda" if torch.cuda.is_available() else "cpu")),
        dtype,
        None if out is None else Path(out),
        resume,
        (Bar(f"training {name}") if progress else Quiet())
        if isinstance(progress, bool)
        else progress,
    )


def _datasets(demos: Demonstrations | Sequence[Demonstrations]) -> list[Demonstrations]:
    datasets = [demos] if isinstance(demos, Demonstrations) else list(demos)
    if not datasets:
        raise DataError("no demonstrations were given; give one dataset, or one per seed")
    first = datasets[0]
    for other in datasets[1:]:
        if (other.obs_shape, other.action_size) != (first.obs_shape, first.action_size):
            raise DataError(
                f"datasets differ: {first.obs_shape} → {first.action_size} dimensions against "
                f"{other.obs_shape} → {other.action_size}; train them apart"
            )
        if other.action_set != first.action_set:
            raise DataError("datasets differ in their action set; train them apart")
    return datasets


class Job:
    """One call of `train`, step by step."""

    def __init__(
        self,
        datasets: list[Demonstrations],
        name: str,
        method: Method,
        settings: Settings,
        preset: str,
        start: Policies | None,
    ) -> None:
        self.name, self.method, self.settings, self.preset = name, method, settings, preset
        self.start, self.datasets = start, datasets
        self.kept_apart: list[Demonstrations] = []
        if settings.held_out:
            halves = [d.split(settings.held_out, seed=0) for d in datasets]
            self.datasets, self.kept_apart = [h[0] for h in halves], [h[1] for h in halves]
        _check_needs(self.datasets[0], method)
        _warn_infeasible(self.datasets, settings)

    def assign(self, seeds: int | Sequence[int], radii: Sequence[Radius] | None) -> None:
        """Who the members are."""
        given = list(range(seeds)) if isinstance(seeds, int) else [int(s) for s in seeds]
        if self.start is not None:
            given = [m.seed for m in self.start.members]
        if not given:
            raise OptionError("no seeds were given; ask for 1 or more")
        if len(self.datasets) not in (1, len(given)):
            raise DataError(
                f"{len(self.datasets)} datasets for {len(given)} seeds; give one, or one per seed"
            )
        size = self.datasets[0].action_size
        uses_radius = not isinstance(self.method.support, Demonstrated)
        widths = (
            [_radius(r, size) for r in (radii or [self.settings.radius])] if uses_radius else []
        )
        prints = [d.fingerprint() for d in self.datasets]
        self.members = [
            Member(seed, radius, i % len(self.datasets), prints[i % len(self.datasets)])
            for radius in widths or [(0.0,) * size]
            for i, seed in enumerate(given)
        ]
        if self.start is not None and len(self.members) != len(self.start):
            raise OptionError(
                f"start has {len(self.start)} members; {len(self.members)} were asked for"
            )

    def scales(self) -> Normalization:
        """The scales of each member: (P, …)."""
        if self.start is not None:
            return self.start.scales
        s = self.settings
        each = [Normalization.fit(d, s.scale_obs, s.scale_actions) for d in self.datasets]
        return Normalization.stack([each[m.dataset] for m in self.members])

    def feasible(self) -> Feasible:
        """A as the counterfactuals see it."""
        if not self.settings.limited:
            return Everywhere()
        low, high = self.datasets[0].action_low, self.datasets[0].action_high
        unit = (
            low is not None and high is not None and bool((low == -1).all() and (high == 1).all())
        )
        if not self.settings.scale_actions and not unit:
            raise OptionError("limiting counterfactuals to A needs scaled actions, or bounds of ±1")
        return feasible_set(self.datasets[0].action_set)

    def view(
        self, datasets: list[Demonstrations], device: torch.device, dtype: torch.dtype
    ) -> View:
        """The pairs of some datasets as each network's index list."""
        store, begins = Store.of(datasets, dtype)
        lists = [
            torch.tensor(datasets[m.dataset].learned) + begins[m.dataset] for m in self.members
        ]
        nets = networks(self.members, lists, self.method.parts).to(device)
        scales = self.scales().map(lambda x: x.to(device, dtype)[nets.members])
        if self.settings.feasible == "project":
            store = replace(store, action=self._projected(datasets, store.action))
        radius = torch.tensor([m.radius for m in self.members], device=device, dtype=dtype)

        def counterfactuals(action: Tensor) -> Counterfactuals:
            s = self.settings
            return Counterfactuals(
                self.method.support, self.feasible(), nets, action, radius[nets.members],
                s.resample, s.memory,
            )  # fmt: skip

        return View(store.to(device), nets, scales, self.method, counterfactuals)

    def _projected(self, datasets: list[Demonstrations], action: Tensor) -> Tensor:
        scales, out, begin = self.scales(), action.clone(), 0
        for i, data in enumerate(datasets):
            row = next(k for k, m in enumerate(self.members) if m.dataset == i)
            end = begin + len(data.action)
            out[begin:end] = scales[row].project(action[None, begin:end])[0]
            begin = end
        return out

    def run(
        self,
        device: torch.device,
        dtype: torch.dtype,
        out: Path | None,
        resume: bool,
        progress: Progress,
    ) -> Policies:
        config = self.config(device, dtype)
        state = None
        if out is not None:
            if resume and out.exists():
                state = checkpoints.load_state(out, config)
            else:
                checkpoints.begin(out, config)
        began = time.perf_counter()
        view = self.view(self.datasets, device, dtype)
        held_out = self.view(self.kept_apart, device, dtype) if self.kept_apart else None
        loop = Loop(view, held_out, self.settings, self.fresh, out, progress)
        params, curve = loop.run(state)
        policies = Policies(
            self.method.policy,
            {k: v.detach().cpu() for k, v in policy_params(params).items()},
            self.scales(),
            tuple(self.members),
            self.method.parts,
            self.name,
            {**config, "seconds": round(time.perf_counter() - began, 3)},
            curve,
        )
        _warn_diverged(policies, loop.bad_since)
        if out is not None:
            checkpoints.finish(policies, out)
        return policies

    def fresh(self, view: View, round_: int) -> Params:
        """The parameters that a round begins with."""
        like = view.store.obs
        sizes = (view.store.obs.shape[1], view.store.action.shape[1])
        params = initial(self.method, view.nets, round_, *sizes)
        if self.start is not None:
            if self.start.policy != self.method.policy or self.start.parts != self.method.parts:
                raise OptionError("start was trained with another policy; use the same method")
            params |= {f"policy.{k}": v for k, v in self.start.params.items()}
        return {k: v.to(like) for k, v in params.items()}

    def config(self, device: torch.device, dtype: torch.dtype) -> dict[str, Any]:
        """Everything that decides the result."""
        first = self.datasets[0]
        return {
            "method": self.name,
            "definition": repr(self.method),
            "preset": self.preset,
            "settings": self.settings.as_dict(),
            "members": [m.name for m in self.members],
            "radius_from": "not used" if isinstance(self.method.support, Demonstrated) else "given",
            "data": [
                {"source": d.source, "fingerprint": d.fingerprint(), "pairs": d.pairs}
                for d in self.datasets
            ],
            "env": first.env,
            "obs_names": list(first.obs_names),
            "action_names": list(first.action_names),
            "device": device.type,
            "dtype": str(dtype).removeprefix("torch."),
            "versions": {
                "counterbc": counterbc.__version__,
                "torch": str(torch.__version__),
                "numpy": np.__version__,
                "python": platform.python_version(),
            },
            "started_from": None if self.start is None else self.start.config.get("members"),
        }


def _radius(radius: Radius, size: int) -> tuple[float, ...]:
    values = (
        (float(radius),) * size if isinstance(radius, (int, float)) else tuple(map(float, radius))
    )
    if len(values) != size:
        raise OptionError(f"{len(values)} radii for {size} action dimensions; give 1 or {size}")
    if not all(np.isfinite(v) and v >= 0 for v in values):
        raise OptionError(f"radius is {radius}; it must be 0 or more (0 is plain behavior cloning)")
    return values


def _check_needs(demos: Demonstrations, method: Method) -> None:
    has = {
        "operators": bool(demos.operators),
        "rewards": all(e.reward is not None for e in demos.episodes),
    }
    missing = [need for need in method.weighting.needs if not has.get(need, False)]
    if missing:
        raise DataError(
            f"this method needs {' and '.join(missing)}, which these data do not record"
        )


def _warn_infeasible(datasets: list[Demonstrations], settings: Settings) -> None:
    outside = sum(int(d.infeasible[d.learned].sum()) for d in datasets)
    if outside:
        total = sum(d.pairs for d in datasets)
        done = "kept as they are" if settings.feasible == "keep" else "moved to the nearest bound"
        warnings.warn(
            f"{outside} of {total} actions lie outside the declared bounds; they are {done} "
            "(feasible=project or keep decides)",
            InfeasibleActions,
            stacklevel=4,
        )


def _warn_diverged(policies: Policies, bad_since: dict[int, int]) -> None:
    if not policies.diverged.any():
        return
    first: dict[int, int] = {}
    for net, step in bad_since.items():
        member = net // policies.parts
        first[member] = min(step, first.get(member, step))
    told = "; ".join(
        f"member {i} ({m.name})" + (f" by step {first[i]}" if i in first else "")
        for i, m in enumerate(policies.members)
        if policies.diverged[i]
    )
    warnings.warn(f"diverged, the others are not affected: {told}", Diverged, stacklevel=4)
