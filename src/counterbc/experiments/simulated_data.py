"""Demonstrations recorded in simulation, one dataset per seed, kept while they fit in memory."""

from __future__ import annotations

from dataclasses import dataclass

from counterbc.data.demonstrations import Demonstrations
from counterbc.demonstrators import Demonstrator, demonstrate

CACHE_BYTES = 3 << 30
"""Memory for recorded demonstrations that the next cell of a study may use again."""


@dataclass(frozen=True, kw_only=True)
class SimulatedData:
    """What a teacher records in a world for each of several seeds."""

    world: str
    teacher: Demonstrator
    pairs: int
    seeds: int


_cache: dict[SimulatedData, tuple[Demonstrations, ...]] = {}


def simulated_datasets(recording: SimulatedData, pool: int = 0) -> list[Demonstrations]:
    """Return one dataset per seed.

    With a `pool`, that many pairs are recorded and `pairs` of them are drawn at random, as in the
    paper. Without one, exactly `pairs` are recorded, one episode after the other.
    """
    r = recording
    whole = SimulatedData(world=r.world, teacher=r.teacher, pairs=pool or r.pairs, seeds=r.seeds)
    datasets = _record(whole)
    return [d.sample_pairs(r.pairs, seed) if pool else d for seed, d in enumerate(datasets)]


def _record(recording: SimulatedData) -> tuple[Demonstrations, ...]:
    """Return the recording, from the cache if it is there."""
    r = recording
    _cache[r] = _cache.pop(r, ()) or tuple(
        demonstrate(r.world, r.teacher, r.pairs, seed) for seed in range(r.seeds)
    )
    while len(_cache) > 1 and sum(map(_bytes, _cache.values())) > CACHE_BYTES:
        del _cache[next(iter(_cache))]  # the least recently used
    return _cache[r]


def _bytes(datasets: tuple[Demonstrations, ...]) -> int:
    return sum(e.obs.nbytes + e.action.nbytes for d in datasets for e in d.episodes)
