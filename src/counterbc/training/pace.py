"""How fast a training is: how many steps to take at once, and how long the rest will take."""

from __future__ import annotations

BLOCK = 0.5
"""Seconds that a block of steps should take: progress and Ctrl-C wait for its end."""
_GROWTH = 4  # how many times as long a block may be as the one before
_ENOUGH = 0.5  # seconds of measured work
_SAMPLES = 3


class Pace:
    """Measures steps, and chooses the length of the next block of them."""

    def __init__(self, longest: int) -> None:
        """`longest` is the most steps of a block."""
        self.block, self.longest = 1, longest
        self.samples, self.states, self.seconds = 0, 0.0, 0.0

    def choose_block(self, steps: int, seconds: float) -> None:
        """Choose the steps of the next block, given what the last one took."""
        fitting = int(BLOCK * steps / max(seconds, 1e-9))
        self.block = max(1, min(fitting, _GROWTH * self.block, self.longest))

    def measure(self, states: int, seconds: float) -> None:
        """Add what steps on this number of states took.

        The first sample is left out, because it includes compiling and the filling of caches.
        """
        self.samples += 1
        if self.samples > 1:
            self.states, self.seconds = self.states + states, self.seconds + seconds

    @property
    def is_known(self) -> bool:
        """Whether enough steps were measured for an estimate."""
        return self.samples > _SAMPLES and self.seconds >= _ENOUGH

    def seconds_for(self, states: float) -> float:
        """Return how long steps on this number of states will take."""
        return states * self.seconds / max(self.states, 1)
