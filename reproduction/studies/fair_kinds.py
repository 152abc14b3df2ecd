"""The kinds of demonstrations of the study `fair`, and the demonstrations of each kind."""

from __future__ import annotations

from functools import lru_cache

from counterbc.data.demonstrations import Demonstrations
from counterbc.demonstrators import HUMAN_TEACHERS, NOISES, Teacher, demonstrate
from counterbc.envs import WORLDS
from reproduction.records import Record
from reproduction.sizes import PAPER_SIZES

CROWD, SCATTERED, WHOLE = "crowd", "scattered", "whole"


def usual_kinds(world: str, pairs: int) -> list[Record]:
    """Return the kinds of demonstrations of figures 4 and 7 with this many pairs."""
    noises = () if world == "air-hockey" else tuple(NOISES)
    ways = (WHOLE,) if WORLDS[world].noise_pool == 0 else (SCATTERED, WHOLE)
    noisy = [_kind(world, pairs, way, noise, 0.5) for way in ways for noise in noises]
    return [*noisy, *(_kind(world, pairs, way, CROWD, None) for way in (SCATTERED, WHOLE))]


def noise_kinds(world: str) -> list[Record]:
    """Return the kinds of figure 5 that figure 4 does not have."""
    if world == "air-hockey":
        return []
    way = WHOLE if WORLDS[world].noise_pool == 0 else SCATTERED
    return [_kind(world, 400, way, "uniform", s) for s in PAPER_SIZES.sigmas if s != 0.5]


def _kind(world: str, pairs: int, protocol: str, teacher: str, sigma: float | None) -> Record:
    return {"world": world, "pairs": pairs, "taken": protocol, "teacher": teacher, "sigma": sigma}


def teacher_of(about: Record) -> Teacher:
    """Return the teacher of a kind of demonstrations."""
    noise = NOISES.get(about["teacher"])
    return HUMAN_TEACHERS[about["teacher"]] if noise is None else noise(about["sigma"])


def datasets_of(about: Record, seeds: range) -> list[Demonstrations]:
    """Return the demonstrations of a kind, one dataset for each seed."""
    names = ("world", "pairs", "taken", "teacher", "sigma")
    return [_dataset(seed, *(about[name] for name in names)) for seed in seeds]


@lru_cache(maxsize=400)
def _dataset(
    seed: int, world: str, pairs: int, protocol: str, teacher: str, sigma: float | None
) -> Demonstrations:
    """Return one dataset; a worker that trains several variants on it records it once."""
    person = teacher_of({"teacher": teacher, "sigma": sigma})
    if protocol == WHOLE:
        return demonstrate(world, person, pairs, seed)
    return demonstrate(world, person, WORLDS[world].pool, seed).sample_pairs(pairs, seed)
