"""The loop plays air hockey with the simulated arm, in virtual and in real time."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from counterbc.acting.clock import VirtualClock, WallClock
from counterbc.data.arrays import Array
from counterbc.envs.air_hockey.expert import expert
from counterbc.robots.decider import Decision
from counterbc.robots.faults import CAMERA
from counterbc.robots.loop import Loop, LoopSettings
from counterbc.robots.policy_process import PolicyProcess
from counterbc.robots.robot import Robot
from counterbc.robots.simulated.arm import Arm
from counterbc.robots.simulated.overhead import Overhead
from counterbc.robots.simulated.sensor import Disturbances
from counterbc.robots.simulated.simulated_robot import EXPIRY, WORKSPACE, SimulatedRobot
from counterbc.robots.tick_log import TickLog
from tests.robots.doubles import write_policy

pytestmark = pytest.mark.extra("mujoco", "robosuite")


class Expert:
    """The expert of the air hockey world."""

    obs_size, action_size, is_running = 6, 2, True
    about: dict[str, str] = {}  # noqa: RUF012  # as the protocol has it

    def ask(self, tick: int, obs: Array, is_first: bool) -> None:
        self.action = expert(obs[None].astype(np.float32), np.zeros(1), tick)[0]

    def answer(self, tick: int, until: float) -> Decision | None:
        return Decision(self.action, 0.0)

    def close(self) -> None: ...


@pytest.fixture(scope="module")
def arm() -> Arm:
    return Arm()


def play(
    arm: Arm, disturbances: Disturbances, seconds: float = 12.0, **options: object
) -> tuple[SimulatedRobot, TickLog, dict[str, object]]:
    clock = VirtualClock(50.0)
    robot = SimulatedRobot(clock, 1, disturbances, arm=arm, **options)  # type: ignore[arg-type]
    log = TickLog(None, {})
    loop = Loop(robot, Expert(), log, clock=clock, settings=LoopSettings(patience=10**6))
    return robot, log, loop.run(seconds, lambda: robot.rally.is_over)


def test_it_is_a_robot(arm: Arm) -> None:
    assert isinstance(SimulatedRobot(VirtualClock(), arm=arm), Robot)


def test_the_expert_keeps_the_puck_going_through_the_loop(arm: Arm) -> None:
    robot, log, summary = play(arm, Disturbances())
    assert robot.rally.hits >= 6
    assert summary["ended"] == "finished"
    velocity = np.array([tick.velocity for tick in log.ticks])
    assert (np.abs(velocity) <= WORKSPACE.speed).all()
    position = np.array([tick.position for tick in log.ticks])
    assert (position >= np.array(WORKSPACE.low) - 0.01).all()
    assert (position <= np.array(WORKSPACE.high) + 0.01).all()


def test_delays_drops_and_noise_are_felt_but_keep_the_arm_within_limits(arm: Arm) -> None:
    hard = Disturbances(delay=0.02, delay_spread=0.02, dropped=0.2, noise=0.004)
    robot, log, summary = play(arm, hard)
    assert summary["faults"]
    position = np.array([tick.position for tick in log.ticks])
    assert (position >= np.array(WORKSPACE.low) - 0.015).all()
    assert (position <= np.array(WORKSPACE.high) + 0.015).all()
    assert robot.rally.seconds > 1


def test_virtual_time_repeats_to_the_bit(arm: Arm) -> None:
    logs = [play(arm, Disturbances(dropped=0.1, noise=0.002), 3.0)[1] for _ in range(2)]
    assert logs[0].ticks == logs[1].ticks


def test_a_lost_camera_stops_the_simulated_arm(arm: Arm) -> None:
    _, log, _ = play(arm, Disturbances(lost_after=1.02), 3.0)
    faults = [tick.due for tick in log.ticks if tick.fault]
    assert faults[0] <= 1.02 + 2 * 0.05
    assert not arm.velocity.any()
    assert np.abs(arm.data.qvel).max() < 0.05


@pytest.mark.parametrize("rate", [20.0, 5.0])
def test_an_arm_without_commands_stops_by_itself(arm: Arm, rate: float) -> None:
    clock = VirtualClock()
    robot = SimulatedRobot(clock, 0, arm=arm, rate=rate)
    robot.command(np.array([0.0, 0.5]))
    clock.time += EXPIRY / rate
    robot.observe()
    assert arm.velocity.any()
    clock.time += 0.1
    robot.observe()
    assert not arm.velocity.any()


@pytest.mark.extra("cv2")
def test_pictures_and_tracker_take_the_place_of_exact_positions(arm: Arm) -> None:
    robot, _, summary = play(arm, Disturbances(), 6.0, track=Overhead().track)
    assert not summary["faults"]
    assert robot.rally.hits >= 2


@pytest.mark.extra("onnxruntime")
def test_the_same_loop_runs_it_in_real_time(arm: Arm, tmp_path: Path) -> None:
    policy = PolicyProcess(write_policy(tmp_path / "p.onnx"))
    log = TickLog(tmp_path / "run.jsonl", {})
    robot = SimulatedRobot(WallClock(), 0, arm=arm)
    settings = LoopSettings(patience=10**6, oldest=1000.0)  # the machine may be busy
    summary = Loop(robot, policy, log, settings=settings).run(1.0)
    policy.close()
    assert summary["ended"] == "finished"
    assert summary["ticks"] + summary["missed"] >= 15
    assert robot.rally.seconds >= 0.9


@pytest.mark.extra("onnxruntime")
def test_delays_drops_and_noise_stop_the_arm_in_real_time_and_keep_it_within_limits(
    arm: Arm, tmp_path: Path
) -> None:
    hard = Disturbances(delay=0.02, delay_spread=0.02, dropped=0.3, noise=0.004)
    robot = SimulatedRobot(WallClock(), 1, hard, arm=arm)
    start = robot.rally.puck.copy()
    away = write_policy(tmp_path / "p.onnx", divide_by=-1.0)  # from the puck, to the near side
    policy, log = PolicyProcess(away), TickLog(None, {})

    def is_seen() -> bool:  # however busy the machine is: stops for lost pictures, and commands
        faults = [tick.fault for tick in log.ticks]
        return faults.count("") >= 20 and CAMERA in faults

    settings = LoopSettings(patience=10**6, scale=3.0)
    summary = Loop(robot, policy, log, settings=settings).run(60.0, is_seen)
    policy.close()
    assert summary["ended"] == "finished"
    assert is_seen()
    moving = [tick for tick in log.ticks if not tick.fault]
    assert all(0.02 - 1e-6 < (tick.age or 0) <= 0.9 * 0.05 for tick in moving)
    assert {tick.velocity for tick in log.ticks if tick.fault} == {(0.0, 0.0)}
    assert max(np.abs(tick.velocity).max() for tick in moving) <= WORKSPACE.speed
    position = np.array([tick.position for tick in log.ticks if tick.position])
    assert (position >= np.array(WORKSPACE.low) - 0.015).all()
    assert (position <= np.array(WORKSPACE.high) + 0.015).all()
    assert robot.rally.hits == 0
    newest = robot.puck.newest
    assert newest is not None
    assert 0 < np.abs(newest[1] - start).max() < 0.03  # the noise; the puck was not touched
