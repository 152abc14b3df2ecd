"""Small datasets with everything recorded, what it means that two are the same, and a full disk."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import numpy as np
import pytest

from counterbc.data.demonstrations import Demonstrations, Episode

Make = Callable[..., Demonstrations]
AssertSame = Callable[[Demonstrations, Demonstrations], None]
Disk = Callable[[], AbstractContextManager[None]]
Known = tuple[int, str | None, bool | None, bool]


def _recorded(known: tuple[Known, ...], width: int, fields: dict[str, Any]) -> Demonstrations:
    """Episodes of (length, operator, success, whether rewarded), and fields beside the shared."""
    rng = np.random.default_rng(0)
    episodes = tuple(
        Episode(
            obs=rng.normal(size=(length, width)),
            action=rng.normal(size=(length, 2)),
            reward=rng.normal(size=length) if rewarded else None,
            operator=operator,
            success=success,
        )
        for length, operator, success, rewarded in known
    )
    shared: dict[str, Any] = {
        "episodes": episodes,
        "action_high": [5, 6],
        "action_set": "ball",
        "action_names": ("left", "right"),
        "env_args": {"env_name": "Lift", "type": 1, "env_kwargs": {"control_freq": 50}},
        "masks": {"train": ("demo_1", "demo_0"), "empty": (), "absent": ("demo_7",)},
        "selected": [0, 4],
    }
    return Demonstrations(**(shared | fields))


def _small(**others: Any) -> Demonstrations:
    fields: dict[str, Any] = {
        "action_low": [-5, -4],
        "obs_names": ("x", "y", "angle"),
        "obs_keys": (("position", 2), ("angle", 1)),
        "rate": 20.0,
    }
    return _recorded(((3, "ann", True, True), (2, None, None, True)), 3, fields | others)


def _uneven(**others: Any) -> Demonstrations:
    known = ((3, "ann", True, True), (2, None, None, False), (1, "bob", False, True))
    fields: dict[str, Any] = {
        "action_low": [-5, -4.1],
        "obs_names": ("x", "y", "angle", "red", "green", "blue"),
        "obs_keys": (("position", 2), ("object", 1), ("a/b", 3)),
        "rate": 12.5,
    }
    return _recorded(known, 6, fields | others)


@pytest.fixture(scope="session")
def small() -> Make:
    """Two episodes of 3 and 2 pairs, everything recorded, in names that every format can hold."""
    return _small


@pytest.fixture(scope="session")
def uneven() -> Make:
    """Three episodes of 3, 2 and 1 pairs, everything recorded somewhere, a slash in a name."""
    return _uneven


def _assert_same(a: Demonstrations, b: Demonstrations) -> None:
    assert a.fingerprint() == b.fingerprint()
    for field in ("action_names", "obs_names", "obs_keys", "rate", "env_args", "masks"):
        assert getattr(a, field) == getattr(b, field), field
    assert a.action_set == b.action_set
    for e, f in zip(a.episodes, b.episodes, strict=True):
        assert (e.name, e.operator, e.success) == (f.name, f.operator, f.success)
        assert e.obs.dtype == f.obs.dtype
        assert np.array_equal(e.obs, f.obs)
        assert np.array_equal(e.action, f.action)
        assert (e.reward is None) == (f.reward is None)
        assert e.reward is None or f.reward is None or np.array_equal(e.reward, f.reward)
    for side in ("action_low", "action_high", "selected"):
        left, right = getattr(a, side), getattr(b, side)
        assert (left is None) == (right is None)
        assert left is None or np.array_equal(left, right)


@pytest.fixture(scope="session")
def assert_same() -> AssertSame:
    return _assert_same


@contextmanager
def _disk_of_10_kb() -> Iterator[None]:
    import resource  # only POSIX has it, and most tests here do not need it

    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.fixture(scope="session")
def disk_of_10_kb() -> Disk:
    """No file can grow beyond 10 kB, as on a disk that is full; nor can the log of the tests, so
    nothing else may happen within."""
    return _disk_of_10_kb
