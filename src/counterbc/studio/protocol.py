"""Protocols: how long a person practises, and how much is recorded."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from counterbc.errors import unknown


@dataclass(frozen=True, kw_only=True)
class Protocol:
    """What one operator does in one world; None is no limit."""

    practice: float | None = 300.0
    """Seconds of practice, at most."""
    episodes: int | None = None
    """Episodes to record."""
    pairs: int | None = None
    """Steps to record, over all episodes."""
    episode_steps: int | None = None
    """Steps after which an episode ends; None: as many as the world allows."""

    def as_dict(self) -> dict[str, Any]:
        """Return the protocol as JSON values."""
        return asdict(self)


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Who demonstrates what, and how it is stored."""

    world: str
    operator: str
    protocol_name: str
    protocol: Protocol
    format: str = "robomimic"
    speed: float = 1.0
    """Pace of the world; below 1 it is slower than it really is."""
    consent: dict[str, str] | None = None
    """SHA-256 of the text that the operator agreed to, and when; None: nobody was asked."""


PAPER = {
    "intersection": Protocol(episodes=50),
    "cartpole": Protocol(pairs=1000),
    "air-hockey": Protocol(pairs=2400),
    "car-racing": Protocol(episodes=1, episode_steps=6000),
    "push-t": Protocol(episodes=10),
}
"""The paper's protocol: 50 interactions, 1000 steps, two minutes at 20 steps a second, one lap.
Push-T is not in the paper; it gets ten episodes."""
NOT_IN_PAPER = ("push-t",)
"""Worlds whose protocol is a preset of ours."""
FREE = Protocol(practice=None)
PROTOCOLS = ("paper", "free")


def find_protocol(name: str, world: str) -> Protocol:
    """Return a protocol by name: the paper's for this world, or one without limits."""
    if name not in PROTOCOLS:
        raise unknown("protocol", name, PROTOCOLS)
    if name == "paper":
        return PAPER[world]
    steps = PAPER[world].episode_steps
    return FREE if steps is None else Protocol(practice=None, episode_steps=steps)
