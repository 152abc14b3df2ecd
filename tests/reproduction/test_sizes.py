"""Sizes of the figures by world."""

from __future__ import annotations

from reproduction.sizes import PAPER_SIZES, usual_sizes


def test_the_paper_s_size_is_the_same_in_every_world_but_air_hockey() -> None:
    for world in ("", "cartpole", "car-racing", "push-t", "can"):
        assert usual_sizes(world, quick=False, paper_size=True) == PAPER_SIZES
    hockey = usual_sizes("air-hockey", quick=False, paper_size=True)
    assert (hockey.seeds, hockey.pairs) == (10, (200, 400, 800, 1600, 3200))
    assert hockey == usual_sizes("air-hockey", quick=False, paper_size=False)


def test_a_quick_look_is_smaller_in_every_number() -> None:
    quick = usual_sizes("cartpole", quick=True, paper_size=False)
    assert quick.seeds < PAPER_SIZES.seeds
    assert set(quick.pairs) < set(PAPER_SIZES.pairs)
    assert set(quick.radii) < set(PAPER_SIZES.radii)
