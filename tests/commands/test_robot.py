"""counterbc robot checks an arm, drives it, logs every tick, and stops on Ctrl-C."""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import signal
import subprocess
import sys
import time
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from counterbc.acting.clock import WallClock
from counterbc.commands import command
from counterbc.commands.robot import RobotCommand, signal_line
from counterbc.robots import checks, priority
from counterbc.robots.calibration import Calibration
from counterbc.robots.tick_log import read_log
from tests.fixture_types import Call
from tests.robots.doubles import PointRobot, write_policy

pytestmark = pytest.mark.needs("onnx", "onnxruntime")
BUSY = ("--oldest", 1000, "--patience", 1000000)  # other programs may take the processor
MODULE = """
from counterbc.acting.clock import WallClock
from tests.robots.doubles import PointRobot

class Arm(PointRobot):
    def close(self):
        open("closed", "w").close()

def connect():
    return Arm(WallClock())

class FixedArm(Arm):
    @property
    def limits(self):
        return PointRobot.limits

def connect_fixed():
    return FixedArm(WallClock())
"""

FAILS_LATER = """
def connect_stuck():
    robot = connect()
    command, stop = robot.command, robot.stop

    def fail():
        raise ConnectionError("no answer")

    def command_and_jam(velocity):
        command(velocity)
        robot.stop = fail

    robot.command = command_and_jam
    return robot
"""


