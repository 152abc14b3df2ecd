"""A simulated Panda whose end effector follows planar velocities.

Cartesian velocity control runs at every step of the physics. With the Jacobian J of the paddle,

    q̇* = J⁺ (ẋ* + K e) + N (q₀ − q)        ẋ* the command, e the error of pose
    τ = M (q̇* − q̇) / T_v + h(q, q̇)         M the mass matrix, h gravity and Coriolis forces

where N projects on what does not move the paddle. Torques are cut at the limits of the model's
motors. Along x and y, e is how far the paddle is behind where the commands lead.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from counterbc.data.arrays import Array
from counterbc.robots.simulated.scene import HEIGHT, PADDLE_SITE, TIMESTEP, build, library

VELOCITY_TIME = 0.02
"""T_v: seconds in which a difference of joint velocities falls to 1/e."""
STIFFNESS, PULL, POSTURE = 20.0, 4.0, 2.0
"""K of height and tilt, K along x and y, and the pull to the first posture, per second."""
LEAD = 0.02
"""Metres by which the commands may lead the paddle; without motion they do not."""
SMALL = 1e-4
"""Damping of the pseudo-inverse J⁺, so that it stays bounded near a singular posture."""
READY = (0.0, 0.2, 0.0, -2.3, 0.0, 2.5, 0.785)
"""A posture from which every place of the paddle's reach is reached without a singular one."""


class Arm:
    """The arm, its controller and its time."""

    def __init__(self, model: Any = None) -> None:
        self._mj, self.model = library(), build() if model is None else model
        self.data = self._mj.MjData(self.model)
        self._site = self.model.site(PADDLE_SITE).id
        self._jacobian, self._mass = np.zeros((6, 7)), np.zeros((7, 7))
        self._damping, self._still = SMALL * np.eye(6), np.zeros(7)
        self._low, self._high = self.model.actuator_ctrlrange.T
        self.velocity: Array = np.zeros(2)
        """The commanded velocity of the paddle."""

    @property
    def paddle(self) -> Array:
        """The paddle's position on the table: (2,)."""
        return np.array(self.data.site_xpos[self._site][:2])

    @property
    def height(self) -> float:
        return float(self.data.site_xpos[self._site][2])

    def place(self, paddle: Array) -> None:
        """Put the arm at rest with its paddle at a place, without moving there."""
        self._mj.mj_resetData(self.model, self.data)
        self.data.qpos[:] = READY
        for _ in range(200):  # Newton's method on the position
            self._mj.mj_kinematics(self.model, self.data)
            self._mj.mj_comPos(self.model, self.data)
            error = self._error()
            error[:2] = paddle - self.data.site_xpos[self._site][:2]
            self.data.qpos[:] += 0.5 * self._joints(error)
        self.data.qvel[:] = 0
        self._posture = self.data.qpos.copy()
        self.velocity = np.zeros(2)
        self._mj.mj_forward(self.model, self.data)
        self._aim = self.paddle

    def step(self) -> None:
        """Advance by `TIMESTEP`."""
        mj, model, data = self._mj, self.model, self.data
        mj.mj_step1(model, data)
        twist = STIFFNESS * self._error()
        twist[:2] = self.velocity + PULL * self._lead()
        if not self.velocity.any():
            self._posture = data.qpos.copy()  # an arm that is stopped moves no joint
        target = self._joints(twist, POSTURE * (self._posture - data.qpos))
        mj.mj_fullM(model, self._mass, data.qM)
        torque = self._mass @ ((target - data.qvel) / VELOCITY_TIME) + data.qfrc_bias
        data.ctrl[:] = np.minimum(np.maximum(torque, self._low), self._high)
        mj.mj_step2(model, data)

    def _lead(self) -> Array:
        """Return how far the paddle is behind where the commands lead, at most `LEAD`: (2,)."""
        place = self.data.site_xpos[self._site, :2]
        lead = self._aim + self.velocity * TIMESTEP - place
        lead = np.minimum(np.maximum(lead, -LEAD), LEAD) if self.velocity.any() else 0.0 * lead
        self._aim = place + lead
        return np.asarray(lead)

    def _error(self) -> Array:
        """Return the error of height and tilt of the paddle, 0 along x and y: (6,)."""
        xx, _, zx, yx, _, zy, _, _, _ = self.data.site_xmat[self._site].tolist()
        height = HEIGHT - self.data.site_xpos[self._site, 2]
        # The paddle's z axis points down if it is level, and its x axis along the table.
        return np.array([0.0, 0.0, height, -zy, zx, -math.atan2(yx, xx)])

    def _joints(self, twist: Array, rest: Array | None = None) -> Array:
        """Return joint velocities that move the paddle by a twist (6,), and otherwise to `rest`."""
        J = self._jacobian
        self._mj.mj_jacSite(self.model, self.data, J[:3], J[3:], self._site)
        rest = self._still if rest is None else rest
        return np.asarray(rest + J.T @ np.linalg.solve(J @ J.T + self._damping, twist - J @ rest))
