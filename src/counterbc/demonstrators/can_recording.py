"""What the six operators show, in the layout of robomimic's Multi-Human file; all synthetic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from counterbc.data.demonstrations import Demonstrations
from counterbc.data.episode import Array, Episode
from counterbc.demonstrators.can_operators import OPERATORS, Performance
from counterbc.envs.can.layout import ACTION_NAMES, OBS_KEYS, OBS_NAMES, RATE, STEPS
from counterbc.envs.can.simulator import Simulator

EACH = 50
"""Demonstrations of an operator."""
BLOCKS = ("better_1", "worse_2", "okay_2", "better_2", "worse_1", "okay_1")
"""Whose demonstrations follow each other in the file."""
TIERS = ("worse", "okay", "better")
ATTEMPTS = 50
VALID = 0.1  # share of the episodes in masks that end so
ABOUT = "scripted operators of counterbc; nobody demonstrated"


def perform(simulator: Simulator, name: str, number: int) -> Episode:
    """The demonstration of this number by an operator: their first attempt at it that succeeds.

    A function of operator and number alone.
    """
    who = OPERATORS[name]
    for attempt in range(ATTEMPTS):
        key = [list(OPERATORS).index(name), number, attempt]
        start = int(np.random.SeedSequence(key).generate_state(1, np.uint64)[0])
        episode = _attempt(simulator, Performance(who, key), start)
        if episode.success:
            return replace(episode, operator=name)
    raise RuntimeError(f"{name} failed {ATTEMPTS} times at demonstration {number}")


def _attempt(simulator: Simulator, performance: Performance, start: int) -> Episode:
    state = simulator.start(start)
    obs, success = simulator.observe(state)
    seen: list[Array] = []
    taken: list[Array] = []
    while not success and len(taken) < STEPS:
        action = performance.act(obs).astype(np.float32)
        seen.append(obs)
        taken.append(action)
        state = simulator.advance(state, action)
        obs, success = simulator.observe(state)
    reward = np.zeros(len(taken))
    reward[-1] = success
    return Episode(np.stack(seen), np.stack(taken), reward, success=success)


def join(shown: Mapping[str, Sequence[Episode]]) -> Demonstrations:
    """One dataset of the demonstrations of each operator."""
    blocks = {b: shown[f"synthetic_{b}"] for b in BLOCKS if f"synthetic_{b}" in shown}
    episodes = [e for block in blocks.values() for e in block]
    named = tuple(replace(e, name=f"demo_{i}") for i, e in enumerate(episodes))
    return Demonstrations(
        named,
        action_low=-np.ones(7),
        action_high=np.ones(7),
        action_names=ACTION_NAMES,
        obs_names=OBS_NAMES,
        obs_keys=OBS_KEYS,
        rate=RATE,
        env_args={
            "env_name": "PickPlaceCan",
            "env_version": "1.4.1",
            "type": 1,
            "env_kwargs": {"robots": ["Panda"], "control_freq": RATE},
            "synthetic": ABOUT,
        },
        masks=masks(blocks, len(named)),
    )


def masks(blocks: Mapping[str, Sequence[Episode]], total: int) -> dict[str, tuple[str, ...]]:
    """Tiers, pairs of tiers, operators and shares, each also split in train and valid."""
    ends = np.cumsum([len(block) for block in blocks.values()])
    spans = {b: range(e - len(blocks[b]), e) for b, e in zip(blocks, ends.tolist(), strict=True)}
    found: dict[str, list[int]] = {}
    for tier in TIERS:
        found[tier] = [i for b, span in spans.items() if b.startswith(tier) for i in span]
    found |= {f"{a}_{b}": sorted(found[a] + found[b]) for a, b in combinations(TIERS, 2)}
    found |= {b.replace("_", "_operator_"): list(span) for b, span in spans.items()}
    order = np.random.default_rng(0).permutation(total).tolist()
    found |= {f"{p}_percent": sorted(order[: total * p // 100]) for p in (20, 50)}
    valid = set(order[-max(1, round(VALID * total)) :])
    kept = {"train": [i for i in range(total) if i not in valid], "valid": sorted(valid)}
    for name, of in list(found.items()):
        kept |= {f"{name}_train": [i for i in of if i not in valid]}
        kept |= {f"{name}_valid": [i for i in of if i in valid]}
    return {m: tuple(f"demo_{i}" for i in of) for m, of in (found | kept).items() if of}
