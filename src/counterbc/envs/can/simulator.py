"""robosuite's PickPlaceCan as a function from state and action to the next state.

A state holds what MuJoCo integrates and what the controller remembers, so that one simulator serves
many episodes in turn and an episode may continue in another process.

Physics and controller are robosuite 1.4.1's, without what a policy does not need. robosuite
computes the dynamics three times in each of the 25 substeps of a step: before the controller,
inside it, and to integrate. Once is enough, as the state does not change in between. Observations
are taken at the end of a step, as in robomimic's files; robosuite takes them at its first substep.
"""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
from numpy.typing import NDArray

from counterbc.data.arrays import Array
from counterbc.envs.can.layout import RATE
from counterbc.errors import MissingExtra

CONTROLLER_SIZES = {"goal": 9, "posture": 7, "grip": 2}
"""Sizes of what a state holds besides MuJoCo's: the target orientation, the first joint positions,
towards which the controller pulls, and the target of the fingers."""
SIMULATOR_OBS_KEYS = ("object-state", "robot0_eef_pos", "robot0_eef_quat", "robot0_gripper_qpos")


class Simulator:
    """One simulated robot."""

    def __init__(self, render: bool = False) -> None:
        self.env = _make(render)
        self.sim, self.robot = self.env.sim, self.env.robots[0]
        self._model, self._data = self.sim.model._model, self.sim.data._data
        import mujoco

        self._mj = mujoco
        self._kind = mujoco.mjtState.mjSTATE_INTEGRATION
        self._size = mujoco.mj_stateSize(self._model, self._kind)
        self._site = self.robot.eef_site_id
        self._jacobian = np.zeros((6, self._model.nv))
        self._mass = np.zeros((self._model.nv, self._model.nv))
        self._square = np.ix_(*[self.robot._ref_joint_vel_indexes] * 2)  # of the arm
        self._fingers = self.robot._ref_joint_gripper_actuator_indexes
        ends = self._model.actuator_ctrlrange[self._fingers]  # (2, 2)
        self._middle, self._half = ends.mean(1), (ends[:, 1] - ends[:, 0]) / 2
        self._substeps = int(self.env.control_timestep / self.env.model_timestep)

    def start(self, seed: int) -> Array:
        """Return the first state of an episode, a function of the seed alone: (D,)."""
        before = np.random.get_state()  # robosuite draws from numpy's global generator
        try:
            np.random.set_state(np.random.RandomState(_bits(seed)).get_state())
            self.env.reset()
        finally:
            np.random.set_state(before)
        self.robot.controller.update = self._sense  # reset makes a new controller
        # Before the first command, robosuite has one target for both fingers.
        self.robot.gripper.current_action = np.zeros(CONTROLLER_SIZES["grip"])
        return self._state()

    def advance(self, state: Array, action: Array) -> Array:
        """Return the state after one step: (D,), (7,) → (D,)."""
        self._load(state)
        robot, mj, model, data = self.robot, self._mj, self._model, self._data
        controller, arms = robot.controller, robot._ref_joint_actuator_indexes
        low, high = robot.torque_limits
        mj.mj_step1(model, data)
        controller.set_goal(action[:6])
        for substep in range(self._substeps):
            if substep:
                mj.mj_step1(model, data)
            data.ctrl[arms] = np.clip(controller.run_controller(), low, high)
            self._grip(action[6])
            mj.mj_step2(model, data)
        return self._state()

    def observe(self, state: Array) -> tuple[Array, bool]:
        """Return the observation, (23,) float32, and whether the can is in its bin."""
        self._load(state)
        self._mj.mj_kinematics(self._model, self._data)
        values = self.env._get_observations(force_update=True)
        obs = np.concatenate([values[key] for key in SIMULATOR_OBS_KEYS])
        return obs.astype(np.float32), bool(self.env._check_success())

    def picture(self, state: Array, size: int) -> NDArray[np.uint8]:
        """Return a picture from the front: (size, size, 3)."""
        self._load(state)
        self._mj.mj_forward(self._model, self._data)
        frame = self.sim.render(size, size, camera_name="agentview")
        return np.asarray(frame[::-1], np.uint8)

    def _grip(self, command: float) -> None:
        """Move the fingers' targets a little further, as the robot's `grip_action` does."""
        gripper = self.robot.gripper
        way = np.array([-1.0, 1.0]) * gripper.speed * np.sign(command)
        gripper.current_action = np.clip(gripper.current_action + way, -1.0, 1.0)
        self._data.ctrl[self._fingers] = self._middle + self._half * gripper.current_action

    def _sense(self, force: bool = False) -> None:
        """Do the controller's `update` from the results of `mj_step1`: equal numbers, once each."""
        c, model, data, site = self.robot.controller, self._model, self._data, self._site
        if not (c.new_update or force):
            return
        self._mj.mj_jacSite(model, data, self._jacobian[:3], self._jacobian[3:], site)
        self._mj.mj_fullM(model, self._mass, data.qM)
        velocity = self._jacobian @ data.qvel  # (6,)
        c.ee_pos, c.ee_ori_mat = data.site_xpos[site].copy(), data.site_xmat[site].reshape(3, 3)
        c.ee_pos_vel, c.ee_ori_vel = velocity[:3], velocity[3:]
        c.joint_pos, c.joint_vel = data.qpos[c.qpos_index], data.qvel[c.qvel_index]
        c.J_full = np.ascontiguousarray(self._jacobian[:, c.qvel_index])  # (6, 7)
        c.J_pos, c.J_ori = c.J_full[:3], c.J_full[3:]
        c.mass_matrix = self._mass[self._square]
        c.new_update = False

    def _state(self) -> Array:
        physics = np.empty(self._size)
        self._mj.mj_getState(self._model, self._data, physics, self._kind)
        c = self.robot.controller
        memory = [np.ravel(c.goal_ori), c.initial_joint, self.robot.gripper.current_action]
        return np.concatenate([physics, *memory])

    def _load(self, state: Array) -> None:
        self._mj.mj_setState(self._model, self._data, state[: self._size], self._kind)
        ends = np.cumsum(list(CONTROLLER_SIZES.values()))[:-1]
        goal, posture, grip = np.split(state[self._size :], ends)
        c = self.robot.controller
        c.goal_ori, c.initial_joint, c.new_update = goal.reshape(3, 3), posture, True
        self.robot.gripper.current_action = grip

    def close(self) -> None:
        self.env.close()


def _bits(seed: int) -> np.random.MT19937:
    """Return numpy's legacy generator for a seed of any size."""
    return np.random.MT19937(np.random.SeedSequence(seed))


def library() -> Any:
    """Import robosuite, or raise an error with the install line."""
    logging.getLogger("robosuite_logs").setLevel(logging.ERROR)  # warns of missing macros
    try:
        import robosuite
    except ModuleNotFoundError:
        raise MissingExtra("robosuite", "can", "the world can") from None
    return robosuite


def _make(render: bool) -> Any:
    robosuite = library()
    return robosuite.make(
        "PickPlaceCan",
        robots="Panda",
        controller_configs=robosuite.load_controller_config(default_controller="OSC_POSE"),
        has_renderer=False,
        has_offscreen_renderer=render,
        use_camera_obs=False,
        control_freq=RATE,
        ignore_done=True,
        hard_reset=False,  # a hard reset compiles the model at every start
    )
