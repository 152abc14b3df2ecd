"""What people's recordings of Push-T are like: how they end, their radius, how people differ."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

import counterbc as cb
from counterbc.acting.act import ACTS
from counterbc.acting.actor import Acting
from counterbc.envs import make_vec
from counterbc.errors import OptionError
from reproduction.options import StudyOptions, option
from reproduction.records import computed_with, write
from reproduction.studies.push_t import OBS_KEYS, WORLD

Array = NDArray[Any]
STILL = 1.0  # pixels in a step


@dataclass(frozen=True, kw_only=True)
class PushTEvidenceOptions(StudyOptions):
    """Measure what people's recordings of Push-T are like."""

    data: Path | None = option(None, "file of demonstrations, pusht_human_206.hdf5")
    runs: tuple[Path, ...] = option((), "folders of trained policies, to see if they stand still")
    steps: int = 10_000
    device: str | None = None


def run(options: PushTEvidenceOptions) -> None:
    """Compute all numbers and write them beside the rows of the study."""
    if options.data is None:
        raise OptionError("the study needs a file of people; name it with --data")
    demos = cb.load(options.data, OBS_KEYS)
    settings: dict[str, Any] = {"device": options.device, "progress": False}
    settings |= {"steps": options.steps, "offsets": "none"}
    fine = cb.RadiusSearch(radii=(0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.4), pairs=5000)
    choices = {
        "default": cb.choose_radius(demos, **settings),
        "fine": cb.choose_radius(demos, search=fine, **settings),
    }
    off = cb.meaning(demos, radius=choices["fine"].radius, lag=0.0, **settings).residual  # (N, A)
    low, high = np.percentile(demos.action, [1, 99], axis=0)  # as the normalization has them
    numbers = {
        "shown": performance(demos),
        "still": {str(folder): standing_still(cb.Policies.load(folder)) for folder in options.runs},
        "pixels per unit": ((high - low) / 2).round(1).tolist(),
        "radius": {k: c.as_dict() for k, c in choices.items()},
        "off": float(np.sqrt((off**2).sum(1).mean())),
        "off, median": float(np.median(np.linalg.norm(off, axis=1))),
        "off, 95 %": float(np.percentile(np.linalg.norm(off, axis=1), 95)),
        "autocorrelation of off": {k: autocorrelation(demos, off, k) for k in (1, 5, 10)},
    }
    print(json.dumps(numbers, indent=1))
    write(numbers | computed_with(options.device), options.numbers(f"{WORLD}-default"))


def performance(demos: cb.Demonstrations) -> dict[str, float]:
    """Return the coverage that people reach at the end and at best, and how they move."""
    from counterbc.envs.push_t import coverage

    coverages = []
    for e in demos.episodes:
        pose = e.obs[:, 2:].astype(np.float64)  # (T, 3)
        coverages.append(
            coverage(pose[:, :2], np.stack([np.cos(pose[:, 2]), np.sin(pose[:, 2])], 1))
        )
    last, best = np.array([c[-1] for c in coverages]), np.array([c.max() for c in coverages])
    speeds = [np.linalg.norm(np.diff(e.obs[:, :2], axis=0), axis=1) for e in demos.episodes]
    ahead = np.linalg.norm(demos.action - demos.obs[:, :2], axis=1)  # (N,)
    return {
        "last": float(last.mean()),
        "best": float(best.mean()),
        "best of all": float(best.max()),
        "success": float((best > 0.95).mean()),
        "steps": float(np.mean([len(c) for c in coverages])),
        "steps that stand still": float((np.concatenate(speeds) < STILL).mean()),
        "target from the disc, median": float(np.median(ahead)),
    }


def standing_still(
    policies: cb.Policies, episodes: int = 40, last: int = 50
) -> dict[str, dict[str, float]]:
    """Return how often a run's first policy stands still, and whether it does so at the end."""
    numbers: dict[str, dict[str, float]] = {}
    for act in ACTS:
        env, acting = make_vec(WORLD, episodes), Acting(policies[0], list(range(episodes)), act, 0)
        obs, _ = env.reset(seed=1000)
        places = [obs[:, :2]]
        for _ in range(299):  # one less than an episode, so that no slot starts again
            action = acting.actions(torch.tensor(obs)[None])[0].numpy()
            obs = env.step(action)[0]
            places.append(obs[:, :2])
        speeds = np.linalg.norm(np.diff(np.array(places), axis=0), axis=2)  # (steps, episodes)
        numbers[act] = {
            "steps": float((speeds < STILL).mean()),
            "episodes, in all of the last steps": float((speeds[-last:] < STILL).all(0).mean()),
        }
    return numbers


def autocorrelation(demos: cb.Demonstrations, off: Array, lag: int) -> float:
    """Return the correlation of errors with those `lag` steps later, within episodes."""
    ends = np.cumsum([len(e) for e in demos.episodes])[:-1]
    parts = [p for p in np.split(off - off.mean(0), ends) if len(p) > lag]
    product = np.concatenate([(p[:-lag] * p[lag:]).sum(1) for p in parts])
    square = np.concatenate([(p**2).sum(1) for p in parts])
    return float(product.mean() / square.mean())
