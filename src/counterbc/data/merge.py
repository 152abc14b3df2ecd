"""Several datasets as one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from counterbc.data.demonstrations import Array, Demonstrations, Episode
from counterbc.errors import DataError


def merge(datasets: Sequence[Demonstrations]) -> Demonstrations:
    """One dataset of all episodes; where no operator is recorded the source's name stands for it.

    Datasets must agree on shapes and bounds. Episodes are renamed demo_0, demo_1, … where names
    collide, and masks follow them: a name that is absent from its own dataset is dropped, because
    it could mean another dataset's episode here.
    """
    if not datasets:
        raise DataError("nothing to merge; give at least one dataset")
    if len(datasets) == 1:
        return datasets[0]
    first = datasets[0]
    for other in datasets[1:]:
        check_alike(first, other)
    names = [e.name for d in datasets for e in d.episodes]
    rename = len(set(names)) < len(names)
    episodes: list[Episode] = []
    masks: dict[str, list[str]] = {}
    selected: list[Array] = []
    offset = 0
    whose = stand_ins([d.source for d in datasets], [bool(d.operators) for d in datasets])
    for data, operator in zip(datasets, whose, strict=True):
        renamed = {}
        for e in data.episodes:
            name = f"demo_{len(episodes)}" if rename else e.name
            renamed[e.name] = name
            who = operator if e.operator is None else e.operator
            episodes.append(replace(e, name=name, operator=who))
        for mask, members in data.masks.items():
            masks.setdefault(mask, []).extend(renamed[m] for m in members if m in renamed)
        selected.append(data.learned + offset)
        offset += sum(map(len, data.episodes))
    return replace(
        first,
        episodes=tuple(episodes),
        masks={m: tuple(dict.fromkeys(v)) for m, v in masks.items()},
        rate=first.rate if len({d.rate for d in datasets}) == 1 else None,
        source=" + ".join(d.source or "memory" for d in datasets),
        selected=None if all(d.selected is None for d in datasets) else np.concatenate(selected),
    )


def stand_ins(sources: Sequence[str], named: Sequence[bool]) -> list[str | None]:
    """The file's name for each dataset without operators; its whole path where two share a name."""
    stems = [Path(source).stem for source in set(sources)]
    names: list[str | None] = []
    for source, known in zip(sources, named, strict=True):
        stem = Path(source).stem
        own = stem if stems.count(stem) == 1 else source
        names.append(own if source and not known else None)
    return names


def check_alike(a: Demonstrations, b: Demonstrations) -> None:
    """Refuse to merge what differs in shapes, keys or bounds."""
    for what, left, right in (
        ("observation shape", a.obs_shape, b.obs_shape),
        ("observation keys", a.obs_keys, b.obs_keys),
        ("action size", a.action_size, b.action_size),
        ("action set", a.action_set, b.action_set),
        ("action bounds", a.bounds, b.bounds),
    ):
        if left != right:
            raise DataError(
                f"cannot merge {a.source or 'memory'} and {b.source or 'memory'}: "
                f"{what} {left} against {right}"
            )
