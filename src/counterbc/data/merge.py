"""Merge datasets into one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from counterbc.data.arrays import Array
from counterbc.data.demonstrations import Demonstrations, Episode
from counterbc.data.dimensions import dimension_text, dims_of
from counterbc.errors import DataError


def merge(datasets: Sequence[Demonstrations]) -> Demonstrations:
    """Return one dataset of all episodes; a dataset without operators becomes one operator.

    Datasets must agree on shapes and bounds. Episodes are renamed demo_0, demo_1, … if names
    collide, also in masks. Names in a mask that its dataset does not contain are dropped, because
    they could match an episode of another dataset. Datasets with different rates give one without
    a rate, and those that declare different things about their actions give one that declares
    nothing. A dimension that one of them declares an angle is one in all.
    """
    if not datasets:
        raise DataError("nothing to merge; give at least one dataset")
    if len(datasets) == 1:
        return datasets[0]
    first = datasets[0]
    for data in datasets[1:]:
        check_alike(first, data)
    names = [e.name for d in datasets for e in d.episodes]
    rename = len(set(names)) < len(names)
    episodes: list[Episode] = []
    masks: dict[str, list[str]] = {}
    pairs: list[Array] = []
    offset = 0
    operators = file_operators([d.source for d in datasets], [bool(d.operators) for d in datasets])
    for data, operator in zip(datasets, operators, strict=True):
        new_names = {}
        for e in data.episodes:
            name = f"demo_{len(episodes)}" if rename else e.name
            new_names[e.name] = name
            if e.operator is None:
                e = replace(e, operator=operator)
            episodes.append(replace(e, name=name))
        for mask, members in data.masks.items():
            masks.setdefault(mask, []).extend(new_names[m] for m in members if m in new_names)
        pairs.append(data.learned + offset)
        offset += sum(map(len, data.episodes))
    return replace(
        first,
        episodes=tuple(episodes),
        masks={m: tuple(dict.fromkeys(v)) for m, v in masks.items()},
        rate=first.rate if len({d.rate for d in datasets}) == 1 else None,
        actions_are=first.actions_are if len({d.actions_are for d in datasets}) == 1 else None,
        relative=first.relative if len({d.relative for d in datasets}) == 1 else None,
        angles=tuple(dimension_text(first, i) for d in datasets for i in dims_of(d, d.angles)),
        blind_to=tuple(dict.fromkeys(camera for d in datasets for camera in d.blind_to)),
        source=" + ".join(d.source or "memory" for d in datasets),
        selected=None if all(d.selected is None for d in datasets) else np.concatenate(pairs),
    )


def file_operators(sources: Sequence[str], has_operators: Sequence[bool]) -> list[str | None]:
    """Return an operator for each file that records none: the file's name, or its path if two
    files have the same name."""
    stems = [Path(source).stem for source in set(sources)]
    names: list[str | None] = []
    for source, recorded in zip(sources, has_operators, strict=True):
        stem = Path(source).stem
        name = stem if stems.count(stem) == 1 else source
        names.append(name if source and not recorded else None)
    return names


def check_alike(a: Demonstrations, b: Demonstrations) -> None:
    """Refuse datasets that differ in shapes, keys or bounds."""
    for label, value, expected in (
        ("observation shape", a.obs_shape, b.obs_shape),
        ("observation keys", a.obs_keys, b.obs_keys),
        ("cameras", a.cameras, b.cameras),
        ("action size", a.action_size, b.action_size),
        ("action set", a.action_set, b.action_set),
        ("action bounds", a.bounds, b.bounds),
    ):
        if value != expected:
            raise DataError(
                f"cannot merge {a.source or 'memory'} and {b.source or 'memory'}: "
                f"{label} {value} and {expected}; merge datasets that agree"
            )
