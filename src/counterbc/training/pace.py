"""How fast a training is: how many steps to take at once, and how long the rest will take."""

from __future__ import annotations

BLOCK = 0.5
"""Seconds that a block of steps should take: progress and Ctrl-C wait for its end."""
_GROWTH = 4  # how many times as long a block may be as the one before
_ENOUGH = 3.0  # seconds of measured work: other programs take turns with this one
_SAMPLES = 3


class Pace:
    """Measures steps, and chooses the length of the next block of them."""

    def __init__(self, longest: int) -> None:
        """`longest` is the most steps of a block."""
        self.block, self.longest = 1, longest
        self.is_warm = False
        self.samples: list[tuple[float, int]] = []
        """Seconds per state, and the number of states, of each sample."""

    def choose_block(self, steps: int, seconds: float) -> None:
        """Choose the steps of the next block, given what the last one took."""
        fitting = int(BLOCK * steps / max(seconds, 1e-9))
        self.block = max(1, min(fitting, _GROWTH * self.block, self.longest))

    def measure(self, states: int, seconds: float) -> None:
        """Add what steps on this number of states took.

        The first sample is left out, because it includes compiling and the filling of caches.
        """
        if self.is_warm:
            self.samples.append((seconds / max(states, 1), states))
        self.is_warm = True

    @property
    def is_known(self) -> bool:
        """Whether enough steps were measured for an estimate."""
        seconds = sum(rate * states for rate, states in self.samples)
        return len(self.samples) >= _SAMPLES and seconds >= _ENOUGH

    @property
    def mean(self) -> float:
        """Seconds per state of all measured steps."""
        states = sum(n for _, n in self.samples)
        return sum(rate * n for rate, n in self.samples) / max(states, 1)

    def seconds_for(self, states: float) -> float:
        """Return how long steps on this number of states will take at the present load.

        Half of the measured states took less, so one pause of the whole machine changes little.
        """
        half, seen = sum(n for _, n in self.samples) / 2, 0
        for rate, count in sorted(self.samples):
            seen += count
            if seen >= half:
                return states * rate
        return 0.0