@pytest.fixture
def policy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A policy file, beside a module with a robot of the user's."""
    (tmp_path / "modules").mkdir()
    (tmp_path / "modules" / "point_arm.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path / "modules")
    monkeypatch.chdir(tmp_path)
    return write_policy(tmp_path / "p.onnx")


MARKS = {"pixels": [[0, 0], [9, 0], [9, 9], [0, 9]], "places": [[0, 0], [1, 0], [1, 1], [0, 1]]}


@pytest.fixture
def stand_in(policy: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Marks and a policy for a point in place of any arm, which passes all checks at once."""
    path = policy.parent / "my marks.json"
    path.write_text(json.dumps(MARKS))
    monkeypatch.setattr(checks, "check_robot", lambda *_: [])
    monkeypatch.setattr(priority, "real_time", lambda _: nullcontext())
    monkeypatch.setattr(RobotCommand, "_exported", lambda _: nullcontext(policy))
    pair = PointRobot(WallClock()), Calibration.load(path)
    monkeypatch.setattr(RobotCommand, "_connect", lambda *_: pair)
    return policy


def by_name(payload: dict[str, Any]) -> dict[str, str]:
    return {check["name"]: check["status"] for check in payload["checks"]}


def test_check_prints_one_line_for_each_check(policy: Path, call: Call) -> None:
    status, out, _ = call("robot", "check", policy, "--robot", "point_arm:connect", *BUSY)
    lines = out.splitlines()
    names = ["limits", "position", "sizes", "actions", "rate", "policy", "camera", "calibration"]
    assert [line[12:].split()[0] for line in lines[:8]] == names
    assert lines[0].startswith("ok")
    assert lines[8].startswith("WARNING     pictures and positions may be 1000 periods old")
    assert status == (1 if "FAILED" in out else 0)  # rate and policy depend on the machine


def test_an_arm_whose_limits_cannot_be_set_is_checked(policy: Path, call: Call) -> None:
    _, out, _ = call("robot", "check", policy, "--robot", "point_arm:connect_fixed", *BUSY)
    assert out.startswith("ok          limits")


def test_check_refuses_a_policy_for_another_arm(tmp_path: Path, policy: Path, call: Call) -> None:
    other = write_policy(tmp_path / "q.onnx", obs_size=4)
    status, out, _ = call("robot", "run", other, "--robot", "point_arm:connect", *BUSY)
    assert status == 1
    assert "the arm observes 6 numbers and moves along 2 axes, the policy reads 4" in out
    assert "Nothing was moved" in out
    assert not (tmp_path / "robot.jsonl").exists()


def test_check_refuses_a_policy_of_another_rate(policy: Path, call: Call) -> None:
    import onnx

    model = onnx.load(policy)
    onnx.helper.set_model_props(model, {"lag": "[2.0]", "rate": "10"})
    onnx.save(model, policy)
    status, out, _ = call("robot", "run", policy, "--robot", "point_arm:connect", *BUSY)
    assert status == 1
    assert "demonstrations at 10 Hz, the loop runs at 20 Hz; give --rate 10" in out
    assert "Nothing was moved" in out


@pytest.mark.parametrize(
    "options",
    [
        "--robot my_arm:connect --speed 0.1 --acceleration 1 --rate 10",
        "--robot my_arm:connect --calibration 'my marks.json' --priority 50",
        "--member 1 --speed 0.1 --pictures --seed 3 --budget 0.5 --oldest 0.8 --patience 7 "
        "--delay 0.02 --dropped 0.1 --noise 0.002 --lost-after 5",
    ],
)
def test_a_check_suggests_the_run_that_it_checked(options: str, stand_in: Path, call: Call) -> None:
    words = [stand_in.parent, *shlex.split(options)]
    status, out, err = call("robot", "check", *words, "--seconds", 5, "--log", "a.jsonl")
    assert status == 0, err
    assert out.strip() == f"Next: counterbc robot run {shlex.join(map(str, words))}"


def test_the_log_begins_with_every_option_and_file(stand_in: Path, call: Call) -> None:
    words = ("--seed", 3, "--pictures", "--dropped", 0.1, "--speed", 0.2, "--priority", 50)
    marks = ("--calibration", "my marks.json", "--log", "a.jsonl", "--seconds", 0.2)
    call("robot", "run", stand_in, *words, *marks)
    header = read_log(Path("a.jsonl"))[0]
    options = {
        "policy": str(stand_in), "robot": "simulated", "seconds": 0.2, "member": 0, "speed": 0.2,
        "acceleration": None, "calibration": "my marks.json", "pictures": True, "seed": 3,
        "priority": 50,
    }  # fmt: skip
    assert {name: header[name] for name in options} == options
    assert header["disturbances"] == {
        "delay": 0.01, "delay_spread": 0.0, "dropped": 0.1, "noise": 0.0, "lost_after": None,
    }  # fmt: skip
    assert (header["loop"]["rate"], header["loop"]["budget"]) == (20.0, 0.6)
    assert header["marks"] == MARKS
    assert header["policy_sha256"] == hashlib.sha256(stand_in.read_bytes()).hexdigest()


def test_run_keeps_a_log_with_lag_and_latency(
    policy: Path, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = list[bool]()
    monkeypatch.setattr(command, "before_real_time", [lambda: calls.append(True)])
    arguments = ("--robot", "point_arm:connect", "--seconds", 1, "--speed", 0.25, *BUSY)
    for _ in range(20):  # a check may fail on a busy machine
        status, out, err = call("robot", "run", policy, *arguments, "--json")
        payload = json.loads(out)
        if "log" in payload:
            break
    assert status == 0, err
    assert calls == [True], "slow imports are no longer watched"
    header, ticks, summary = read_log(Path(payload["log"]))
    assert header["limits"]["speed"] == 0.25
    assert (header["disturbances"], header["marks"]) == (None, None)
    assert (len(header["warnings"]), header["warnings"]) == (1, payload["warnings"])
    assert payload["summary"]["warnings"] == payload["warnings"]
    assert (policy.parent / "closed").exists(), "the robot was closed"
    assert header["trained_lag"] == {"steps": [2.0], "ms": [100.0]}
    assert summary is not None
    assert len(ticks) == summary["ticks"] > 0
    latency = summary["times_ms"]["latency"]["p50"]
    assert latency > 0 if any(not tick["fault"] for tick in ticks) else latency is None


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("nothing.onnx",), "not a policy that can drive an arm"),
        (("p.onnx", "--robot", "franka"), "name simulated"),
        (
            ("p.onnx", "--robot", "point_arm:connect_fixed", "--speed", 0.1),
            "the limits of point_arm:connect_fixed cannot be set; leave out --speed",
        ),
        (("p.onnx", "--rate", 0), "give a number above 0"),
        (("p.onnx", "--seconds", 0), "--seconds is 0.0; give a number above 0"),
        (("p.onnx", "--seconds", "inf"), "--seconds is inf; give a number above 0"),
        (("p.onnx", "--calibration", "no.json"), "does not exist"),
        (
            ("p.onnx", "--robot", "point_arm:connect", "--seed", 1, "--lost-after", 2),
            "--seed and --lost-after would change the simulated arm only, and --robot is "
            "point_arm:connect; leave out --seed and --lost-after",
        ),
        (("p.onnx", "--member", 1), "leave out --member, or name the folder of a run"),
    ],
)
def test_mistakes_are_answered_in_one_sentence(
    policy: Path, call: Call, arguments: tuple[object, ...], text: str
) -> None:
    status, out, err = call("robot", "check", *arguments)
    assert (status, out) == (1, "")
    assert text in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("number", "status", "ended"),
    [
        (signal.SIGINT, 130, "stopped by Ctrl-C"),
        (signal.SIGTERM, 143, "stopped by SIGTERM"),
        (signal.SIGHUP, 129, "stopped by SIGHUP"),
        (signal.SIGTSTP, 148, "stopped by Ctrl-Z"),
        (signal.SIGQUIT, 131, "stopped by Ctrl-\\"),
    ],
)
def test_a_signal_stops_the_arm_and_keeps_the_log(
    policy: Path, tmp_path: Path, number: signal.Signals, status: int, ended: str
) -> None:
    command = [sys.executable, "-m", "counterbc", "robot", "run", str(policy), "--seconds", "600"]
    command += ["--robot", "point_arm:connect", "--log", "run.jsonl", *map(str, BUSY)]
    path = os.pathsep.join([str(tmp_path / "modules"), *sys.path])
    for _ in range(20):  # a check may fail on a busy machine
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env={**os.environ, "PYTHONPATH": path},
        )  # fmt: skip
        assert process.stderr is not None
        lines = []
        for line in process.stderr:
            lines.append(line)
            if line.startswith("Driving the arm"):
                break
        else:
            process.communicate()
            continue
        break
    while len((tmp_path / "run.jsonl").read_bytes().splitlines()) < 5:
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(number)
    _, err = process.communicate(timeout=300)
    assert process.returncode == status
    assert err.splitlines()[-1] == "stopped; the arm stands, and the log is in run.jsonl"
    summary = read_log(tmp_path / "run.jsonl")[2]
    assert summary is not None
    assert summary["ended"] == ended


def test_an_arm_that_cannot_be_stopped_is_not_said_to_stand(
    policy: Path, tmp_path: Path, call: Call
) -> None:
    module = tmp_path / "modules" / "stuck_arm.py"
    module.write_text(MODULE + FAILS_LATER)
    arguments = ("--robot", "stuck_arm:connect_stuck", "--seconds", 0.5, *BUSY)
    for _ in range(20):  # a check may fail on a busy machine
        status, out, _ = call("robot", "run", policy, *arguments)
        assert status == 1
        if "Log: " in out:
            break
    assert "THE ARM MAY STILL MOVE: it could not be stopped; cut its power" in out
    assert "the arm could not be stopped: no answer" in out


@pytest.mark.parametrize(
    ("is_stopped", "text"),
    [
        (True, "stopped; the arm stands, and the log is in a.jsonl"),
        (False, "THE ARM MAY STILL MOVE: it could not be stopped; cut its power "
                "(stopped by Ctrl-C; x); the log is in a.jsonl"),
    ],
)  # fmt: skip
def test_after_a_signal_the_arm_stands_only_if_it_was_stopped(is_stopped: bool, text: str) -> None:
    summary = {"ended": "stopped by Ctrl-C; x", "is_stopped": is_stopped}
    assert signal_line(summary, Path("a.jsonl")) == text


@pytest.mark.extra("mujoco", "robosuite", "cv2")
def test_the_simulated_arm_is_checked_with_its_camera(policy: Path, call: Call) -> None:
    _, out, _ = call("robot", "check", policy, "--pictures", "--rate", 5, "--json")
    statuses = by_name(json.loads(out))  # rate and policy depend on the machine
    assert [statuses[name] for name in ("calibration", "limits", "position", "sizes")] == ["ok"] * 4
