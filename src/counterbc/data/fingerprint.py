"""The fingerprint of a dataset: a hash of everything that training reads from it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from functools import cache
from typing import Any

import numpy as np

from counterbc.data.arrays import Array


def episode_digest(
    obs: Array, action: Array, reward: Array | None, images: Iterable[Array] = ()
) -> bytes:
    """Return a hash of an episode's arrays."""
    digest = hashlib.sha256(repr((obs.shape, _text(obs.dtype), action.shape)).encode())
    for values in (obs, action, reward):
        digest.update(b"" if values is None else np.ascontiguousarray(values).data)
    for image in images:
        digest.update(repr(image.shape).encode() + b"image")
        digest.update(np.ascontiguousarray(image).data)
    return digest.digest()


@cache
def _text(dtype: np.dtype[Any]) -> str:
    """Return the name of a type, which numpy takes longer to spell than to hash an episode."""
    return str(dtype)


def dataset_fingerprint(
    episodes: Iterable[tuple[bytes, str | None, bool | None]],
    *,
    low: Array | None,
    high: Array | None,
    selected: Array | None,
    action_set: str,
    actions_are: str | None = None,
    relative: str | None = None,
    angles: tuple[int, ...] = (),
) -> str:
    """Return the hash of a dataset from the digest, operator and success of each episode.

    Names of episodes and dimensions do not count, nor does a declaration that changes nothing: only
    actions that were taken may be censored, and "none" is relative to nothing.
    """
    digest = hashlib.sha256()
    for episode, operator, success in episodes:
        digest.update(episode + repr((operator, success)).encode())
    for values in (low, high, selected):
        digest.update(b"-" if values is None else values.tobytes())
    digest.update(action_set.encode())
    digest.update(b"taken" if actions_are == "taken" else b"")
    digest.update(b"" if relative in (None, "none") else f"relative {relative!r}".encode())
    digest.update(f"angles {angles}".encode() if angles else b"")
    return digest.hexdigest()[:16]
