"""The simulated camera: pictures at a rate, late, noisy, and at times missing."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from counterbc.data.arrays import Array
from counterbc.errors import OptionError

Tracking = Callable[[Array], "Array | None"]
"""Returns where a tracker sees a puck (2,), or None where it does not."""


@dataclass(frozen=True, kw_only=True)
class Disturbances:
    """What goes wrong between puck and policy."""

    delay: float = 0.01
    """Seconds from a picture to its tracked position."""
    delay_spread: float = 0.0
    """Largest further delay, in seconds, drawn for each picture."""
    dropped: float = 0.0
    """Share of pictures that are lost."""
    noise: float = 0.0
    """Standard deviation of the tracked position along each axis, in metres."""
    lost_after: float = np.inf
    """Seconds after which the camera delivers nothing."""

    def __post_init__(self) -> None:
        numbers = np.array([self.delay, self.delay_spread, self.noise])
        is_usable = np.isfinite(numbers).all() and (numbers >= 0).all() and self.lost_after >= 0
        if not (is_usable and 0 <= self.dropped < 1):
            raise OptionError(
                f"the disturbances are {self}; delays and noise are finite numbers of at least 0, "
                "lost_after is at least 0, and the share of dropped pictures is at least 0 and "
                "below 1"
            )


class Sensor:
    """Takes pictures of the puck `rate` times a second and delivers its tracked positions."""

    def __init__(
        self, disturbances: Disturbances, seed: int, *, rate: float = 60.0,
        track: Tracking | None = None,
    ) -> None:  # fmt: skip
        self.disturbances, self.period, self.track = disturbances, 1 / rate, track
        self._generator = np.random.default_rng([seed, 1])
        self._count = 0
        self._pictures: deque[tuple[float, float, Array]] = deque()  # delivery, time, position

    def look(self, time: float, puck: Array) -> None:
        """Take the picture that is due by a time, if one is."""
        if time < self._count * self.period:
            return
        self._count += 1
        draws = self._generator.random(2)
        noise = self._generator.standard_normal(2)
        d = self.disturbances
        if draws[0] < d.dropped or time >= d.lost_after:
            return
        position = puck if self.track is None else self.track(puck)
        if position is not None:
            delivery = time + d.delay + d.delay_spread * draws[1]
            self._pictures.append((delivery, time, position + d.noise * noise))

    def delivered(self, now: float) -> list[tuple[float, Array]]:
        """Return times and positions that have arrived since the last call, in order."""
        arrived = []
        while self._pictures and self._pictures[0][0] <= now:
            _, time, position = self._pictures.popleft()
            arrived.append((time, position))
        return arrived
