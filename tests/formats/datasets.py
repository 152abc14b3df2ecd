"""Small datasets with everything recorded, a comparison of two datasets, and a full disk."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from counterbc.data.demonstrations import Demonstrations, Episode

Description = tuple[int, str | None, bool | None, bool]
"""Length, operator, success, and whether there are rewards."""


def small(**fields: Any) -> Demonstrations:
    """Return two episodes of 3 and 2 pairs, with names that every format can store."""
    defaults: dict[str, Any] = {
        "action_low": [-5, -4],
        "obs_names": ("x", "y", "angle"),
        "obs_keys": (("position", 2), ("angle", 1)),
        "rate": 20.0,
    }
    return _dataset(((3, "ann", True, True), (2, None, None, True)), 3, defaults | fields)


def uneven(**fields: Any) -> Demonstrations:
    """Return three episodes that differ in what is recorded; one key has a slash in its name."""
    episodes = ((3, "ann", True, True), (2, None, None, False), (1, "bob", False, True))
    defaults: dict[str, Any] = {
        "action_low": [-5, -4.1],
        "obs_names": ("x", "y", "angle", "red", "green", "blue"),
        "obs_keys": (("position", 2), ("object", 1), ("a/b", 3)),
        "rate": 12.5,
    }
    return _dataset(episodes, 6, defaults | fields)


def _dataset(
    descriptions: tuple[Description, ...], width: int, fields: dict[str, Any]
) -> Demonstrations:
    rng = np.random.default_rng(0)
    episodes = tuple(
        Episode(
            obs=rng.normal(size=(length, width)),
            action=rng.normal(size=(length, 2)),
            reward=rng.normal(size=length) if has_reward else None,
            operator=operator,
            success=success,
        )
        for length, operator, success, has_reward in descriptions
    )
    defaults: dict[str, Any] = {
        "episodes": episodes,
        "action_high": [5, 6],
        "action_set": "ball",
        "actions_are": "taken",
        "relative": "position",
        "angles": ("angle",),
        "action_names": ("left", "right"),
        "env_args": {"env_name": "Lift", "type": 1, "env_kwargs": {"control_freq": 50}},
        "masks": {"train": ("demo_1", "demo_0"), "empty": (), "absent": ("demo_7",)},
        "selected": [0, 4],
    }
    return Demonstrations(**(defaults | fields))


def assert_same(a: Demonstrations, b: Demonstrations) -> None:
    """Compare everything that a dataset knows, except for its source."""
    assert a.fingerprint() == b.fingerprint()
    for field in (
        "actions_are",
        "relative",
        "angles",
        "action_names",
        "obs_names",
        "obs_keys",
        "cameras",
        "rate",
        "env_args",
        "masks",
    ):
        assert getattr(a, field) == getattr(b, field), field
    assert a.action_set == b.action_set
    for e, f in zip(a.episodes, b.episodes, strict=True):
        assert (e.name, e.operator, e.success) == (f.name, f.operator, f.success)
        assert e.obs.dtype == f.obs.dtype
        assert np.array_equal(e.obs, f.obs)
        assert np.array_equal(e.action, f.action)
        for camera, image in e.images.items():
            assert np.array_equal(image, f.images[camera])
        assert (e.reward is None) == (f.reward is None)
        assert e.reward is None or f.reward is None or np.array_equal(e.reward, f.reward)
    for side in ("action_low", "action_high", "selected"):
        left, right = getattr(a, side), getattr(b, side)
        assert (left is None) == (right is None)
        assert left is None or np.array_equal(left, right)


@contextmanager
def disk_of_10_kb() -> Iterator[None]:
    """Let no file grow beyond 10 kB, as on a full disk; pytest's log cannot grow either."""
    import resource  # only on POSIX, and most tests do not need it

    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
