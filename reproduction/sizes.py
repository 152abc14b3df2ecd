"""Sizes of the figures: the paper's, what hardware allows, or a quick look."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Sizes:
    """Numbers of runs, starts, steps and points in one world."""

    seeds: int = 50
    episodes: int = 100
    steps: int | None = None
    """Gradient steps; None for those of the preset."""
    pairs: tuple[int, ...] = (100, 200, 400, 800, 1600)
    sigmas: tuple[float, ...] = (0.0, 0.25, 0.5, 0.75, 1.0)
    radii: tuple[float, ...] = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0)
    recovery_radii: tuple[float, ...] = (0.1, 0.25, 0.5, 0.75, 1.0, 2.0)
    largest_pool: int | None = None


PAPER_SIZES = Sizes()
PAPER_SIZES_IN = {"air-hockey": replace(PAPER_SIZES, seeds=10, pairs=(200, 400, 800, 1600, 3200))}
FULL_SIZES_IN = PAPER_SIZES_IN | {
    # Smaller where a step of the world takes long; --paper-size overrides it.
    "car-racing": replace(
        PAPER_SIZES,
        seeds=5,
        episodes=10,
        pairs=(400, 1600),
        steps=2000,
        sigmas=(0.0, 0.5, 1.0),
        radii=(0.0, 0.2, 0.4, 0.8),
    ),
    "push-t": replace(PAPER_SIZES, seeds=10, episodes=50),
    "can": replace(PAPER_SIZES, seeds=5, episodes=20),
}
QUICK_SIZES = Sizes(
    seeds=5, episodes=20, steps=1000, pairs=(100, 400), sigmas=(0.0, 0.5, 1.0),
    radii=(0.0, 0.2, 0.4, 0.8), recovery_radii=(0.25, 0.5, 1.0), largest_pool=4000,
)  # fmt: skip
"""Minutes on two cores; too small for verdicts on the paper."""
QUICK_SIZES_IN = {"air-hockey": replace(QUICK_SIZES, seeds=4, pairs=(200, 800))}


def usual_sizes(world: str, quick: bool, paper_size: bool) -> Sizes:
    """Return the sizes of a world; by default the paper's, where hardware allows them."""
    if quick:
        return QUICK_SIZES_IN.get(world, QUICK_SIZES)
    return (PAPER_SIZES_IN if paper_size else FULL_SIZES_IN).get(world, PAPER_SIZES)
