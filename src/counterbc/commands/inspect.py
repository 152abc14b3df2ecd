"""counterbc inspect"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import RenderableType
from tyro.conf import Positional, UseAppendAction

from counterbc.commands.command import Command, Json, plain_table, read

_MOST = 40  # dimensions shown to people


@dataclass(frozen=True)
class Inspect(Command):
    """Show what is in demonstrations."""

    demos: Positional[tuple[Path, ...]]
    """Files of demonstrations; several are merged."""
    obs: UseAppendAction[tuple[str, ...]] = ()
    """Observation keys to read, one --obs each; by default all that are not images."""

    def run(self) -> tuple[Json, list[RenderableType]]:
        demos = read(self.demos, self.obs)
        lengths = [len(e) for e in demos.episodes]
        dimensions: list[dict[str, Any]] = []
        for kind, names, values in (
            ("obs", demos.obs_names, demos.obs), ("action", demos.action_names, demos.action),
        ):  # fmt: skip
            for i, name in enumerate(names):
                x = values[:, i].astype(np.float64)
                numbers = {"min": x.min(), "mean": x.mean(), "max": x.max(), "std": x.std()}
                row = {"kind": kind, "name": name, **{k: float(v) for k, v in numbers.items()}}
                dimensions.append(row)
        known = [e.success for e in demos.episodes if e.success is not None]
        said: Json = {
            "source": demos.source,
            "episodes": len(demos),
            "pairs": demos.pairs,
            "episode_length": {"min": min(lengths), "max": max(lengths)},
            "obs_shape": list(demos.obs_shape),
            "action_size": demos.action_size,
            "bounds": None
            if demos.action_low is None or demos.action_high is None
            else {"low": demos.action_low.tolist(), "high": demos.action_high.tolist()},
            "action_set": demos.action_set,
            "actions_outside_bounds": int(demos.infeasible.sum()),
            "operators": {o: sum(e.operator == o for e in demos.episodes) for o in demos.operators},
            "successes": sum(known) if known else None,
            "mean_return": demos.mean_return,
            "env": demos.env,
            "rate": demos.rate,
            "masks": {name: len(members) for name, members in demos.masks.items()},
            "dimensions": dimensions,
            "fingerprint": demos.fingerprint(),
        }
        rows = [
            (f"{d['kind']} {d['name']}", *(f"{d[k]:.4g}" for k in ("min", "mean", "max", "std")))
            for kind in ("obs", "action")
            for d in [d for d in dimensions if d["kind"] == kind][:_MOST]
        ]
        shown: list[RenderableType] = [repr(demos), ""]
        shown.append(plain_table(("dimension", "min", "mean", "max", "std"), rows))
        if len(dimensions) > len(rows):
            shown.append(f"… {len(dimensions) - len(rows)} more dimensions with --json")
        return said, shown
