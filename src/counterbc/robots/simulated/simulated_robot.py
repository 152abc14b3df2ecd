"""A simulated arm at its table, as the loop sees one.

The simulation is computed up to the present whenever the loop observes or commands. So it follows
the loop's clock, real or virtual, and a loop that hangs finds the arm where its last command led.
"""

from __future__ import annotations

import numpy as np

from counterbc.acting.clock import Clock
from counterbc.data.arrays import Array
from counterbc.envs.air_hockey.table import RATE, REACH_HIGH, REACH_LOW, TOP_SPEED
from counterbc.robots.limits import Limits
from counterbc.robots.robot import Reading
from counterbc.robots.simulated.arm import Arm
from counterbc.robots.simulated.rally import SimulatedRally
from counterbc.robots.simulated.scene import TIMESTEP
from counterbc.robots.simulated.sensor import Disturbances, Sensor, Tracking
from counterbc.robots.track import Track

OBS_SIZE, ACTION_SIZE = 6, 2
WORKSPACE = Limits(
    low=tuple(REACH_LOW[:, 0].tolist()), high=tuple(REACH_HIGH[:, 0].tolist()), speed=TOP_SPEED
)
"""The paddle's reach and top speed in the air hockey world."""
EXPIRY = 2
"""Periods after which the arm stops by itself if no command follows."""


class SimulatedRobot:
    """A Panda at an air hockey table in MuJoCo, with a camera above; see `Robot`."""

    limits = WORKSPACE

    def __init__(
        self, clock: Clock, seed: int = 0, disturbances: Disturbances | None = None, *,
        track: Tracking | None = None, arm: Arm | None = None, rate: float = RATE,
    ) -> None:  # fmt: skip
        self.clock, self.arm = clock, arm or Arm()
        self.rally = SimulatedRally(seed)
        self.sensor = Sensor(disturbances or Disturbances(), seed, track=track)
        self.period = 1 / rate
        self.puck = Track(self.period)
        self.arm.place(self.rally.paddle)
        self.start = clock.now()
        self._steps = 0
        self._expires_at = np.inf
        self._stop_at = np.inf  # set from any thread
        self._advance(self.start)
        self._look(self.start)

    def observe(self) -> Reading | None:
        """Return the paddle's position, and the puck's now and one period before."""
        now = self.clock.now()
        self._advance(now)
        for time, position in self.sensor.delivered(now - self.start):
            self.puck.add(time, position)
        newest = self.puck.newest
        if newest is None:
            return None
        time, position, before = newest
        paddle = self.arm.paddle
        obs = np.concatenate([paddle, position, before])
        return Reading(obs, paddle, self.start + time, position_time=now)

    def command(self, velocity: Array) -> None:
        now = self.clock.now()
        self._advance(now)
        self.arm.velocity = np.array(velocity, float)
        self._expires_at, self._stop_at = now + EXPIRY * self.period, np.inf

    def stop(self) -> None:
        self._stop_at = min(self._stop_at, self.clock.now())

    def _advance(self, now: float) -> None:
        """Compute the simulation up to a time."""
        count = int((now - self.start) / TIMESTEP + 1e-6)
        for step in range(self._steps, count):
            time = self.start + step * TIMESTEP
            if time >= min(self._expires_at, self._stop_at):
                self.arm.velocity = np.zeros(2)
            self.arm.step()
            self.rally.advance(self.arm.paddle, TIMESTEP)
            self._look(time + TIMESTEP)
        self._steps = max(self._steps, count)

    def _look(self, time: float) -> None:
        self.sensor.look(time - self.start, self.rally.puck)
