"""The puck on the table of the simulated arm, and the measures of a rally.

Contacts follow the laws of the air hockey world that demonstrations come from; only the paddle's
motion is the simulated arm's. The puck is far lighter than the arm and does not push it back.
"""

from __future__ import annotations

import numpy as np

from counterbc.data.arrays import Array
from counterbc.envs.air_hockey.physics import glide, reachable, slow_down
from counterbc.envs.air_hockey.table import CENTRE, REACH_HIGH, TOUCH


class SimulatedRally:
    """A puck, the paddle that hits it, and what is counted."""

    def __init__(self, seed: int) -> None:
        """Place the paddle at random across its reach, and the puck at rest before it."""
        across, ahead, aside = np.random.default_rng(seed).uniform(size=3)
        self.paddle = np.array([0.25, REACH_HIGH[1, 0] * (2 * across - 1)])
        offset = [TOUCH + 0.05 + 0.1 * ahead, 0.04 * (2 * aside - 1)]
        self.puck = self.paddle + offset
        self.velocity: Array = np.zeros(2)
        self.hits, self.path, self.seconds = 0, 0.0, 0.0

    def advance(self, paddle: Array, seconds: float) -> None:
        """Move the puck while the paddle moves to a new place."""
        was_near = self.puck[0] <= CENTRE
        move = paddle - self.paddle
        velocity = slow_down(self.velocity[:, None], seconds / 2)
        bodies = np.concatenate([self.puck, velocity[:, 0], self.paddle, move / seconds])[:, None]
        glide(bodies, np.array([seconds]))
        self.puck = bodies[:2, 0]
        self.velocity = slow_down(bodies[2:4], seconds / 2)[:, 0]
        self.hits += int(was_near and self.puck[0] > CENTRE)
        self.path += float(np.hypot(*move))
        self.seconds += seconds
        self.paddle = paddle

    @property
    def is_over(self) -> bool:
        """Whether the puck rests where the paddle cannot touch it."""
        return not self.velocity.any() and not bool(reachable(self.puck[:, None])[0])

    @property
    def measures(self) -> dict[str, float]:
        """The paper's three measures; without a hit, the whole path and time."""
        divisor = max(self.hits, 1)
        return {
            "hits": float(self.hits),
            "distance_per_hit": self.path / divisor,
            "time_per_hit": self.seconds / divisor,
        }
