"""One call of `train`: members, views of the data, and what is written of both."""

from __future__ import annotations

import platform
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np
import torch

import counterbc
from counterbc.acting.policies import Member, Policies
from counterbc.data.demonstrations import Array, Demonstrations
from counterbc.data.feasible import Everywhere, Feasible, feasible_set
from counterbc.data.scaling import Scaling
from counterbc.errors import DataError, OptionError
from counterbc.files import check_free
from counterbc.methods import Method
from counterbc.policies import Params
from counterbc.settings import Settings
from counterbc.supports import Demonstrated
from counterbc.training import checkpoints
from counterbc.training.checks import (
    Radius,
    check_needs,
    check_reads,
    fingerprint,
    labels,
    operator_names,
    radius_of,
    two_valued,
    warn_diverged,
    warn_infeasible,
)
from counterbc.training.counterfactuals import Counterfactuals
from counterbc.training.loop import Loop
from counterbc.training.network_stack import View, initial, policy_params, weighting_params
from counterbc.training.networks import networks
from counterbc.training.progress import Progress
from counterbc.training.store import Store

if TYPE_CHECKING:
    from counterbc.selection.radius import RadiusChoice


def versions(kernel: str | None = None) -> dict[str, str]:
    """Return the versions, and the kernel if given, that decide the bits of a training."""
    versions = {
        "counterbc": counterbc.__version__,
        "torch": str(torch.__version__),
        "numpy": np.__version__,
        "python": platform.python_version(),
    }
    return versions if kernel is None else versions | {"kernel": kernel}


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
        self.lists: list[Array] | None = None
        self.choices: list[RadiusChoice] = []
        self.kept_apart: list[Demonstrations] = []
        if settings.held_out:
            halves = [d.split(settings.held_out, seed=0) for d in datasets]
            self.datasets, self.kept_apart = [h[0] for h in halves], [h[1] for h in halves]
        self.operators = operator_names(self.datasets + self.kept_apart)
        check_needs(self.datasets, method)
        check_reads(self.datasets[0], method)
        warn_infeasible(self.datasets, settings)

    def assign(
        self,
        seeds: int | Sequence[int] | None = None,
        radii: Sequence[Radius] | None = None,
        keep_radius: bool = False,
    ) -> None:
        """Who the members are; `keep_radius` leaves those of `start` theirs."""
        if self.start is not None and seeds is None:
            seeds = [m.seed for m in self.start.members]
        seeds = 1 if seeds is None else seeds
        given = [int(s) for s in (range(seeds) if isinstance(seeds, SupportsIndex) else seeds)]
        if not given:
            raise OptionError(f"seeds is {seeds}; ask for 1 or more")
        if len(self.datasets) not in (1, len(given)):
            raise DataError(
                f"{len(self.datasets)} datasets for {len(given)} seeds; give one, or one per seed"
            )
        size = self.datasets[0].action_size
        fixed = self.settings.radius
        asked = [0.0 if fixed == "auto" else fixed] if radii is None else radii
        binary = two_valued(self.datasets)
        widths = [radius_of(r, size, binary) for r in asked] if self.uses_radius else []
        prints = [d.fingerprint() for d in self.datasets]
        self.members = [
            Member(seed, radius, i % len(self.datasets), prints[i % len(self.datasets)])
            for radius in widths or [(0.0,) * size]
            for i, seed in enumerate(given)
        ]
        if self.start is not None:
            self._join(self.start, keep_radius and radii is None)

    @property
    def uses_radius(self) -> bool:
        return not isinstance(self.method.support, Demonstrated)

    def choose_radii(self, device: torch.device, progress: Progress) -> None:
        """Give every member the radius that its dataset chooses."""
        from counterbc.selection.radius import radii_to_train

        if not self.uses_radius:
            return
        if self.start is not None:
            raise OptionError(
                "radius is 'auto', but policies that go on from others keep their radius; "
                "leave it out, or give a number"
            )
        method, size = (self.name, self.method), self.datasets[0].action_size
        self.choices = radii_to_train(self.datasets, method, self.settings, device, progress)
        binary = two_valued(self.datasets)
        radii = [radius_of(c.radius, size, binary) for c in self.choices]
        self.members = [replace(m, radius=radii[m.dataset]) for m in self.members]

    def assign_lists(self, members: list[Member], lists: list[Array]) -> None:
        """Members that learn from some pairs of their dataset each, given as indices into it."""
        self.members, self.lists = members, lists

    def _join(self, start: Policies, keep_radius: bool) -> None:
        """Make the members go on where those of `start` stopped."""
        if len(self.members) != len(start):
            raise OptionError(f"start has {len(start)} members; {len(self.members)} were asked for")
        if start.policy != self.method.policy or start.shards != self.method.shards:
            raise OptionError("start was trained with another policy; use the same method")
        sizes = start.obs_shape, start.action_size
        found = self.datasets[0].obs_shape, self.datasets[0].action_size
        if sizes != found:
            raise DataError(
                f"start reads {sizes[0]} and gives {sizes[1]} dimensions; these data have "
                f"{found[0]} and {found[1]}"
            )
        if keep_radius:
            self.members = [
                replace(m, radius=s.radius)
                for m, s in zip(self.members, start.members, strict=True)
            ]

    def scales(self) -> Scaling:
        """The scales of each member: (P, …)."""
        if self.start is not None:
            return self.start.scales
        s = self.settings
        each = [Scaling.fit(d, s.scale_obs, s.scale_actions) for d in self.datasets]
        return Scaling.stack([each[m.dataset] for m in self.members])

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
        self,
        datasets: list[Demonstrations],
        device: torch.device,
        dtype: torch.dtype,
        lists: list[Array] | None = None,
    ) -> View:
        """The pairs of some datasets as each network's index list; None: all that are learned."""
        # A pair lies in the store once for each way in which members scale it.
        scales, s = self.scales(), self.settings
        each = [scales[i] for i in range(len(self.members))]
        keys = [(m.dataset, x.key()) for m, x in zip(self.members, each, strict=True)]
        scaled = {k: (datasets[k[0]], x) for k, x in zip(keys, each, strict=True)}
        store, begins = Store.of(
            list(scaled.values()), dtype, s.feasible == "project",
            self.method.weighting.needs, self.operators,
        )  # fmt: skip
        begin = dict(zip(scaled, begins, strict=True))
        chosen = [datasets[k[0]].learned for k in keys] if lists is None else lists
        rows = [torch.tensor(own) + begin[k] for own, k in zip(chosen, keys, strict=True)]
        store, nets = store.to(device), networks(self.members, rows, self.method.shards).to(device)
        radius = torch.tensor([m.radius for m in self.members], device=device, dtype=dtype)
        counterfactuals = Counterfactuals(
            self.method.support, self.feasible(), nets, store.action, radius[nets.members],
            s.resample, s.memory,
        )  # fmt: skip
        return View(store, nets, self.method, counterfactuals)

    def run(
        self,
        device: torch.device,
        dtype: torch.dtype,
        out: Path | None,
        resume: bool,
        progress: Progress,
    ) -> Policies:
        state = None
        going_on = resume and out is not None and out.exists()
        if out is not None:
            checkpoints.policy_kind(self.method.policy)
            if not going_on:
                check_free(out)
        began = time.perf_counter()
        view = self.view(self.datasets, device, dtype, self.lists)
        held_out = self.view(self.kept_apart, device, dtype) if self.kept_apart else None
        loop = Loop(view, held_out, self.settings, self.fresh, out, progress)
        config = self.config(device, dtype, loop.kernel.name)
        if out is not None and going_on:
            state = checkpoints.load_state(out, config)
        view.fit()
        if held_out is not None:
            held_out.fitted = view.fitted
        if out is not None and not going_on:
            checkpoints.begin(out, config)
        params, curve = loop.run(state)
        # Acting is float32, whatever the training was.
        params = {k: v.detach().cpu().float() for k, v in params.items()}
        policies = Policies(
            self.method.policy,
            policy_params(params),
            self.scales(),
            tuple(self.members),
            self.method.shards,
            self.name,
            {**config, "seconds": round(time.perf_counter() - began, 3)},
            curve,
            weighting_params(params),
        )
        warn_diverged(policies, loop.bad_since)
        if out is not None:
            checkpoints.finish(policies, out)
        return policies

    def _radius_from(self) -> str:
        if not self.uses_radius:
            return "not used"
        return "cross-validation" if self.choices else "given"

    def fresh(self, view: View, round_: int) -> Params:
        """The parameters that a round begins with."""
        like = view.store.action
        sizes = (view.store.obs.shape[1], view.store.action.shape[1], len(self.operators))
        params = initial(self.method, view.nets, round_, *sizes)
        if self.start is not None:
            params |= {f"policy.{k}": v for k, v in self.start.params.items()}
        return {k: v.to(like) for k, v in params.items()}

    def config(self, device: torch.device, dtype: torch.dtype, kernel: str) -> dict[str, Any]:
        """Everything that decides the result."""
        first = self.datasets[0]
        return {
            "method": self.name,
            "definition": repr(self.method),
            "preset": self.preset,
            "settings": self.settings.as_dict(),
            "learning_rate": self.settings.rate(self.method.policy),
            "members": [m.name for m in self.members],
            "radius_from": self._radius_from(),
            "data": [
                {"source": d.source, "fingerprint": d.fingerprint(), "pairs": d.pairs}
                for d in self.datasets
            ],
            **labels(self.datasets + self.kept_apart, self.method),
            "env": first.env,
            "backend": first.backend,
            "obs_names": list(first.obs_names),
            "action_names": list(first.action_names),
            "two_valued": [
                n for n, b in zip(first.action_names, two_valued(self.datasets), strict=True) if b
            ],
            "device": device.type,
            "dtype": str(dtype).removeprefix("torch."),
            "kernel": kernel,
            "versions": versions(kernel),
            "radius_choices": [c.as_dict() for c in self.choices],
            "started_from": None if self.start is None else fingerprint(self.start.params),
        }
