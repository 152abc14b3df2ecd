"""How the rows of a claim were made where that is not the paper's way."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from counterbc.demonstrators import HUMAN_TEACHERS, NOISES
from counterbc.envs import WORLDS

OTHER_WORLDS: Mapping[str, str] = {
    "car-racing": "pedals and training",
    "push-t": "another task",
    "air-hockey": "simulated table",
}
"""Worlds that differ from the paper's, with the name of what differs."""
LATE_CROWD, QUICK_CROWD, SCATTERED_NOISE = "late crowd", "quick crowd", "scattered noise"
WHOLE_CROWD, ONE_SIZE, ONE_NOISE = "whole crowd", "400 pairs", "one noise, 5 runs"
CONVENTIONS: Mapping[str, str] = {
    QUICK_CROWD: "20 simulated operators in place of 20 people; they react sooner than people can",
    LATE_CROWD: "20 simulated operators in place of 20 people; they react as late as people",
    SCATTERED_NOISE: "pairs under noise are drawn at random from a large recording, as the paper "
    "says of its human data only",
    WHOLE_CROWD: "the crowd's pairs are those of whole episodes; the paper draws people's pairs at "
    "random",
    ONE_SIZE: "400 pairs alone, in place of five sizes",
    ONE_NOISE: "one noise alone in place of people and three noises; 5 runs in place of 50",
    "pedals and training": "σ and Δ of half the size on the pedals, learning rate 1e-4, "
    "2000 steps; 5 runs, fewer sizes and teachers",
    "another task": "a task that the paper does not have; 5 runs",
    "simulated table": "a simulated table and a simulated crowd, not an arm and people",
}
"""What each name of a difference means, in the order of the docs."""


def conventions_of(world: str, teachers: Collection[str]) -> tuple[str, ...]:
    """Return in what the rows of these teachers in a figure differ from the paper's, by name."""
    names = [OTHER_WORLDS[world]] if world in OTHER_WORLDS else []
    crowds = [LATE_CROWD if t == "crowd" else QUICK_CROWD for t in teachers if t in HUMAN_TEACHERS]
    names += dict.fromkeys(crowds)
    if is_noise_scattered(world) and any(teacher in NOISES for teacher in teachers):
        names.append(SCATTERED_NOISE)
    return tuple(names)


def is_noise_scattered(world: str) -> bool:
    """Return whether figures 4 to 6 draw the pairs under noise at random from a recording."""
    return world in WORLDS and WORLDS[world].noise_pool != 0


def convention_text(names: Collection[str]) -> str:
    """Return whose convention rows follow, with what differs in brackets."""
    return f"ours ({', '.join(names)})" if names else "the paper's"
