"""A dataset of the six Can operators in the layout of robomimic's Multi-Human file; synthetic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from counterbc import Demonstrations, Episode
from counterbc.envs.can.layout import ACTION_NAMES, OBS_KEYS, OBS_NAMES, RATE

BLOCKS = ("better_1", "worse_2", "okay_2", "better_2", "worse_1", "okay_1")
"""Operators in the order of the file."""
TIERS = ("worse", "okay", "better")
VALID_SHARE = 0.1  # of the episodes, in the masks `valid` and `…_valid`
NOTE = "scripted operators of counterbc; nobody demonstrated"


def join(episodes: Mapping[str, Sequence[Episode]]) -> Demonstrations:
    """Join the demonstrations of each operator into one dataset."""
    blocks = {b: episodes[f"synthetic_{b}"] for b in BLOCKS if f"synthetic_{b}" in episodes}
    flat = [episode for block in blocks.values() for episode in block]
    return Demonstrations(
        tuple(replace(episode, name=f"demo_{i}") for i, episode in enumerate(flat)),
        action_low=-np.ones(7),
        action_high=np.ones(7),
        actions_are="asked",
        action_names=ACTION_NAMES,
        obs_names=OBS_NAMES,
        obs_keys=OBS_KEYS,
        rate=RATE,
        env_args={
            "env_name": "PickPlaceCan",
            "env_version": "1.4.1",
            "type": 1,
            "env_kwargs": {"robots": ["Panda"], "control_freq": RATE},
            "synthetic": NOTE,
        },
        masks=masks(blocks, len(flat)),
    )


def masks(blocks: Mapping[str, Sequence[Episode]], total: int) -> dict[str, tuple[str, ...]]:
    """Return masks of tiers, pairs of tiers, operators and shares, split in train and valid too."""
    ends = np.cumsum([len(block) for block in blocks.values()])
    spans = {b: range(e - len(blocks[b]), e) for b, e in zip(blocks, ends.tolist(), strict=True)}
    subsets: dict[str, list[int]] = {}
    for tier in TIERS:
        subsets[tier] = [i for b, span in spans.items() if b.startswith(tier) for i in span]
    subsets |= {f"{a}_{b}": sorted(subsets[a] + subsets[b]) for a, b in combinations(TIERS, 2)}
    subsets |= {b.replace("_", "_operator_"): list(span) for b, span in spans.items()}
    order = np.random.default_rng(0).permutation(total).tolist()
    subsets |= {f"{p}_percent": sorted(order[: total * p // 100]) for p in (20, 50)}
    valid = set(order[-max(1, round(VALID_SHARE * total)) :])
    splits = {"train": [i for i in range(total) if i not in valid], "valid": sorted(valid)}
    for name, members in subsets.items():
        splits |= {f"{name}_train": [i for i in members if i not in valid]}
        splits |= {f"{name}_valid": [i for i in members if i in valid]}
    return {m: tuple(f"demo_{i}" for i in of) for m, of in (subsets | splits).items() if of}
