"""How large the studies are: as the paper's, as hardware allows, or for a quick look."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Sizes:
    """How large the studies of a world are."""

    seeds: int = 50
    episodes: int = 100
    steps: int | None = None
    """Gradient steps; None: the preset's."""
    pairs: tuple[int, ...] = (100, 200, 400, 800, 1600)
    sigmas: tuple[float, ...] = (0.0, 0.25, 0.5, 0.75, 1.0)
    radii: tuple[float, ...] = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0)
    recovery_radii: tuple[float, ...] = (0.1, 0.25, 0.5, 0.75, 1.0, 2.0)
    most_recorded: int | None = None


PAPER = Sizes()
PAPER_IN = {"air-hockey": replace(PAPER, seeds=10, pairs=(200, 400, 800, 1600, 3200))}
FULL_IN = PAPER_IN | {
    # What hardware allows where a step of the world takes long; --paper-size is the paper's.
    "car-racing": replace(
        PAPER,
        seeds=5,
        episodes=10,
        pairs=(400, 1600),
        steps=2000,
        sigmas=(0.0, 0.5, 1.0),
        radii=(0.0, 0.2, 0.4, 0.8),
    ),
    "push-t": replace(PAPER, seeds=10, episodes=50),
    "can": replace(PAPER, seeds=5, episodes=20),
}
QUICK = Sizes(
    seeds=5, episodes=20, steps=1000, pairs=(100, 400), sigmas=(0.0, 0.5, 1.0),
    radii=(0.0, 0.2, 0.4, 0.8), recovery_radii=(0.25, 0.5, 1.0), most_recorded=4000,
)  # fmt: skip
"""Minutes on two cores; too small to judge the paper by."""
QUICK_IN = {"air-hockey": replace(QUICK, seeds=4, pairs=(200, 800))}


def usual_sizes(world: str, quick: bool, paper_size: bool) -> Sizes:
    """Those of a world; by default the paper's where hardware allows it."""
    if quick:
        return QUICK_IN.get(world, QUICK)
    return (PAPER_IN if paper_size else FULL_IN).get(world, PAPER)
