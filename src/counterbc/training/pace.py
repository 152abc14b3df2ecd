"""How fast a training is: how many steps to take at once, and how long the rest will take."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable

BLOCK = 0.5
"""Seconds that a block of steps should take: progress and Ctrl-C wait for its end."""
_GROWTH = 4  # how many times as long a block may be as the one before
_ENOUGH = 3.0  # seconds of measured work: other programs take turns with this one
_SAMPLES = 3
_LONG_SAMPLE = 6.0  # seconds of a sample that is enough alone


class Pace:
    """Measures steps, and chooses the length of the next block of them."""

    def __init__(self, longest: int, networks: Iterable[tuple[str, int]] = (("", 1),)) -> None:
        """`longest` is the most steps of a block; `networks` are kernels, each with a number of
        networks that it trains, since one kernel may be several times as fast as another."""
        self.block, self.longest = 1, longest
        self.networks: Counter[str] = Counter()
        for kernel, count in networks:
            self.networks[kernel] += count
        self.began = time.process_time()
        self.warm: set[str] = set()
        self.samples: dict[str, list[tuple[float, int]]] = {name: [] for name in self.networks}
        """Seconds per state, and the number of states, of each sample of each kernel."""

    def choose_block(self, steps: int, seconds: float) -> None:
        """Choose the steps of the next block, given what the last one took."""
        fitting = int(BLOCK * steps / max(seconds, 1e-9))
        self.block = max(1, min(fitting, _GROWTH * self.block, self.longest))

    def measure(self, states: int, seconds: float, kernel: str = "") -> None:
        """Add what steps on this number of states took.

        A kernel's first sample is left out, because it includes compiling and filling caches.
        """
        if kernel in self.warm:
            self.samples[kernel].append((seconds / max(states, 1), states))
        self.warm.add(kernel)

    @property
    def is_known(self) -> bool:
        """Whether enough steps were measured for an estimate."""
        samples = [rate * states for part in self.samples.values() for rate, states in part]
        is_enough = len(samples) >= _SAMPLES and sum(samples) >= _ENOUGH
        return all(self.samples.values()) and (is_enough or max(samples) >= _LONG_SAMPLE)

    @property
    def states(self) -> int:
        """The number of states of all measured steps."""
        return sum(count for part in self.samples.values() for _, count in part)

    @property
    def mean(self) -> float:
        """Seconds per state of all measured steps."""
        return self._weigh(_mean)

    @property
    def alone(self) -> float:
        """About how many seconds a state takes on a CPU where no other programs take turns.

        Threads that work at once make processor time longer than this, and waiting makes it shorter
        than the time on the clock.
        """
        return min(self.mean, (time.process_time() - self.began) / max(self.states, 1))

    def seconds_for(self, states: float) -> float:
        """Return how long steps on this number of states will take at the present load.

        Half of a kernel's measured states took less, so one pause of the whole machine changes
        little.
        """
        return states * self._weigh(_median)

    def seconds_for_later(self, states: float, timed: float) -> float:
        """Return how long later work on this number of states will take.

        `timed` is what it takes for a state on an idle CPU; 0 where that is as long as for the
        measured states. The load slows it down as much as it does the measured work.
        """
        if not timed:
            return self.seconds_for(states)
        return states * timed * max(1.0, self.seconds_for(1) / self.alone)

    def _weigh(self, rate: Callable[[list[tuple[float, int]]], float]) -> float:
        """Return the seconds per state, averaged over the kernels that were measured."""
        rates = {name: rate(samples) for name, samples in self.samples.items() if samples}
        whole = sum(self.networks[name] for name in rates)
        return sum(self.networks[name] * rates[name] for name in rates) / max(whole, 1)


def _mean(samples: list[tuple[float, int]]) -> float:
    """Return the seconds per state of all samples."""
    return sum(rate * n for rate, n in samples) / max(sum(n for _, n in samples), 1)


def _median(samples: list[tuple[float, int]]) -> float:
    """Return the seconds per state that half of the states took at most."""
    half, seen = sum(n for _, n in samples) / 2, 0
    for rate, count in sorted(samples):
        seen += count
        if seen >= half:
            return rate
    return 0.0
