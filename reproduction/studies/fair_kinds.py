"""The kinds of demonstrations of the study `fair`: world, pairs, protocol, teacher and σ."""

from __future__ import annotations

from counterbc.demonstrators import NOISES
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
