"""Facts beside states and actions that a weighting can ask of the data."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from counterbc.data.demonstrations import Demonstrations
from counterbc.errors import DataError


@dataclass(frozen=True)
class Need:
    """A fact that some weightings need."""

    text: str
    """The fact in words, for messages."""
    recorded: Callable[[Demonstrations], bool]
    """Whether a dataset records it."""
    label: Callable[[Sequence[Demonstrations]], Any] | None = None
    """The part of the fact that the data's fingerprint does not cover, for the configuration."""


def operator_names(datasets: Sequence[Demonstrations]) -> tuple[str, ...]:
    """Return the names of operators 0, 1, … of a population, in order of first appearance."""
    return tuple(dict.fromkeys(o for d in datasets for o in d.operators))


def expert_pairs(demos: Demonstrations) -> NDArray[np.bool_]:
    """Return whether each pair that is learned from lies in the mask 'expert': (pairs,)."""
    names = set(demos.masks.get("expert", ()))
    flags = np.concatenate([np.full(len(e), e.name in names) for e in demos.episodes])
    experts: NDArray[np.bool_] = flags[demos.learned]
    return experts


def _expert_label(datasets: Sequence[Demonstrations]) -> list[dict[str, Any]]:
    flags = [expert_pairs(d) for d in datasets]
    return [
        {"pairs": int(f.sum()), "fingerprint": hashlib.sha256(f.tobytes()).hexdigest()[:16]}
        for f in flags
    ]


NEEDS: dict[str, Need] = {
    "operators": Need(
        "operators (one named for every episode)",
        lambda demos: all(e.operator is not None for e in demos.episodes),
        lambda datasets: list(operator_names(datasets)),
    ),
    "rewards": Need(
        "rewards (one for every pair)",
        lambda demos: all(e.reward is not None for e in demos.episodes),
    ),
    "expert": Need(
        "an expert subset (a mask named 'expert', or operators given by --expert)",
        lambda demos: bool(expert_pairs(demos).any()),
        _expert_label,
    ),
}


def need_text(name: str) -> str:
    """Return the fact that a weighting needs in words."""
    return NEEDS[name].text if name in NEEDS else name


def check_needs(datasets: Sequence[Demonstrations], needs: Sequence[str]) -> None:
    """Refuse a method that needs facts which the data do not record."""
    missing = [
        need_text(name)
        for name in needs
        if name not in NEEDS or not all(map(NEEDS[name].recorded, datasets))
    ]
    if missing:
        raise DataError(
            f"this method needs {' and '.join(missing)}, which these data do not record; "
            "add them, or choose another method"
        )


def need_labels(datasets: Sequence[Demonstrations], needs: Sequence[str]) -> dict[str, Any]:
    """Return what a configuration must say about the facts that a weighting needs."""
    labels = {name: NEEDS[name].label for name in NEEDS if name in needs}
    return {name: label(datasets) for name, label in labels.items() if label is not None}
